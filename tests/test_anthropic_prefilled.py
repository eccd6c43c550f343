"""Content inside the opening message: blocks that have begun, which what follows goes on with."""

from __future__ import annotations

from typing import Any

import pytest

from support.anthropic_wire import Payload, closing, delta, end, opening, read, start, text
from thinkaloud.content import Opaque, Text, Thinking, ToolCall

CALL: Payload = {"type": "tool_use", "id": "t1", "name": "rm", "input": {}}


def arguments(index: Any, piece: str) -> Payload:
    return delta(index, type="input_json_delta", partial_json=piece)


@pytest.mark.parametrize("again", [CALL, {**CALL, "input": {"old": 1}}])
@pytest.mark.parametrize("first", [CALL, {**CALL, "input": {"old": 1}}])
@pytest.mark.parametrize("index", [0, None])
def test_arguments_after_a_repeated_call_are_its_own(first: Payload, again: Payload, index: Any) -> None:
    pieces = [opening(index, **again), arguments(index, '{"path":'), arguments(index, '"/x"}'), closing(index)]
    reading = read(start(content=[first]), pieces, end("tool_use"))
    assert reading.content == (ToolCall("t1", name="rm", arguments_json='{"path":"/x"}'),)
    assert reading.codes == []


def test_arguments_without_a_repeated_start_are_its_own() -> None:
    reading = read(start(content=[CALL]), arguments(0, '{"path":"/x"}'), closing(0), end("tool_use"))
    assert reading.content == (ToolCall("t1", name="rm", arguments_json='{"path":"/x"}'),)


def test_a_call_that_nothing_follows_is_no_call_without_arguments() -> None:
    assert read(start(content=[CALL]), end("tool_use")).message.tool_calls == ()
    stopped = read(start(content=[CALL]), closing(0), end("tool_use"))
    assert [call.arguments for call in stopped.message.tool_calls] == [{}]


@pytest.mark.parametrize(
    ("prefilled", "again", "pieces", "whole"),
    [
        ("", "", ["an", "swer"], "answer"),
        ("Hi", "Hi", [" there"], "Hi there"),
        ("Hi", "Hi", [], "Hi"),
        ("Hi", "Hi the", ["re"], "Hi there"),
        ("", "Hi", [" there"], "Hi there"),
    ],
)
def test_text_and_thinking_are_continued_and_not_doubled(
    prefilled: str, again: str, pieces: list[str], whole: str
) -> None:
    deltas = [delta(0, type="text_delta", text=piece) for piece in pieces]
    begun = start(content=[{"type": "text", "text": prefilled}])
    assert read(begun, opening(0, type="text", text=again), deltas, closing(0), end()).content == (Text(whole),)
    deltas = [delta(0, type="thinking_delta", thinking=piece) for piece in pieces]
    deltas.append(delta(0, type="signature_delta", signature="s"))
    begun = start(content=[{"type": "thinking", "thinking": prefilled}])
    reading = read(begun, opening(0, type="thinking", thinking=again), deltas, closing(0), end())
    assert reading.content == (Thinking(whole, signature="s"),)


def test_deltas_without_a_repeated_start_go_on_with_the_text() -> None:
    begun = start(content=[{"type": "text", "text": "Hi"}])
    assert read(begun, delta(0, type="text_delta", text=" there"), closing(0), end()).content == (Text("Hi there"),)


def test_several_blocks_are_each_continued() -> None:
    begun = start(content=[{"type": "text", "text": ""}, CALL])
    blocks = [text(0, "So"), [opening(1, **CALL), arguments(1, '{"a":1}'), closing(1)]]
    reading = read(begun, *blocks, end("tool_use"))
    assert reading.content == (Text("So"), ToolCall("t1", name="rm", arguments_json='{"a":1}'))


def test_another_new_block_closes_what_was_begun() -> None:
    reading = read(start(content=[{"type": "text", "text": "Hi"}]), text(1, "x"), end())
    assert reading.content == (Text("Hi"), Text("x"))
    kinds = reading.kinds()
    assert kinds.index("TextEnd") < len(kinds) - 1 - kinds[::-1].index("TextStart")


def test_another_signature_is_another_thought() -> None:
    begun = start(content=[{"type": "thinking", "thinking": "", "signature": "s1"}])
    reading = read(begun, opening(0, type="thinking", thinking="", signature="s2"), closing(0), end())
    assert reading.content == (Thinking("", signature="s1"), Thinking("", signature="s2"))


def test_a_server_tool_is_continued() -> None:
    use: Payload = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
    reading = read(start(content=[use]), opening(0, **use), arguments(0, '{"q":"x"}'), closing(0), end())
    assert reading.content == (Opaque("anthropic-messages", kind="server_tool_use", data={**use, "input": {"q": "x"}}),)


def test_redacted_thinking_is_told_once() -> None:
    redacted: Payload = {"type": "redacted_thinking", "data": "cmVk"}
    reading = read(start(content=[redacted]), opening(0, **redacted), closing(0), end())
    assert reading.content == (Thinking("", redacted_data="cmVk"),)


def test_a_name_that_comes_with_the_repeated_start_is_the_call_s() -> None:
    pieces = [opening(0, **CALL), arguments(0, '{"a":1}'), closing(0)]
    reading = read(start(content=[{**CALL, "name": ""}]), pieces, end("tool_use"))
    assert reading.content == (ToolCall("t1", name="rm", arguments_json='{"a":1}'),)
    assert reading.codes == []
