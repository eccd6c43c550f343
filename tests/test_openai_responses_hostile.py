"""Responses answers that leave out, repeat or contradict what the API promises: nothing half passes for whole."""

from __future__ import annotations

from typing import Any

import pytest

from support.responses_streams import BEGUN
from support.responses_wire import added, body, call_item, delta, done, end, read, read_whole, reasoning_item
from thinkaloud.content import Text, Thinking
from thinkaloud.errors import MalformedStream, TruncatedStream

ARGUMENTS = "function_call_arguments"
START = added(0, **call_item("", call_id="c"))


def offered(*payloads: Any) -> list[str]:
    """The arguments of the calls that may be run; every other call is there, but incomplete."""
    message = read(BEGUN, *payloads).message
    return [call.arguments_json for call in message.tool_calls]


# calls whose end was never told


@pytest.mark.parametrize("pieces", [[], ['{"a": 1'], [" "]])
def test_a_half_call_that_was_never_finished_is_not_offered(pieces: list[str]) -> None:
    deltas = [delta(ARGUMENTS, 0, piece) for piece in pieces]
    assert offered(START, *deltas, end()) == []
    assert len(read(BEGUN, START, *deltas, end()).message.incomplete_tool_calls) == 1


def test_a_call_that_was_never_finished_is_offered_if_its_arguments_are_an_object() -> None:
    assert offered(START, delta(ARGUMENTS, 0, '{"a": 1}'), end()) == ['{"a": 1}']


def test_a_call_whose_arguments_are_told_whole_has_its_end() -> None:
    assert offered(START, {"type": f"response.{ARGUMENTS}.done", "output_index": 0, "arguments": ""}, end()) == [""]


def test_arguments_before_their_call_are_not_lost() -> None:
    early = delta(ARGUMENTS, 0, '{"a":')
    assert offered(early, START, delta(ARGUMENTS, 0, "1}"), end()) == ['{"a":1}']
    assert offered(early, START, done(0, **call_item("", call_id="c", status="incomplete")), end()) == []


@pytest.mark.parametrize("status", ["incomplete", "in_progress"])
@pytest.mark.parametrize("arguments", ["", '{"a": 1'])
def test_a_call_that_the_server_calls_unfinished_is_not_offered(status: str, arguments: str) -> None:
    cut = call_item(arguments, call_id="c", status=status)
    assert offered(START, done(0, **cut), end()) == []
    assert read_whole(body(cut)).message.tool_calls == ()


# arguments that are an object


@pytest.mark.parametrize("number", ["1e999", "NaN", "[" * 300 + "]" * 300])
def test_arguments_that_json_cannot_hold_are_malformed(number: str) -> None:
    item = f'{{"type": "function_call", "call_id": "c", "name": "f", "arguments": {{"a": {number}}}}}'
    event = f'{{"type": "response.output_item.done", "output_index": 0, "item": {item}}}'
    assert type(read(BEGUN, event).error) is MalformedStream


# what an item was announced with


def test_arguments_that_came_with_the_announcement_only_are_kept() -> None:
    start = added(0, **call_item('{"a":1}', call_id="c"))
    assert offered(start, end()) == ['{"a":1}']
    assert offered(start, done(0, **call_item("", call_id="c")), end()) == ['{"a":1}']
    assert offered(start, delta(ARGUMENTS, 0, '{"a":2}'), end()) == ['{"a":2}']


def test_text_that_came_with_the_announcement_only_is_kept_in_its_place() -> None:
    start = added(0, type="message", id="m", content=[{"type": "output_text", "text": "Hi"}])
    content = read(BEGUN, start, added(1, **call_item("{}", call_id="c")), end()).message.content
    assert [type(block).__name__ for block in content] == ["Text", "ToolCall"]
    assert read(BEGUN, start, delta("output_text", 0, "Ho", content_index=0), end()).message.text == "Ho"


def test_an_announced_seal_is_no_signature() -> None:
    (block,) = read(BEGUN, added(0, **reasoning_item("Hm", sealed="part")), end()).message.content
    assert isinstance(block, Thinking)
    assert (block.text, block.signature) == ("Hm", None)


# text that is told again


