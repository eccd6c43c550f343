"""Whatever JSON stands in whatever place: a typed error or a notice, and never an error of Python's own."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.odd_json import ODD, is_typed, places, put, without
from support.responses_streams import BEGUN, ended, item, said, thought
from support.responses_wire import Payload, call_item, message_item, read, read_whole, reasoning_item
from thinkaloud.errors import MalformedStream
from thinkaloud.messages import UserMessage
from thinkaloud.models.model import Model
from thinkaloud.protocols.base import Call
from thinkaloud.protocols.openai_responses import PROTOCOL

NOTE = {"type": "url_citation", "url": "u"}
ANSWER: list[Payload] = [
    BEGUN,
    *ended(
        thought(0, "ab", "cd"),
        item(
            1,
            {"id": "m", "type": "message", "role": "assistant", "content": []},
            message_item("Hi", phase="commentary")
            | {
                "content": [
                    {"type": "output_text", "text": "Hi", "annotations": [NOTE], "logprobs": [{"token": "Hi"}]},
                    {"type": "refusal", "refusal": "No."},
                    {"type": "novel", "data": 1},
                ]
            },
            {"type": "response.content_part.added", "content_index": 0, "part": {"type": "output_text"}},
            {"type": "response.output_text.delta", "content_index": 0, "delta": "Hi", "logprobs": []},
            {"type": "response.output_text.annotation.added", "content_index": 0, "annotation": NOTE},
            {"type": "response.output_text.done", "content_index": 0, "text": "Hi"},
            {"type": "response.refusal.delta", "content_index": 1, "delta": "No."},
            {"type": "response.refusal.done", "content_index": 1, "refusal": "No."},
        ),
        item(
            2,
            call_item("", status="in_progress"),
            call_item('{"a":1}'),
            {"type": "response.function_call_arguments.delta", "delta": '{"a"'},
            {"type": "response.function_call_arguments.done", "arguments": '{"a":1}'},
        ),
        item(3, {"type": "web_search_call", "id": "ws_1"}, {"type": "web_search_call", "id": "ws_1", "n": 2**70 + 1}),
        incomplete_details={"reason": "max_output_tokens"},
        content_filters=[{"blocked": True}],
        input_transformations=[{"id": "rs_0", "type": "reasoning", "action": "removed", "reason": "r"}],
        usage={
            "input_tokens": 1,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": 2,
            "output_tokens_details": {"reasoning_tokens": 1},
            "cost": 0.1,
        },
    ),
]
WHOLE: Payload = ANSWER[-1]["response"]


def goes_back(message: Any) -> None:
    """What was read can be written, whatever was left out of it."""
    call = Call(model=Model("openai", "gpt-5.5"), messages=(UserMessage("q"), message, UserMessage("r")))
    PROTOCOL.encode(call)


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_an_odd_value_anywhere_in_a_stream_is_read_or_told(odd: Any) -> None:
    for path in places(ANSWER):
        if len(path) == 1:
            continue  # what is no object at all has a test of its own
        reading = read(*put(ANSWER, path, odd))
        assert is_typed(reading.error), path


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_an_odd_value_anywhere_in_a_whole_body_is_read_or_told(odd: Any) -> None:
    for path in places(WHOLE):
        reading = read_whole(put(WHOLE, path, odd))
        assert is_typed(reading.error), path
        goes_back(reading.message)


def test_each_field_of_a_stream_can_be_missing() -> None:
    for path in places(ANSWER):
        changed = without(ANSWER, path)
        reading = read(*changed)
        assert is_typed(reading.error), path


@pytest.mark.parametrize("data", ["7", "[]", '"x"', "null", "true", "{", "nothing", "[1,2]"])
def test_data_that_is_no_object_is_malformed(data: str) -> None:
    assert isinstance(read(BEGUN, data).error, MalformedStream)


@pytest.mark.parametrize("body", [None, 7, "text", [], {}, {"id": "r"}, {"output": None}, {"output": {}}])
def test_a_body_that_is_no_response_is_malformed(body: Any) -> None:
    assert isinstance(read_whole(body).error, MalformedStream)


def test_big_integers_keep_their_digits() -> None:
    block = read(*ANSWER).content[-1]
    assert block.data["n"] == 2**70 + 1


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def test_the_untouched_answers_are_read() -> None:
    assert read(*ANSWER).error is None
    assert read_whole(WHOLE).error is None
    assert read_whole(WHOLE).content == read(*ANSWER).content


@settings(max_examples=150, deadline=None, derandomize=True)
@given(odd=json_values, data=st.data())
def test_any_json_in_any_place_is_read_or_told(odd: Any, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from([path for path in places(ANSWER) if len(path) > 1]))
    reading = read(*put(ANSWER, path, odd))
    assert is_typed(reading.error)


def test_the_helpers_say_what_they_mean() -> None:
    assert reasoning_item("a")["summary"] == [{"type": "summary_text", "text": "a"}]
    assert said(0, "Hi")[-1]["item"] == message_item("Hi", id="msg_0")
