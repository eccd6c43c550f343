"""Whatever JSON stands in whatever place: MalformedStream or a notice, and never an error of Python's own."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.anthropic_wire import (
    Payload,
    closing,
    delta,
    end,
    opening,
    read,
    read_whole,
    start,
    text,
    thinking,
    tool_use,
)
from support.odd_json import ODD, is_typed, places, put, without
from thinkaloud.errors import TruncatedStream

ANSWER: list[Payload] = [
    start(
        content=[{"type": "text", "text": "t", "citations": [{"n": 1}]}],
        container={"id": "c"},
        input_transformations=[{"type": "thinking_dropped", "path": "p", "reason": "r"}],
        usage={
            "input_tokens": 1,
            "output_tokens": 1,
            "cache_creation_input_tokens": 1,
            "cache_read_input_tokens": 1,
            "cache_creation": {"ephemeral_5m_input_tokens": 1, "ephemeral_1h_input_tokens": 0},
        },
    ),
    {"type": "ping"},
    *thinking(1, "a", signature="s"),
    delta(1, type="thinking_delta", thinking="", signature="x", estimated_tokens=5),
    opening(2, type="redacted_thinking", data="cmVk"),
    closing(2),
    *text(3, "b"),
    delta(3, type="citations_delta", citation={"type": "char_location"}),
    *tool_use(4, '{"a":1}', input={"a": 1}, caller={"type": "direct"}),
    opening(5, type="server_tool_use", id="srvtoolu_1", name="f", input={}),
    delta(5, type="input_json_delta", partial_json='{"b":2}'),
    delta(5, type="citations_delta", citation={"type": "char_location"}),
    delta(5, type="novel_delta", items=[1], facts={"a": 1}),
    closing(5),
    opening(6, type="fallback", **{"from": {"model": "a"}, "to": {"model": "b"}}),
    closing(6),
    *end(
        "end_turn",
        usage={"output_tokens": 7, "output_tokens_details": {"thinking_tokens": 3}},
        stop_details={"type": "refusal"},
        container={"id": "c"},
    ),
]
WHOLE: Payload = {
    "id": "msg_1",
    "type": "message",
    "model": "m",
    "content": [
        {"type": "thinking", "thinking": "a", "signature": "s"},
        {"type": "redacted_thinking", "data": "cmVk"},
        {"type": "text", "text": "b", "citations": [{"type": "char_location"}]},
        {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}},
        {"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}},
    ],
    "stop_reason": "end_turn",
    "stop_details": None,
    "usage": {"input_tokens": 1, "output_tokens": 2},
}


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_odd_values_in_every_field_of_a_stream_are_typed_faults(odd: Any) -> None:
    for path in places(ANSWER):
        if len(path) == 1:
            continue  # what is no object at all has a test of its own
        reading = read(*put(ANSWER, path, odd))
        assert is_typed(reading.error), path


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_odd_values_in_every_field_of_a_body_are_typed_faults(odd: Any) -> None:
    for path in places(WHOLE):
        reading = read_whole(put(WHOLE, path, odd))
        assert is_typed(reading.error), path


def test_the_untouched_answers_are_read() -> None:
    assert read(*ANSWER).error is None
    assert read_whole(WHOLE).error is None


def test_every_missing_field_is_a_typed_fault_or_none() -> None:
    for path in places(ANSWER):
        if isinstance(path[-1], str):
            assert is_typed(read(*without(ANSWER, path)).error), path


def test_cut_after_any_event_an_answer_is_truncated_and_keeps_what_came() -> None:
    for count in range(len(ANSWER) - 2):
        assert isinstance(read(*ANSWER[:count]).error, TruncatedStream)


WORDS = st.sampled_from(
    [
        "type",
        "index",
        "delta",
        "message",
        "content_block",
        "content",
        "text",
        "thinking",
        "signature",
        "partial_json",
        "input",
        "usage",
        "stop_reason",
        "text_delta",
        "thinking_delta",
        "signature_delta",
        "input_json_delta",
        "novelty",
        "tool_use",
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.floats(allow_nan=False) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.dictionaries(WORDS, JSON, max_size=5), max_size=6))
def test_any_objects_at_all_give_typed_faults(payloads: list[Payload]) -> None:
    reading = read(*payloads)
    assert is_typed(reading.error)


@settings(max_examples=100, deadline=None)
@given(JSON)
def test_any_whole_body_gives_a_typed_fault(body: Any) -> None:
    reading = read_whole(body)
    assert is_typed(reading.error)
