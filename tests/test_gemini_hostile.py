"""Answers of Gemini that no server should give: a half call is never offered, and nothing that came is lost."""

from __future__ import annotations

from typing import Any

import pytest

from support.gemini_streams import Part, call, chunk, partial, text
from support.gemini_wire import read, read_whole
from thinkaloud.content import Opaque
from thinkaloud.errors import TruncatedStream
from thinkaloud.messages import StopReason

END = chunk(text(""), finish="STOP")


def test_a_part_is_read_from_its_own_candidate() -> None:
    later = {"content": {"parts": [{"functionCall": {"name": "x", "args": {"a": 0}}}]}}
    reading = read({"candidates": [{"finishReason": "STOP"}, later]})
    assert [call.arguments for call in reading.message.tool_calls] == [{"a": 0}]
    other = {"content": {"parts": [{"functionCall": {"name": "y", "args": {"b": 10**30}}}]}, "finishReason": "STOP"}
    reading = read({"candidates": [later, other]})
    assert [call.arguments for call in reading.message.tool_calls] == [{"a": 0}, {"b": 10**30}]


HALF = [call("f", willContinue=True), partial("$.a", stringValue="rm -rf /tm", willContinue=True)]


@pytest.mark.parametrize("half", [HALF, HALF[:1]])
@pytest.mark.parametrize("following", [[], [call("g", args={"b": 1})], [call("f", id="c9")], [text("Done.")]])
def test_a_streamed_call_whose_end_is_never_told_is_not_offered(half: list[Part], following: list[Part]) -> None:
    message = read(*(chunk(part) for part in (*half, *following)), END).message
    assert [block.name for block in message.incomplete_tool_calls] == ["f"]
    assert len(message.tool_calls) == sum("functionCall" in part for part in following)


def test_a_call_that_goes_on_after_empty_arguments_takes_those_that_stream() -> None:
    empty: tuple[Any, ...] = ({}, None, "")
    for args in empty:
        parts = [call("f", args=args, willContinue=True), partial("$.a", stringValue="x"), call()]
        assert [block.arguments for block in read(chunk(*parts), END).message.tool_calls] == [{"a": "x"}]


def test_a_call_that_goes_on_after_some_arguments_has_them_all() -> None:
    start = call("f", args={"n": 10**30, "s": "y", "d": {"k": 1}}, willContinue=True)
    message = read(chunk(start, partial("$.a", numberValue=2), partial("$.d.l", boolValue=True), call()), END).message
    assert message.tool_calls[0].arguments == {"n": 10**30, "s": "y", "d": {"k": 1, "l": True}, "a": 2}
    assert read(chunk(start), END).message.tool_calls == ()


@pytest.mark.parametrize(("args", "offered"), [('{"a":1}', 1), ('{"a":', 0)])
def test_arguments_as_text_of_a_call_that_goes_on_are_offered_only_if_they_are_whole(args: str, offered: int) -> None:
    assert len(read(chunk(call("f", args=args, willContinue=True)), END).message.tool_calls) == offered


def test_a_name_that_is_repeated_in_every_part_goes_on_with_its_call() -> None:
    def more(value: str) -> Part:
        return call(
            "f", partialArgs=[{"jsonPath": "$.a", "stringValue": value, "willContinue": True}], willContinue=True
        )

    for start in ([], [call("f", willContinue=True)]):
        message = read(chunk(*start, more("x"), more("y"), call("f", willContinue=True), call("f")), END).message
        assert [block.arguments for block in message.content] == [{"a": "xy"}]  # type: ignore[union-attr]


def test_a_whole_call_of_the_same_name_is_another_one() -> None:
    message = read(chunk(*HALF, call("f", args={"a": "x"})), END).message
    assert [block.arguments for block in message.tool_calls] == [{"a": "x"}]


def test_a_finish_reason_that_is_not_set_is_no_end() -> None:
    unset = chunk(text("A"), finish="FINISH_REASON_UNSPECIFIED")
    assert isinstance(read(unset).error, TruncatedStream)
    assert isinstance(read_whole(unset).error, TruncatedStream)
    message = read(unset, END, chunk(finish="FINISH_REASON_UNSPECIFIED")).message
    assert (message.stop_reason, message.raw_stop_reason) == (StopReason.END, "STOP")


def test_a_signature_that_comes_after_its_call_has_ended_is_kept() -> None:
    content = read(chunk(call("f", args={"a": 1})), chunk(call(None, "c2ln")), END).content
    assert content[1:] == (Opaque("gemini", kind="thoughtSignature", data={"thoughtSignature": "c2ln"}),)


def test_a_thought_in_one_part_with_a_call_is_no_visible_text() -> None:
    part = {"text": "Hm.", "thought": True, "functionCall": {"id": "c1", "name": "f"}}
    message = read(chunk(part), END).message
    assert (message.text, message.thinking) == ("", "Hm.")
    assert [block.id for block in message.tool_calls] == ["c1"]


def test_an_id_that_is_made_is_that_of_no_other_call() -> None:
    reading = read(chunk(call("f", id="call_r1_1"), call("f"), call("f", id="call_r1_2")), END)
    assert [block.id for block in reading.message.tool_calls] == ["call_r1_1", "call_r1_2", "call_r1_3"]
    assert reading.message.notices[0].detail == {"id": "call_r1_2", "given": "call_r1_3"}
    assert reading.codes == ["repeated_call_id"]


def test_a_call_of_another_name_is_no_part_of_the_open_one_though_it_has_its_id() -> None:
    message = read(chunk(call("f", id="c1", willContinue=True), call("g", id="c1", args={"b": 1})), END).message
    assert [(block.name, block.arguments) for block in message.tool_calls] == [("g", {"b": 1})]
    assert [block.name for block in message.incomplete_tool_calls] == ["f"]
