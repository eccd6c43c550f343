"""Claude through InvokeModelWithResponseStream: events of the Messages API, packed into frames."""

from __future__ import annotations

import pytest

from support.bedrock_streams import INVOKED, chunk, counted, event, exception
from support.reading import byte_by_byte, one_piece, read
from support.streams import anthropic
from support.streams import said as text
from support.streams import started as opening
from support.streams import stopped as ending
from thinkaloud.content import Text, Thinking, ToolCall
from thinkaloud.errors import MalformedStream, Overloaded, RateLimited, TruncatedStream
from thinkaloud.messages import StopReason
from thinkaloud.testing import conformance
from thinkaloud.usage import Usage

[ANSWER] = INVOKED.values()
EVENTS = [opening(input_tokens=5), *text(0, "So", " it is."), *ending("end_turn", output_tokens=3)]
PACKED = b"".join(chunk(item) for item in EVENTS)


def test_chunks_are_read_by_the_parser_of_the_messages_api() -> None:
    message = read("anthropic-messages", one_piece(ANSWER)).finished
    assert message.content == (
        Thinking.signed("Hm, größe.", "c2lnbmF0dXJl+/=="),
        Text("So 😀."),
        ToolCall("toolu_bdrk_a", name="add", arguments_json='{"a": 1}'),
    )
    assert (message.response_id, message.stop_reason) == ("msg_bdrk_a", StopReason.TOOL_USE)
    assert message.usage == Usage(input=5, output=9)
    assert message.notices == ()


def test_packed_and_plain_events_give_the_same_message() -> None:
    plain = read("anthropic-messages", one_piece(anthropic(*EVENTS))).finished
    assert read("anthropic-messages", one_piece(PACKED)).finished == plain
    assert read("anthropic-messages", byte_by_byte(PACKED)).finished == plain


def test_a_packed_answer_keeps_every_rule() -> None:
    assert conformance("anthropic-messages", ANSWER).text == "So 😀."


def test_a_body_that_ends_inside_a_frame_is_truncated() -> None:
    outcome = read("anthropic-messages", one_piece(b"".join(chunk(item) for item in EVENTS[:3]) + chunk({})[:-3]))
    assert type(outcome.error) is TruncatedStream
    assert outcome.message is not None
    assert outcome.message.text == "So"


@pytest.mark.parametrize(
    ("name", "kind"), [("throttlingException", RateLimited), ("serviceUnavailableException", Overloaded)]
)
def test_an_exception_among_the_chunks_is_raised_with_what_had_come(name: str, kind: type[Exception]) -> None:
    outcome = read("anthropic-messages", one_piece(b"".join(chunk(item) for item in EVENTS[:3]) + exception(name)))
    assert type(outcome.error) is kind
    assert outcome.message is not None
    assert outcome.message.text == "So"


def test_an_error_of_the_messages_api_inside_a_chunk_is_raised() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    outcome = read("anthropic-messages", one_piece(chunk(EVENTS[0]) + chunk(error)))
    assert type(outcome.error) is Overloaded


def test_chunks_without_a_type_and_frames_of_other_types_are_told_and_passed_over() -> None:
    odd = chunk({"amazon-bedrock-invocationMetrics": {"inputTokenCount": 5}}) + event("weather") + counted()
    message = read("anthropic-messages", one_piece(chunk(EVENTS[0]) + odd + PACKED[len(chunk(EVENTS[0])) :])).finished
    assert message.text == "So it is."
    assert {notice.code for notice in message.notices} == {"unknown_event"}


def test_a_broken_frame_is_no_stream() -> None:
    broken = bytearray(PACKED)
    broken[100] ^= 1
    assert type(read("anthropic-messages", one_piece(bytes(broken))).error) is MalformedStream


def test_chunks_of_chat_completions_are_unpacked_too() -> None:
    piece = {"choices": [{"index": 0, "delta": {"content": "So."}, "finish_reason": "stop"}]}
    assert read("openai-chat", one_piece(chunk(piece))).finished.text == "So."
    failed = read("openai-chat", one_piece(exception("throttlingException", "slow down"))).error
    assert failed is not None
    assert failed.message == "slow down"
