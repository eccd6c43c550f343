"""Whatever JSON stands in whatever place: a typed fault or a notice, and never an error of Python's own."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.bedrock_streams import frame
from support.odd_json import ODD, is_typed, places, put, without
from support.reading import Outcome
from support.reading import read as read_bytes
from thinkaloud.errors import MalformedStream
from thinkaloud.messages import AssistantMessage, Message, ToolResult, UserMessage
from thinkaloud.plan import prepare

Payload = tuple[str, Any]

ANSWER: list[Payload] = [
    ("messageStart", {"role": "assistant"}),
    ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"reasoningContent": {"text": "a"}}}),
    ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"reasoningContent": {"signature": "s"}}}),
    ("contentBlockStop", {"contentBlockIndex": 0}),
    ("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"reasoningContent": {"redactedContent": "cmVk"}}}),
    ("contentBlockStop", {"contentBlockIndex": 1}),
    ("contentBlockDelta", {"contentBlockIndex": 2, "delta": {"text": "b"}}),
    ("contentBlockDelta", {"contentBlockIndex": 2, "delta": {"citation": {"title": "T", "source": "s"}}}),
    ("contentBlockStop", {"contentBlockIndex": 2}),
    ("contentBlockStart", {"contentBlockIndex": 3, "start": {"toolUse": {"toolUseId": "t", "name": "f", "x": [1]}}}),
    ("contentBlockDelta", {"contentBlockIndex": 3, "delta": {"toolUse": {"input": '{"a":1}'}}}),
    ("contentBlockStop", {"contentBlockIndex": 3}),
    (
        "contentBlockStart",
        {"contentBlockIndex": 4, "start": {"toolUse": {"toolUseId": "u", "name": "g", "type": "server_tool_use"}}},
    ),
    ("contentBlockDelta", {"contentBlockIndex": 4, "delta": {"toolUse": {"input": "{}"}}}),
    ("contentBlockStart", {"contentBlockIndex": 5, "start": {"toolResult": {"toolUseId": "u", "status": "success"}}}),
    ("contentBlockDelta", {"contentBlockIndex": 5, "delta": {"toolResult": [{"json": {"n": 1}}]}}),
    ("contentBlockStart", {"contentBlockIndex": 6, "start": {"image": {"format": "png"}}}),
    ("contentBlockDelta", {"contentBlockIndex": 6, "delta": {"image": {"source": {"bytes": "YQ=="}}}}),
    ("contentBlockDelta", {"contentBlockIndex": 6, "delta": {"image": {"source": {"bytes": "YQ=="}}}}),
    ("contentBlockDelta", {"contentBlockIndex": 7, "delta": {"novelty": {"items": [1], "facts": {"a": 1}, "t": "x"}}}),
    (
        "messageStop",
        {
            "stopReason": "end_turn",
            "additionalModelResponseFields": {
                "usage": {"output_tokens_details": {"thinking_tokens": 3}},
                "delta": {"stop_sequence": "END"},
            },
        },
    ),
    (
        "metadata",
        {
            "usage": {
                "inputTokens": 1,
                "outputTokens": 2,
                "totalTokens": 3,
                "cacheReadInputTokens": 1,
                "cacheWriteInputTokens": 1,
                "cacheDetails": [{"ttl": "1h", "inputTokens": 1}],
            },
            "metrics": {"latencyMs": 5},
            "trace": {"guardrail": {}},
            "serviceTier": {"type": "flex"},
        },
    ),
]
WHOLE: dict[str, Any] = {
    "output": {
        "message": {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "a", "signature": "s", "novelty": [1]}}},
                {"reasoningContent": {"redactedContent": "cmVk"}},
                {"text": "b"},
                {"citationsContent": {"content": [{"text": "c"}, {"text": "d"}], "citations": [{"title": "T"}]}},
                {"toolUse": {"toolUseId": "t", "name": "f", "input": {"a": 1}, "type": "tool_use"}},
                {"toolUse": {"toolUseId": "u", "name": "g", "input": {}, "type": "server_tool_use"}},
                {"toolResult": {"toolUseId": "u", "content": [{"json": {"n": 1}}]}},
                {"novelty": {"x": 1}},
            ],
        }
    },
    "stopReason": "end_turn",
    "usage": {"inputTokens": 1, "outputTokens": 2, "cacheDetails": [{"ttl": "1h", "inputTokens": 1}]},
    "additionalModelResponseFields": {"usage": {"output_tokens_details": {"thinking_tokens": 3}}},
    "trace": {"guardrail": {}},
}


def read(*payloads: Payload) -> Outcome:
    body = b"".join(
        frame({":event-type": name, ":message-type": "event"}, json.dumps(data).encode()) for name, data in payloads
    )
    return read_bytes("bedrock-converse", [body], provider="bedrock")


def read_whole(body: Any) -> Outcome:
    return read_bytes("bedrock-converse", [json.dumps(body).encode()], provider="bedrock")


def check(outcome: Outcome) -> None:
    """The fault is typed, and what was read can be sent back."""
    assert is_typed(outcome.error)
    if outcome.error is None and outcome.message is not None:
        can_go_back(outcome.message)


def can_go_back(message: AssistantMessage) -> None:
    """Nothing that was read stands in the way of the next request."""
    results = [ToolResult(call.id, "done") for call in message.tool_calls]
    if len({result.call_id for result in results}) == len(results):
        history: list[Message] = [UserMessage("Hi"), message, *results, UserMessage("Go on.")]
        prepare("bedrock/amazon.nova-2-lite-v1:0", history, base_url="https://example.com")


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_odd_values_in_every_field_of_a_stream_are_typed_faults(odd: Any) -> None:
    for number, (name, data) in enumerate(ANSWER):
        check(read(*ANSWER[:number], (name, odd), *ANSWER[number + 1 :]))
        for path in places(data):
            check(read(*ANSWER[:number], (name, put(data, path, odd)), *ANSWER[number + 1 :]))


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_odd_values_in_every_field_of_a_body_are_typed_faults(odd: Any) -> None:
    check(read_whole(odd))
    for path in places(WHOLE):
        check(read_whole(put(WHOLE, path, odd)))


def test_the_untouched_answers_are_read_the_same() -> None:
    message = read(*ANSWER).finished
    assert [type(block).__name__ for block in message.content][:4] == ["Thinking", "Thinking", "Text", "ToolCall"]
    assert len(message.content) == 8
    assert len(read_whole(WHOLE).finished.content) == 8


def test_every_missing_field_is_a_typed_fault_or_none() -> None:
    for number, (name, data) in enumerate(ANSWER):
        for path in places(data):
            changed = without(data, path)
            check(read(*ANSWER[:number], (name, changed), *ANSWER[number + 1 :]))


def test_data_that_is_no_json_is_a_typed_fault() -> None:
    for name in ("contentBlockDelta", "contentBlockStart", "messageStop", "metadata", "messageStart"):
        body = frame({":event-type": name, ":message-type": "event"}, b"{oops")
        assert type(read_bytes("bedrock-converse", [body]).error) is MalformedStream


WORDS = st.sampled_from(
    [
        "contentBlockIndex",
        "delta",
        "start",
        "text",
        "reasoningContent",
        "redactedContent",
        "signature",
        "toolUse",
        "toolUseId",
        "name",
        "input",
        "toolResult",
        "content",
        "citation",
        "image",
        "usage",
        "stopReason",
        "end_turn",
        "novelty",
        "output",
        "message",
    ]
)
EVENTS = st.sampled_from([*dict(ANSWER), "novelty"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.floats(allow_nan=False) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(EVENTS, st.dictionaries(WORDS, JSON, max_size=5)), max_size=6))
def test_any_objects_at_all_give_typed_faults(payloads: list[Payload]) -> None:
    outcome = read(*payloads)
    assert is_typed(outcome.error)


@settings(max_examples=100, deadline=None)
@given(JSON)
def test_any_whole_body_gives_a_typed_fault(body: Any) -> None:
    outcome = read_whole(body)
    assert is_typed(outcome.error)