def test_a_delta_after_the_whole_text_of_its_part_says_nothing_new() -> None:
    whole = {"type": "response.output_text.done", "output_index": 0, "content_index": 0, "text": "Hello"}
    late = delta("output_text", 0, "Hello", content_index=0)
    assert read(BEGUN, whole, late, end()).message.text == "Hello"
    assert read(BEGUN, late, whole, late, end()).message.text == "Hello"


def test_an_empty_part_does_not_double_the_text_of_the_next() -> None:
    parts = [{"type": "output_text", "text": ""}, {"type": "output_text", "text": "Hello"}]
    item = {"type": "message", "id": "m", "content": parts}
    content = read(BEGUN, delta("output_text", 0, "Hel", content_index=0), done(0, **item), end()).message.content
    assert [block.text for block in content if isinstance(block, Text)] == ["Hello"]


# ids of calls


def test_two_calls_of_one_id_are_two_calls() -> None:
    calls = [call_item('{"a":1}', id="", call_id="c"), call_item('{"a":2}', id="", call_id="c")]
    streamed = read(BEGUN, done(0, **calls[0]), done(1, **calls[1]), end())
    for reading in (streamed, read_whole(body(*calls))):
        first, second = reading.message.tool_calls
        assert (first.id, first.arguments, second.arguments) == ("c", {"a": 1}, {"a": 2})
        assert second.id not in ("", "c")
        assert reading.codes == ["repeated_call_id"]


# which item is meant


def nowhere(payload: dict[str, Any], place: int | None) -> dict[str, Any]:
    """An event with no place, or with the same one as all others."""
    rest = {name: value for name, value in payload.items() if name != "output_index"}
    return rest if place is None else {**rest, "output_index": place}


@pytest.mark.parametrize("place", [None, 0])
@pytest.mark.parametrize("id", ["fc_{}", ""])
def test_calls_without_a_place_of_their_own_are_told_apart(place: int | None, id: str) -> None:
    items = [call_item(f'{{"a":{n}}}', id=id.format(n), call_id=f"c{n}") for n in range(3)]
    events = [added(n, **{**item, "arguments": ""}) for n, item in enumerate(items)]
    events += [done(n, **item) for n, item in enumerate(items)]
    message = read(BEGUN, *(nowhere(event, place) for event in events), end(output=items)).message
    assert [(call.id, call.arguments) for call in message.tool_calls] == [(f"c{n}", {"a": n}) for n in range(3)]
    assert message.incomplete_tool_calls == ()


@pytest.mark.parametrize("place", [None, 0])
def test_a_reasoning_id_that_is_used_again_with_a_new_seal_is_another_item(place: int | None) -> None:
    items = [reasoning_item(sealed=seal) for seal in ("S1", "S2")]
    events = [event for item in items for event in (added(0, **item), done(0, **item))]
    content = read(BEGUN, *(nowhere(event, place) for event in events), end(output=items)).content
    assert [block.signature for block in content] == ["S1", "S2"]


# ends that do not say it all


@pytest.mark.parametrize("last", [{}, {"response": None}, {"response": {"status": "in_progress"}}])
def test_an_end_without_a_finished_response_makes_no_half_call_whole(last: dict[str, Any]) -> None:
    half, whole = done(0, **call_item('{"a": 1', call_id="c")), done(0, **call_item("{}", call_id="c"))
    assert offered(half, {"type": "response.completed", **last}) == []
    assert offered(whole, {"type": "response.completed", **last}) == ["{}"]


def test_a_whole_body_without_a_status_makes_no_half_call_whole() -> None:
    assert read_whole({"output": [call_item('{"a": 1', call_id="c")]}).message.tool_calls == ()


def test_a_made_id_is_not_that_of_another_call() -> None:
    calls = [call_item("{}", call_id="call_resp_a_1"), call_item("{}", id="fc_2", call_id="")]
    first, second = read_whole(body(*calls)).message.tool_calls
    assert first.id != second.id


def test_what_was_announced_and_makes_no_sense_is_left_out_of_an_answer_that_breaks_off() -> None:
    parts: list[Any] = [{"type": "output_text", "text": "Hello"}, "x"]
    items = [{"id": f"msg_{place}", "type": "message", "content": [part]} for place, part in enumerate(parts)]
    reading = read(BEGUN, *(added(place, **item) for place, item in enumerate(items)))
    assert isinstance(reading.error, TruncatedStream)
    assert reading.content == (Text("Hello", complete=False),)
