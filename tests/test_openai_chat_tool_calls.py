"""Tool calls are put together from their fragments, whatever a server makes of ids, indexes and names."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.chat_wire import DONE, body, call, calls, chunk, parser, read, read_whole, sse, stop
from thinkaloud.content import Text, ToolCall
from thinkaloud.errors import TruncatedStream
from thinkaloud.events import StreamStart, ToolCallStart
from thinkaloud.messages import StopReason


def made(*payloads: Any, end: str = "tool_calls", **settings: Any) -> list[tuple[str, str, str]]:
    """What the calls of an answer come out as: id, name and arguments."""
    reading = read(*payloads, stop(end), **settings)
    assert reading.error is None
    assert all(block.complete for block in reading.content)
    return [(block.id, block.name, block.arguments_json) for block in reading.content if isinstance(block, ToolCall)]


def test_a_call_comes_in_fragments_found_by_their_index() -> None:
    reading = read(
        calls(call(0, "c1", "get", "", type="function")),
        calls(call(0, arguments='{"q":')),
        calls(call(0, arguments='"rain"}')),
        stop("tool_calls"),
    )
    assert reading.content == (ToolCall("c1", name="get", arguments_json='{"q":"rain"}'),)
    assert reading.message.stop_reason is StopReason.TOOL_USE
    assert reading.kinds() == [
        *("StreamStart", "ToolCallStart", "ToolCallDelta", "ToolCallDelta", "ToolCallEnd", "StreamEnd")
    ]


def test_a_call_begins_with_its_first_fragment() -> None:
    events = parser().feed(sse(calls(call(0, "c1", "get", ""))))
    assert [type(event) for event in events] == [StreamStart, ToolCallStart]


def test_fragments_of_two_calls_may_interleave() -> None:
    assert made(
        calls(call(0, "a", "f", ""), call(1, "b", "g", "")),
        calls(call(1, arguments='{"y":'), call(0, arguments='{"x":')),
        calls(call(0, arguments="1}")),
        calls(call(1, arguments="2}")),
    ) == [("a", "f", '{"x":1}'), ("b", "g", '{"y":2}')]


def test_without_an_index_a_fragment_goes_on_with_the_last_call() -> None:
    assert made(
        calls(call(None, "a", "f", "")),
        calls(call(None, arguments='{"x":')),
        calls(call(None, arguments="1}")),
        calls(call(None, "b", "g", '{"y":2}')),
    ) == [("a", "f", '{"x":1}'), ("b", "g", '{"y":2}')]


def test_another_id_at_a_known_index_is_another_call() -> None:
    assert made(
        calls(call(0, "a", "f", '{"x":1}')), calls(call(0, "b", "f", '{"x":2}')), calls(call(0, arguments=" "))
    ) == [
        ("a", "f", '{"x":1}'),
        ("b", "f", '{"x":2} '),
    ]


def test_id_and_name_may_be_repeated_in_every_fragment() -> None:
    assert made(calls(call(0, "a", "f", "")), calls(call(0, "a", "f", '{"x":')), calls(call(0, "a", "f", "1}"))) == [
        ("a", "f", '{"x":1}')
    ]


@pytest.mark.parametrize("none", ["", "null"])
def test_an_empty_id_is_no_id(none: str) -> None:
    assert made(calls(call(0, "a", "f", "")), calls(call(0, none, "", '{"x":1}'))) == [("a", "f", '{"x":1}')]


def test_a_call_without_an_id_gets_one_that_is_its_own_and_stays() -> None:
    payloads = (calls(call(0, None, "f", "{}")), calls(call(1, "", "f", "{}")))
    (first, second) = made(*payloads)
    assert first[0]
    assert second[0]
    assert first[0] != second[0]
    assert made(*payloads) == [first, second]
    assert made(*payloads, prefix_digest="of another turn") != [first, second]


def test_an_id_that_was_made_does_not_hang_on_how_often_the_chunk_s_id_changes() -> None:
    def id_of(second: str) -> str:
        return made({**chunk(content="x"), "id": "one"}, {**calls(call(0, None, "f", "{}")), "id": second})[0][0]

    assert id_of("one") == id_of("two")


def test_an_id_that_comes_late_belongs_to_the_call_that_has_none() -> None:
    assert made(calls(call(0, None, "f")), calls(call(0, "a", None, '{"x":1}'))) == [("a", "f", '{"x":1}')]
    ((_, name, arguments),) = made(calls(call(0, None, "f", '{"x":')), calls(call(0, "late", None, "1}")))
    assert (name, arguments) == ("f", '{"x":1}')


def test_whole_calls_without_ids_under_one_index_stay_apart() -> None:
    """Seen at older servers of Gemini and Ollama."""
    assert [
        (name, arguments)
        for _, name, arguments in made(
            calls(call(0, None, "f", '{"x":1}')), calls(call(0, None, "f", '{"x":2}')), calls(call(0, None, "g", "{}"))
        )
    ] == [("f", '{"x":1}'), ("f", '{"x":2}'), ("g", "{}")]


def test_whole_calls_without_id_and_index_stay_apart() -> None:
    found = made(calls(call(None, None, "f", "{}")), calls(call(None, None, "g", "{}"), call(None, None, "g", "{}")))
    assert [name for _, name, _ in found] == ["f", "g", "g"]


def test_one_id_for_two_calls_gives_the_second_another() -> None:
    found = made(
        calls(call(0, "a", "f", "")),
        calls(call(1, "a", "g", "")),
        calls(call(1, "a", None, '{"y":2}'), call(0, "a", None, "{}")),
    )
    assert [(name, arguments) for _, name, arguments in found] == [("f", "{}"), ("g", '{"y":2}')]
    assert found[0][0] == "a"
    assert found[1][0] not in ("a", "")


def test_arguments_wait_for_a_name_that_comes_after_them() -> None:
    assert made(calls(call(0, "a", None, '{"x":')), calls(call(0, None, "f", "1}"))) == [("a", "f", '{"x":1}')]


def test_a_name_may_come_in_pieces_before_the_arguments() -> None:
    assert made(calls(call(0, "a", "get_")), calls(call(0, None, "rain")), calls(call(0, None, None, "{}"))) == [
        ("a", "get_rain", "{}")
    ]


def test_a_call_that_never_gets_a_name_is_kept_and_told_and_never_offered() -> None:
    reading = read(calls(call(0, "a", None, "{}")), calls(call(1, "b", "f", "{}")), stop("tool_calls"))
    assert reading.message.incomplete_tool_calls == (ToolCall("a", name="", arguments_json="{}", complete=False),)
    assert [block.id for block in reading.message.tool_calls] == ["b"]
    (notice,) = reading.message.notices
    assert (notice.code, notice.path, notice.detail) == ("call_without_name", "content[1]", {"id": "a"})


def test_a_call_without_a_name_alone_is_no_end_by_calls() -> None:
    message = read(calls(call(0, "a", None, "{}")), stop("stop")).message
    assert (message.stop_reason, message.tool_calls) == (StopReason.END, ())


def test_a_fragment_that_says_nothing_is_no_call() -> None:
    reading = read(calls(call(0, "a", "f", "{}")), calls({"index": 1}), stop("tool_calls"))
    assert [block.id for block in reading.content] == ["a"]
    assert reading.message.notices == ()


def test_an_id_that_is_given_anew_is_told() -> None:
    message = read(calls(call(0, "a", "f", "{}")), calls(call(1, "a", "g", "{}")), stop("tool_calls")).message
    (notice,) = message.notices
    assert (notice.code, notice.detail) == ("repeated_call_id", {"id": "a", "given": message.tool_calls[1].id})


@pytest.mark.parametrize("arguments", [None, "", "  "])
def test_blank_arguments_are_no_arguments(arguments: str | None) -> None:
    (called,) = read(calls(call(0, "a", "f", arguments)), stop("tool_calls")).content
    assert (called.arguments, called.complete) == ({}, True)


def test_null_arguments_are_no_arguments() -> None:
    entry = {"index": 0, "id": "a", "function": {"name": "f", "arguments": None}}
    assert made(calls(entry)) == [("a", "f", "")]


def test_arguments_may_be_an_object(json_decoder: str) -> None:
    assert made(calls(call(0, "a", "f", {"room": "hall", "on": True}))) == [("a", "f", '{"room":"hall","on":true}')]


def test_an_object_keeps_all_digits_of_its_integers(json_decoder: str) -> None:
    number = 12345678901234567890123456789
    (called,) = read(calls(call(0, "a", "f", {"n": number})), stop("tool_calls")).content
    assert called.arguments == {"n": number}
    legacy = read(chunk(function_call={"name": "f", "arguments": {"n": number}}), stop("function_call")).content
    assert legacy[0].arguments == {"n": number}


def test_the_legacy_form_is_a_call_without_an_id() -> None:
    reading = read(
        chunk(function_call={"name": "f", "arguments": ""}),
        chunk(function_call={"arguments": '{"x":'}),
        chunk(function_call={"arguments": "1}"}),
        stop("function_call"),
    )
    (called,) = reading.content
    assert (called.name, called.arguments) == ("f", {"x": 1})
    assert called.id
    assert reading.message.stop_reason is StopReason.TOOL_USE


def test_fields_filled_with_nothing_are_no_calls() -> None:
    """Seen at Snowflake."""
    empty = {"index": 0, "id": "", "function": {"name": "", "arguments": ""}, "custom": {"name": "", "input": ""}}
    reading = read(chunk(content="Hi", function_call={"name": "", "arguments": ""}, tool_calls=[empty]), stop())
    assert reading.content == (Text("Hi"),)
    assert reading.codes == []


def test_a_custom_call_keeps_its_free_text() -> None:
    entry = {"index": 0, "id": "a", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}
    (called,) = read(calls(entry), stop("tool_calls")).content
    assert (called.name, called.arguments_json, called.extra) == ("sql", "select 1", {"type": "custom"})


def test_a_thought_signature_on_the_call_is_its_signature() -> None:
    extra = {"google": {"thought_signature": "SIG"}}
    (called,) = read(calls(call(0, "a", "f", "{}", extra_content=extra)), stop("tool_calls")).content
    assert (called.signature, called.extra) == ("SIG", {"extra_content": extra})


def test_text_before_and_after_a_call_are_blocks_of_their_own() -> None:
    reading = read(chunk(content="a"), calls(call(0, "c", "f", "{}")), chunk(content="b"), stop("tool_calls"))
    assert [type(block) for block in reading.content] == [Text, ToolCall, Text]


# the end


def test_stop_with_a_call_is_tool_use() -> None:
    message = read(calls(call(0, "a", "f", "{}")), stop("stop")).message
    assert (message.stop_reason, message.raw_stop_reason) == (StopReason.TOOL_USE, "stop")


def test_the_marker_alone_with_a_call_is_tool_use() -> None:
    message = read(calls(call(0, "a", "f", "{}")), DONE).message
    assert (message.stop_reason, message.raw_stop_reason) == (StopReason.TOOL_USE, None)


def test_the_marker_alone_never_completes_half_a_call() -> None:
    reading = read(calls(call(0, "a", "f", '{"x":')), DONE)
    assert isinstance(reading.error, TruncatedStream)
    assert [block.complete for block in reading.content] == [False]


def test_a_limit_inside_the_arguments_leaves_the_call_incomplete() -> None:
    message = read(calls(call(0, "a", "f", '{"x":')), stop("length")).message
    assert (message.stop_reason, message.tool_calls) == (StopReason.LENGTH, ())
    assert message.incomplete_tool_calls[0].arguments_json == '{"x":'


@pytest.mark.parametrize("fragment", [call(0, "a", "f"), call(0, None, "f"), call(0, "a", "f", "{")])
def test_a_call_that_was_cut_off_is_told_and_never_complete(fragment: dict[str, Any]) -> None:
    reading = read(calls(fragment))
    assert isinstance(reading.error, TruncatedStream)
    (called,) = reading.content
    assert (called.name, called.complete) == ("f", False)


def test_a_whole_body_holds_whole_calls() -> None:
    entries = [call(None, "a", "f", '{"x":1}'), call(None, "b", "f", '{"x":2}')]
    reading = read_whole(body("tool_calls", content=None, tool_calls=entries))
    assert [(block.id, block.arguments) for block in reading.content] == [("a", {"x": 1}), ("b", {"x": 2})]


def test_a_call_of_many_fragments_is_not_parsed_anew_for_each() -> None:
    pieces = [calls(call(0, "", "f", '{"a' if place == 0 else "x")) for place in range(3000)]
    ((_, _, arguments),) = made(*pieces, calls(call(0, "", "f", '":1}')))
    assert json.loads(arguments) == {"a" + "x" * 2999: 1}
