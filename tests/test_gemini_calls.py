"""Calls of Gemini: whole ones, their ids, and arguments that stream as values at JSON paths."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.gemini_streams import call, chunk, partial, text, thought
from support.gemini_wire import read, read_whole
from support.parsed import Reading
from thinkaloud.content import Text, ToolCall
from thinkaloud.errors import TruncatedStream
from thinkaloud.events import ToolCallDelta
from thinkaloud.messages import StopReason
from thinkaloud.protocols.gemini.arguments import StreamedArguments

END = chunk(text(""), finish="STOP")


def calls(*parts: dict[str, Any], finish: str = "STOP") -> tuple[ToolCall, ...]:
    found = read(*(chunk(part) for part in parts), chunk(text(""), finish=finish)).content
    assert all(isinstance(block, ToolCall) for block in found)
    return found


def arguments(*parts: dict[str, Any]) -> Any:
    [block] = calls(call("note", willContinue=True), *parts, call())
    assert block.complete
    return block.arguments


def test_a_call_is_whole_in_one_part() -> None:
    [block] = calls(call("add", "c2ln", id="c1", args={"a": 1, "b": [2, None]}))
    assert block == ToolCall("c1", name="add", arguments_json='{"a":1,"b":[2,null]}', signature="c2ln")


def test_only_the_first_of_parallel_calls_is_signed() -> None:
    blocks = calls(call("add", "c2ln", id="c1", args={"a": 1}), call("add", id="c2", args={"a": 1}))
    assert [(block.id, block.signature) for block in blocks] == [("c1", "c2ln"), ("c2", None)]


def test_a_call_makes_the_end_a_tool_use() -> None:
    reading = read(chunk(call("now", id="c1")), END)
    assert (reading.message.stop_reason, reading.message.raw_stop_reason) == (StopReason.TOOL_USE, "STOP")


@pytest.mark.parametrize("fields", [{}, {"args": None}, {"args": {}}, {"args": ""}])
def test_a_call_without_arguments_is_whole(fields: dict[str, Any]) -> None:
    [block] = calls(call("now", id="c1", **fields), finish="MAX_TOKENS")
    assert (block.arguments, block.complete) == ({}, True)


def test_arguments_may_come_as_a_string() -> None:
    [block] = calls(call("add", id="c1", args='{"a": 1}'))
    assert block.arguments_json == '{"a": 1}'


def test_big_integers_keep_all_digits() -> None:
    [block] = calls(call("add", id="c1", args={"a": 12345678901234567890123}))
    assert block.arguments == {"a": 12345678901234567890123}
    assert read_whole(json.loads(json.dumps(chunk(call("add", id="c1", args={"a": 10**30}), finish="STOP")))).content[
        0
    ].arguments == {"a": 10**30}


def test_a_call_marked_as_a_thought_is_a_call() -> None:
    [block] = calls({"functionCall": {"id": "c1", "name": "now"}, "thought": True})
    assert block == ToolCall("c1", name="now", arguments_json="{}", extra={"part": {"thought": True}})


def test_text_and_call_in_one_part_are_both_read() -> None:
    reading = read(
        chunk({"text": "Now.", "functionCall": {"id": "c1", "name": "now"}, "thoughtSignature": "c2ln"}), END
    )
    assert reading.content == (Text("Now."), ToolCall("c1", name="now", arguments_json="{}", signature="c2ln"))


def test_further_fields_of_a_call_are_kept() -> None:
    [block] = calls(call("now", id="c1", hint={"n": 10**20}))
    assert block.extra == {"function_call": {"hint": {"n": 10**20}}}


# ids


def test_missing_ids_are_made_unique_and_stay_the_same() -> None:
    parts = [call("set", args={"e": 1}), call("set", args={"e": 1})]
    first, second = calls(*parts)
    assert (first.id, second.id) == ("call_r1_1", "call_r1_2")
    assert first.extra == {"wire_id": None}
    assert calls(*parts) == (first, second)
    assert read_whole(chunk(*parts, finish="STOP")).content == (first, second)


def test_an_answer_without_an_id_has_unique_ids_of_calls_all_the_same() -> None:
    def ids(*names: str) -> list[str]:
        bodies = [{"candidates": [{"content": {"parts": [call(name)]}}]} for name in names]
        return [block.id for block in read(*bodies, {"candidates": [{"finishReason": "STOP"}]}).content]

    assert len({*ids("now", "now"), *ids("later")}) == 3
    assert ids("now") == ids("now")


def test_an_id_that_comes_twice_is_made_unique() -> None:
    first, second = calls(call("a", id="c1"), call("b", id="c1"))
    assert (first.id, second.id, second.extra) == ("c1", "call_r1_1", {"wire_id": "c1"})


# streamed arguments


def test_streamed_arguments_grow_by_json_text() -> None:
    reading = read(
        chunk(call("set_lamp", "c2ln", willContinue=True)),
        chunk(partial("$.room", stringValue="kit", willContinue=True)),
        chunk(partial("$.room", stringValue="chen")),
        chunk(partial("$.levels[0]", numberValue=3)),
        chunk(call()),
        END,
    )
    assert [event.json for event in reading.events if isinstance(event, ToolCallDelta)] == [
        '{"room":"kit',
        "chen",
        '","levels":[3',
        "]}",
    ]
    [block] = reading.content
    assert (block.arguments, block.signature) == ({"room": "kitchen", "levels": [3]}, "c2ln")


def test_values_of_every_kind_and_depth_are_read() -> None:
    assert arguments(
        partial("$.a.b[0].c", stringValue="x"),
        partial("$.a.b[0].d", boolValue=True),
        partial("$.a.b[1].c", nullValue="NULL_VALUE"),
        partial("$.a.e", numberValue=2.5),
        partial("$['odd name']", numberValue=12345678901234567890123),
        partial('$["q\\"uote"]', stringValue=""),
        partial("$.tags[]"),
        partial("$.options"),
    ) == {
        "a": {"b": [{"c": "x", "d": True}, {"c": None}], "e": 2.5},
        "odd name": 12345678901234567890123,
        'q"uote': "",
        "tags": [],
        "options": {},
    }


def test_several_entries_may_come_in_one_part() -> None:
    entries = [{"jsonPath": "$.a", "stringValue": "x"}, {"jsonPath": "$.b", "stringValue": "y"}]
    assert arguments(call(partialArgs=entries, willContinue=True)) == {"a": "x", "b": "y"}


def test_a_later_value_for_an_earlier_place_is_still_taken_in() -> None:
    assert arguments(
        partial("$.a", stringValue="x", willContinue=True),
        partial("$.b.c", numberValue=1),
        partial("$.a", stringValue="y"),
        partial("$.b.d", numberValue=2),
        partial("$.e", boolValue=False),
        partial("$.b.c", numberValue=3),
    ) == {"a": "xy", "b": {"c": 3, "d": 2}, "e": False}


@pytest.mark.parametrize(
    "path", ["$.a[999999999]", "$.list[2]", "$.text.below", "$.list.name", "$[0]", "$", "$.new[1].x"]
)
def test_a_place_that_makes_no_sense_is_passed_over(path: str) -> None:
    assert arguments(
        partial("$.list[0]", numberValue=1), partial("$.text", stringValue="x"), partial(path, numberValue=5)
    ) == {"list": [1], "text": "x"}


def test_a_keep_alive_changes_nothing() -> None:
    assert arguments(call(willContinue=True), partial("$.a", stringValue="x"), call(willContinue=True)) == {"a": "x"}


@pytest.mark.parametrize(
    "ending",
    [
        [call()],
        [{"functionCall": {"partialArgs": [{"jsonPath": "$.b", "numberValue": 1}]}}],
    ],
    ids=["an empty call", "a part that does not go on"],
)
def test_a_streamed_call_is_ended_by(ending: list[dict[str, Any]]) -> None:
    first, *_ = calls(call("note", willContinue=True), partial("$.a", stringValue="x"), *ending)
    assert first.complete
    assert first.arguments["a"] == "x"


def test_a_streamed_call_may_have_no_arguments() -> None:
    assert arguments(call()) == {}


def test_a_call_without_arguments_between_streamed_ones_is_kept() -> None:
    blocks = calls(call("a", willContinue=True), call("b"), call("c", willContinue=True), call())
    assert [(block.name, block.arguments) for block in blocks] == [("a", {}), ("b", {}), ("c", {})]


def test_an_id_that_is_repeated_goes_on_with_its_call() -> None:
    entry: dict[str, Any] = {"partialArgs": [{"jsonPath": "$.a", "stringValue": "x"}], "willContinue": True}
    [block] = calls(call("note", id="c1", willContinue=True), call("note", id="c1", **entry), call("note", id="c1"))
    assert block.arguments == {"a": "x"}


def test_arguments_at_the_end_of_a_streamed_call_are_taken_whole() -> None:
    assert arguments(call(args={"a": 1})) == {"a": 1}


def test_a_second_signature_of_a_call_does_not_replace_the_first() -> None:
    reading = read(
        chunk(call("note", "b25l", willContinue=True)),
        chunk(partial("$.a", "dHdv", stringValue="x")),
        chunk(call()),
        END,
    )
    assert reading.content[0].signature == "b25l"
    assert "signature_ignored" in reading.codes


def test_arguments_without_a_call_are_told() -> None:
    assert read(chunk(partial("$.a", stringValue="x")), chunk(call()), END).codes == ["unknown_delta", "empty_answer"]


@pytest.mark.parametrize("finish", ["MAX_TOKENS", "SAFETY", "CONTINUATION", "OTHER", "NEW_WORD"])
def test_a_streamed_call_that_is_cut_is_not_offered_for_running(finish: str) -> None:
    [block] = calls(call("note", willContinue=True), partial("$.a", stringValue="x"), finish=finish)
    assert (block.complete, block.arguments_json) == (False, '{"a":"x')


def test_a_streamed_call_of_a_stream_that_breaks_off_is_incomplete() -> None:
    reading = read(chunk(call("note", willContinue=True)), chunk(partial("$.a", stringValue="x")))
    assert isinstance(reading.error, TruncatedStream)
    assert [block.complete for block in reading.content] == [False]


def test_text_may_come_before_a_streamed_call_has_ended() -> None:
    reading = read(
        chunk(call("note", willContinue=True)),
        chunk(thought("Hm.")),
        chunk(partial("$.a", stringValue="x")),
        chunk(call()),
        END,
    )
    assert reading.content[0].arguments == {"a": "x"}
    assert reading.content[1].text == "Hm."


# the writer of streamed arguments by itself

leaves: st.SearchStrategy[Any] = (
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just([]) | st.just({})
)
names = st.text(st.sampled_from("abé \"'\\.[]$"), min_size=1, max_size=3)
documents = st.dictionaries(
    names,
    st.recursive(
        leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3), max_leaves=6
    ),
    max_size=4,
)


def entries_of(value: Any, path: str = "$") -> list[dict[str, Any]]:
    """A document as entries in its order, its strings in two halves."""
    match value:
        case dict() if value:
            quoted = {name: name.replace("\\", "\\\\").replace("'", "\\'") for name in value}
            return [entry for name in value for entry in entries_of(value[name], f"{path}['{quoted[name]}']")]
        case list() if value:
            return [entry for place, item in enumerate(value) for entry in entries_of(item, f"{path}[{place}]")]
        case list():
            return [{"jsonPath": f"{path}[]"}]
        case dict():
            return [{"jsonPath": path}]
        case str():
            half = len(value) // 2
            return [{"jsonPath": path, "stringValue": piece} for piece in (value[:half], value[half:])]
        case bool():
            return [{"jsonPath": path, "boolValue": value}]
        case None:
            return [{"jsonPath": path, "nullValue": "NULL_VALUE"}]
        case _:
            return [{"jsonPath": path, "numberValue": value}]


@given(documents)
def test_any_document_is_written_in_its_order(document: dict[str, Any]) -> None:
    writer = StreamedArguments()
    written = "".join([*(writer.add(entry) for entry in entries_of(document)), writer.close()])
    assert written == json.dumps(document, separators=(",", ":"))


@given(documents, st.randoms(use_true_random=False))
def test_members_in_any_order_give_the_same_document(document: dict[str, Any], dice: Any) -> None:
    members = [entries_of({name: value}) for name, value in document.items()]
    waiting = [list(entries) for entries in members]
    writer, written = StreamedArguments(), []
    while any(waiting):
        written.append(writer.add(dice.choice([entries for entries in waiting if entries]).pop(0)))
    assert json.loads("".join([*written, writer.close()])) == document


def test_long_arguments_take_time_that_grows_with_their_length() -> None:
    def seconds(pieces: int) -> float:
        chunks = [chunk(partial("$.a", stringValue="word ", willContinue=True))] * pieces
        start = time.process_time()
        reading: Reading = read(chunk(call("note", willContinue=True)), *chunks, chunk(call()), END)
        assert len(reading.content[0].arguments["a"]) == 5 * pieces
        return time.process_time() - start

    seconds(200)
    assert min(seconds(8000) for _ in range(3)) < 16 * min(seconds(2000) for _ in range(3))
