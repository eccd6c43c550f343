"""Whatever JSON stands in whatever place: MalformedStream or a notice, and never an error of Python's own."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.chat_wire import DONE, Payload, body, call, calls, chunk, read, read_whole, stop
from support.odd_json import ODD, is_typed, places, put, without
from thinkaloud.errors import MalformedStream
from thinkaloud.models.dialect import Dialect, ThinkTags

MESSAGE: Payload = {
    "role": "assistant",
    "reasoning_details": [
        {"type": "reasoning.text", "text": "a", "signature": "s", "index": 0, "id": "i", "format": "f"},
        {"type": "reasoning.summary", "summary": "b", "index": 1},
        {"type": "reasoning.encrypted", "data": "d", "id": "call_1", "format": "google-gemini-v1", "index": 0},
        {"type": "reasoning.server_tool_call", "tool_name": "t"},
    ],
    "reasoning_content": "a",
    "reasoning": "a",
    "content": [
        {"type": "thinking", "thinking": [{"type": "text", "text": "c"}, {"type": "reference"}], "signature": "s"},
        {"type": "text", "text": "d"},
        {"type": "image_url", "image_url": {"url": "u"}},
        "e",
    ],
    "refusal": "r",
    "tool_calls": [
        {
            "index": 0,
            "id": "call_1",
            "type": "function",
            "function": {"name": "f", "arguments": {"a": 1}},
            "extra_content": {"google": {"thought_signature": "t"}},
        },
        {"index": 1, "id": "call_2", "type": "custom", "custom": {"name": "g", "input": "x"}},
    ],
    "function_call": {"name": "h", "arguments": "{}"},
    "annotations": [{"type": "url_citation", "url_citation": {"url": "u"}}],
}
TOP: Payload = {
    "error": None,
    "usage": {
        "prompt_tokens": 1,
        "completion_tokens": 2,
        "total_tokens": 3,
        "prompt_tokens_details": {"cached_tokens": 1, "cache_write_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 1},
        "cost": 0.1,
        "cost_in_usd_ticks": 5,
    },
    "x_groq": {"id": "x", "usage": {"prompt_tokens": 1}},
    "citations": ["u"],
    "search_results": [{"url": "u"}],
}
CHOICE: Payload = {
    "usage": {"prompt_tokens": 1},
    "content_filter_results": {"hate": {"filtered": False}},
    "error": None,
    "logprobs": None,
}
ANSWER: list[Payload] = [
    chunk(choice=CHOICE, top=TOP, **MESSAGE),
    calls(call(0, arguments='{"a":'), call(None, arguments="1}")),
    {"choices": [{"message": MESSAGE}]},
    chunk(content="x", reasoning_content="y"),
    stop(),
]
WHOLE: Payload = body(choice=CHOICE, top=TOP, **MESSAGE)
TAGS = Dialect(think_tags=ThinkTags())


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_odd_values_in_every_field_of_a_stream_are_typed_faults(odd: Any) -> None:
    for path in places(ANSWER):
        payloads = put(ANSWER, path, odd)
        reading = read(*(json.dumps(payload) for payload in payloads), DONE, dialect=TAGS)
        assert is_typed(reading.error), path


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_odd_values_in_every_field_of_a_body_are_typed_faults(odd: Any) -> None:
    for path in places(WHOLE):
        reading = read_whole(put(WHOLE, path, odd))
        assert is_typed(reading.error), path


def test_every_missing_field_is_a_typed_fault_or_none() -> None:
    for path in places(ANSWER):
        if isinstance(path[-1], str):
            assert is_typed(read(*without(ANSWER, path)).error), path


def test_the_untouched_answers_are_read_without_a_word() -> None:
    for reading in (read(*ANSWER), read_whole(WHOLE)):
        assert reading.error is None
        assert reading.codes == []


def test_an_odd_field_is_told_once_and_passed_over() -> None:
    reading = read(chunk(content={"x": 1}), chunk(content=5), chunk(content="ok"), stop())
    assert [(notice.code, notice.path) for notice in reading.message.notices] == [("odd_field", "content")]
    assert reading.message.text == "ok"


def test_a_payload_that_is_no_object_is_told_and_passed_over() -> None:
    reading = read("null", '"ping"', chunk(content="ok"), stop())
    assert reading.codes == ["odd_field"]
    assert reading.message.text == "ok"


def test_a_payload_that_is_no_json_is_a_malformed_stream() -> None:
    reading = read(chunk(content="ok"), "{no json", stop())
    assert isinstance(reading.error, MalformedStream)
    assert reading.message.text == "ok"


WORDS = st.sampled_from(
    [
        *("choices", "delta", "message", "index", "finish_reason", "content", "reasoning", "reasoning_details"),
        *("tool_calls", "function", "name", "arguments", "id", "type", "text", "thinking", "usage", "error", "custom"),
        *("reasoning.text", "reasoning.encrypted", "stop", "tool_calls", "novelty", "code", "detail", "refusal"),
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.floats(allow_nan=False) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=100)
@given(st.lists(st.dictionaries(WORDS, JSON, max_size=5), max_size=6))
def test_any_objects_at_all_give_typed_faults(payloads: list[Payload]) -> None:
    reading = read(*payloads)
    assert is_typed(reading.error)


@settings(max_examples=100)
@given(st.lists(st.dictionaries(WORDS, JSON, max_size=5), max_size=4))
def test_any_deltas_at_all_give_typed_faults(deltas: list[Payload]) -> None:
    reading = read(*({"choices": [{"delta": delta}]} for delta in deltas))
    assert is_typed(reading.error)


@settings(max_examples=100)
@given(JSON)
def test_any_whole_body_gives_a_typed_fault(answer: Any) -> None:
    reading = read_whole(answer)
    assert is_typed(reading.error)
