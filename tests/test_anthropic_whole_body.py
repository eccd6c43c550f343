"""A whole body gives the same message as the stream of the same answer, because the same readers read it."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from support.anthropic_wire import closing, end, opening, read, read_whole, start, text, thinking, tool_use
from thinkaloud.content import Thinking, ToolCall
from thinkaloud.errors import InvalidRequest, MalformedStream, Overloaded, RateLimited
from thinkaloud.messages import StopReason

USAGE = {"input_tokens": 9, "output_tokens": 7}


def body(*content: dict[str, Any], reason: str | None = "end_turn", **fields: Any) -> dict[str, Any]:
    answer = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-answering"}
    return {**answer, "content": list(content), "stop_reason": reason, "stop_sequence": None, "usage": USAGE, **fields}


def test_whole_and_streamed_are_one_message() -> None:
    search = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"q": "x"}}
    cited = {"type": "char_location", "cited_text": "x"}
    streamed = read(
        start(),
        thinking(0, "a", "b", signature="s"),
        [opening(1, type="redacted_thinking", data="cmVk"), closing(1)],
        thinking(2, signature="withheld"),
        [opening(3, **search), closing(3)],
        [opening(4, type="text", text="", citations=[cited]), *text(4, "t")[1:]],
        tool_use(5, '{"a":1}', caller={"type": "direct"}),
        end("tool_use"),
    )
    whole = read_whole(
        body(
            {"type": "thinking", "thinking": "ab", "signature": "s"},
            {"type": "redacted_thinking", "data": "cmVk"},
            {"type": "thinking", "thinking": "", "signature": "withheld"},
            search,
            {"type": "text", "text": "t", "citations": [cited]},
            {"type": "tool_use", "id": "toolu_1", "name": "add", "input": {"a": 1}, "caller": {"type": "direct"}},
            reason="tool_use",
        )
    )
    assert whole.message == streamed.message
    assert whole.message.content_digest == streamed.message.content_digest


def test_arguments_keep_all_digits() -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"n": 123456789012345678901234567890}}
    assert read_whole(body(call, reason="tool_use")).message.tool_calls[0].arguments == call["input"]


def test_an_unsigned_block_of_a_compatible_server_is_read() -> None:
    assert read_whole(body({"type": "thinking", "thinking": "a"})).content == (Thinking("a"),)


def test_a_call_without_input_is_complete() -> None:
    reading = read_whole(body({"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}, reason="tool_use"))
    assert reading.content == (ToolCall("toolu_1", name="f"),)


def test_stop_details_come_from_the_body() -> None:
    message = read_whole(body(reason="refusal", stop_details={"category": "bio"}, container={"id": "c"})).message
    assert message.stop_reason is StopReason.REFUSAL
    assert message.stop_detail == {"stop_details": {"category": "bio"}, "container": {"id": "c"}}


def test_a_body_without_a_stop_reason_has_an_unknown_end() -> None:
    assert read_whole(body({"type": "text", "text": "x"}, reason=None)).message.stop_reason is StopReason.UNKNOWN


def test_content_inside_the_opening_message_is_taken_once() -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": "add", "input": {"n": 123456789012345678901234567890}}
    inside = read(start(content=[call]), end("tool_use"))
    repeated = read(start(content=[call]), tool_use(0), end("tool_use"))
    assert inside.message.tool_calls[0].arguments == call["input"]
    assert repeated.message == evolve(inside.message)


def test_content_after_that_of_the_opening_message_comes_behind_it() -> None:
    reading = read(start(content=[{"type": "text", "text": "a"}]), text(0, "b"), end())
    assert reading.message.text == "ab"


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        ({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}, Overloaded),
        ({"error": {"type": "invalid_request_error", "message": "no"}}, InvalidRequest),
        ([{"error": {"code": 429, "message": "slow down", "status": "RESOURCE_EXHAUSTED"}}], RateLimited),
    ],
)
def test_an_error_body_in_a_200_is_the_typed_error(failure: Any, kind: type[Exception]) -> None:
    assert type(read_whole(failure).error) is kind


@pytest.mark.parametrize("value", [None, 1, "x", [], [1], {}, {"content": None}, {"content": "x"}, {"content": [1]}])
def test_what_is_no_message_is_malformed(value: Any) -> None:
    assert isinstance(read_whole(value).error, MalformedStream)
