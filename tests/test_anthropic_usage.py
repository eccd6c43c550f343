"""Token counts of the Messages API in our one meaning: input is the whole prompt, and later counts replace."""

from __future__ import annotations

from typing import Any

import pytest

from support.anthropic_wire import Payload, end, read, read_whole, start, text
from thinkaloud.events import UsageUpdate
from thinkaloud.usage import Usage


def usage_of(opening: dict[str, Any], *last: Any) -> Usage:
    stop: Payload = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}
    closings = [{**stop, "usage": usage} for usage in last]
    return read(start(usage=opening), text(0, "x"), *closings, {"type": "message_stop"}).message.usage


def test_input_counts_cached_tokens_too() -> None:
    opening = {
        "input_tokens": 10,
        "cache_creation_input_tokens": 200,
        "cache_read_input_tokens": 3000,
        "cache_creation": {"ephemeral_5m_input_tokens": 50, "ephemeral_1h_input_tokens": 150},
        "output_tokens": 1,
    }
    last = {"output_tokens": 40, "output_tokens_details": {"thinking_tokens": 30}}
    assert usage_of(opening, last) == Usage(
        input=3210, output=40, reasoning=30, cache_read=3000, cache_write=200, cache_write_1h=150
    )


def test_a_later_count_replaces_only_its_own_field() -> None:
    opening = {"input_tokens": 10, "cache_read_input_tokens": 100, "output_tokens": 1}
    assert usage_of(opening, {"input_tokens": 12, "output_tokens": 40}) == Usage(input=112, output=40, cache_read=100)
    assert usage_of(opening, {"cache_read_input_tokens": 0, "output_tokens": 4}) == Usage(
        input=10, output=4, cache_read=0
    )


def test_counts_are_not_added_over_several_deltas() -> None:
    assert usage_of({"input_tokens": 10, "output_tokens": 1}, {"output_tokens": 5}, {"output_tokens": 9}).output == 9


@pytest.mark.parametrize(
    "last", [None, {}, {"input_tokens": None, "output_tokens": None, "cache_read_input_tokens": None}]
)
def test_counts_of_the_opening_stay_where_nothing_replaces_them(last: Any) -> None:
    opening = {"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 3}
    assert usage_of(opening, last) == Usage(input=15, output=3, cache_read=5)


def test_the_opening_s_output_is_provisional_until_the_end() -> None:
    reading = read(start(usage={"input_tokens": 10, "output_tokens": 1}), text(0, "x"))
    assert reading.error is not None
    assert reading.message.usage == Usage(input=10)


def test_an_answer_without_counts_has_none_and_no_zeros() -> None:
    assert read(start(usage=None), text(0, "x"), end(usage={})).message.usage == Usage()


def test_cache_writes_are_summed_where_only_their_parts_are_told() -> None:
    opening = {"input_tokens": 1, "cache_creation": {"ephemeral_5m_input_tokens": 2, "ephemeral_1h_input_tokens": 3}}
    assert usage_of(opening, {"output_tokens": 4}) == Usage(input=6, output=4, cache_write=5, cache_write_1h=3)


def test_every_change_is_told_once() -> None:
    reading = read(start(), text(0, "x"), end(usage={"output_tokens": 7}))
    assert [event.usage for event in reading.events if isinstance(event, UsageUpdate)] == [
        Usage(input=9),
        Usage(input=9, output=7),
    ]


def test_a_second_message_start_only_brings_counts() -> None:
    second = start(id="msg_2", model="other", usage={"input_tokens": 20}, content=[{"type": "text", "text": "again"}])
    message = read(start(), text(0, "x"), second, end()).message
    assert (message.response_id, message.origin.model, message.text) == ("msg_1", "claude-answering", "x")
    assert message.usage == Usage(input=20, output=7)


def test_a_count_that_is_no_number_is_told_and_passed_over() -> None:
    reading = read(start(usage={"input_tokens": "12", "output_tokens": 1}), text(0, "x"), end())
    assert reading.message.usage == Usage(output=7)
    assert reading.codes == ["unreadable_field"]


def test_a_whole_body_s_counts_are_final() -> None:
    body = {
        "type": "message",
        "content": [],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 1, "output_tokens": 2},
    }
    assert read_whole(body).message.usage == Usage(input=1, output=2)
