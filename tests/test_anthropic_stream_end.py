"""How an answer of the Messages API ends: well, cut off, or with an error."""

from __future__ import annotations

import pytest

from support.anthropic_wire import (
    Payload,
    closing,
    delta,
    end,
    opening,
    parser,
    read,
    sse,
    start,
    text,
    thinking,
    tool_use,
)
from thinkaloud.content import Opaque, Text, Thinking, ToolCall
from thinkaloud.errors import (
    InvalidRequest,
    MalformedStream,
    Overloaded,
    ProviderError,
    RateLimited,
    ServerError,
    TruncatedStream,
)
from thinkaloud.messages import StopReason
from thinkaloud.wire.server_event import ServerEvent

pytestmark = pytest.mark.usefixtures("json_decoder")


@pytest.mark.parametrize(
    ("raw", "ours"),
    [
        ("end_turn", StopReason.END),
        ("max_tokens", StopReason.LENGTH),
        ("model_context_window_exceeded", StopReason.LENGTH),
        ("stop_sequence", StopReason.STOP_SEQUENCE),
        ("tool_use", StopReason.TOOL_USE),
        ("pause_turn", StopReason.PAUSE),
        ("refusal", StopReason.REFUSAL),
        ("sensitive", StopReason.REFUSAL),
        ("compaction", StopReason.END),
        ("something_new", StopReason.UNKNOWN),
    ],
)
def test_every_stop_reason_has_our_word_beside_the_provider_s(raw: str, ours: StopReason) -> None:
    message = read(start(), text(0, "x"), end(raw)).message
    assert (message.stop_reason, message.raw_stop_reason) == (ours, raw)


def test_message_stop_without_a_stop_reason_is_an_unknown_end() -> None:
    message = read(start(), text(0, "x"), {"type": "message_stop"}).message
    assert (message.stop_reason, message.raw_stop_reason) == (StopReason.UNKNOWN, None)


def test_the_end_of_the_body_after_a_stop_reason_is_a_success() -> None:
    message = read(start(), text(0, "x"), end()[0]).message
    assert message.stop_reason is StopReason.END


def test_an_end_turn_right_after_a_call_waits_for_its_result() -> None:
    assert read(start(), tool_use(0, "{}"), end("end_turn")).message.stop_reason is StopReason.TOOL_USE
    answered = read(start(), tool_use(0, "{}"), text(1, "done"), end("end_turn"))
    assert answered.message.stop_reason is StopReason.END


def test_a_limit_without_any_text_is_told() -> None:
    assert read(start(), thinking(0, "still thi"), end("max_tokens")).codes == ["answer_truncated"]
    assert read(start(), text(0, "some"), end("max_tokens")).codes == []
    assert read(start(), opening(0, type="text", text="open"), end("max_tokens")).codes == []


def test_stop_details_of_a_refusal_are_kept() -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": None}
    message = read(start(), end("refusal", stop_details=details)).message
    assert message.content == ()
    assert message.stop_detail == {"stop_details": details}


def test_the_stop_sequence_that_was_met_is_kept() -> None:
    message = read(start(), text(0, "x"), end("stop_sequence", stop_sequence="END")).message
    assert message.stop_detail == {"stop_sequence": "END"}


def test_container_and_context_management_are_kept() -> None:
    container = {"id": "container_1", "expires_at": "2026-01-01T00:00:00Z"}
    last, stop = end("end_turn", container=container)
    message = read(start(), text(0, "x"), {**last, "context_management": {"applied_edits": [1]}}, stop).message
    assert message.stop_detail == {"container": container, "context_management": {"applied_edits": [1]}}


def test_thinking_that_the_server_dropped_is_told_with_path_and_reason() -> None:
    dropped = {"type": "thinking_dropped", "path": "messages.1.content.0", "reason": "model_binding_mismatch"}
    reading = read(start(input_transformations=[dropped, {"type": "novel", "path": "x"}]), text(0, "x"), end())
    (notice,) = reading.message.notices
    assert (notice.code, notice.path) == ("thinking_dropped_by_server", "messages.1.content.0")
    assert "model_binding_mismatch" in notice.text
    assert reading.message.stop_detail is not None


def test_what_a_fallback_tells_again_about_dropped_thinking_is_told_once() -> None:
    dropped = {"type": "thinking_dropped", "path": "messages.1.content.0", "reason": "model_binding_mismatch"}
    last, stop = end()
    again = {**last, "input_transformations": [dropped]}
    reading = read(start(input_transformations=[dropped]), text(0, "x"), again, stop)
    assert reading.codes == ["thinking_dropped_by_server"]


def test_a_pause_keeps_the_call_of_the_server_tool() -> None:
    use: Payload = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"q": "x"}}
    message = read(start(), opening(0, **use), closing(0), end("pause_turn")).message
    assert message.stop_reason is StopReason.PAUSE
    assert message.content == (Opaque("anthropic-messages", kind="server_tool_use", data=use),)


CUTS: list[tuple[list[Payload], tuple[object, ...]]] = [
    ([], ()),
    ([start()], ()),
    ([start(), *thinking(0, "half", signature="s")[:2]], (Thinking("half", complete=False),)),
    ([start(), *text(0, "half")[:2]], (Text("half", complete=False),)),
    ([start(), *text(0, "whole")], (Text("whole"),)),
    (
        [start(), *tool_use(0, '{"a":1}')[:2]],
        (ToolCall("toolu_1", name="add", arguments_json='{"a":1}', complete=False),),
    ),
    (
        [start(), *tool_use(0, input={"a": 1})[:1]],
        (ToolCall("toolu_1", name="add", arguments_json='{"a":1}', complete=False),),
    ),
    (
        [start(), opening(0, type="novelty", v=1)],
        (Opaque("anthropic-messages", kind="novelty", data={"type": "novelty", "v": 1}, complete=False),),
    ),
    ([start(), opening(0, type="redacted_thinking", data="b3A=")], (Thinking("", redacted_data="b3A="),)),
]


@pytest.mark.parametrize(("payloads", "content"), CUTS)
def test_the_end_of_the_body_without_an_end_is_truncation(payloads: list[Payload], content: tuple[object, ...]) -> None:
    reading = read(payloads)
    assert isinstance(reading.error, TruncatedStream)
    assert reading.content == content


def test_a_call_that_was_closed_before_the_cut_is_not_offered_unless_it_is_whole() -> None:
    assert read(start(), tool_use(0, '{"a":')).message.tool_calls == ()
    assert len(read(start(), tool_use(0, '{"a":1}')).message.tool_calls) == 1


@pytest.mark.parametrize(
    ("word", "kind", "status"),
    [
        ("overloaded_error", Overloaded, 529),
        ("rate_limit_error", RateLimited, 429),
        ("api_error", ServerError, 500),
        ("invalid_request_error", InvalidRequest, 400),
    ],
)
def test_an_error_event_is_the_error_its_status_would_be(word: str, kind: type[ProviderError], status: int) -> None:
    failure = {"type": "error", "error": {"type": word, "message": "said so"}, "request_id": "req_1"}
    reading = read(start(), text(0, "Partial")[:2], failure)
    error = reading.error
    assert type(error) is kind
    assert isinstance(error, ProviderError)
    assert (error.status, error.code, error.request_id, error.message) == (status, word, "req_1", "said so")
    assert reading.content == (Text("Partial", complete=False),)


def test_an_error_as_the_first_event_comes_before_anything_is_handed_out() -> None:
    reading = read({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}})
    assert isinstance(reading.error, Overloaded)
    assert reading.events == []


def test_an_error_after_the_stop_reason_still_wins() -> None:
    failure = {"type": "error", "error": {"type": "api_error", "message": "late"}}
    assert isinstance(read(start(), text(0, "x"), end()[0], failure).error, ServerError)


def test_an_error_inside_an_end_marker_wins() -> None:
    failure = {"type": "message_stop", "error": {"type": "overloaded_error", "message": "busy"}}
    assert isinstance(read(start(), text(0, "x"), end()[0], failure).error, Overloaded)


def test_an_error_beside_a_delta_wins() -> None:
    failure = {**delta(0, type="text_delta", text="y"), "error": {"type": "overloaded_error", "message": "busy"}}
    reading = read(start(), text(0, "x")[:2], failure)
    assert isinstance(reading.error, Overloaded)
    assert reading.content == (Text("x", complete=False),)


def test_a_field_named_error_that_is_null_is_no_error() -> None:
    assert read(start(), text(0, "x")[0], {**text(0, "x")[1], "error": None}, end()).content == (Text("x"),)
    assert read(start(), text(0, "x"), {**end()[0], "error": None}).error is None


@pytest.mark.parametrize(
    "event",
    [
        ServerEvent(event="error", data='{"error": {"code": 503, "message": "no room", "status": "UNAVAILABLE"}}'),
        ServerEvent(data='[{"error": {"code": 503, "message": "no room", "status": "UNAVAILABLE"}}]'),
        ServerEvent(event="error", data='{"type": "overloaded_error", "message": "no room"}'),
    ],
)
def test_errors_of_other_shapes_inside_a_stream_are_typed(event: ServerEvent) -> None:
    reading = read(start(), event)
    assert isinstance(reading.error, Overloaded)
    assert reading.error.message == "no room"


def test_an_error_event_without_json_keeps_its_text() -> None:
    error = read(start(), ServerEvent(event="error", data="upstream gone")).error
    assert isinstance(error, ProviderError)
    assert error.message == "anthropic failed: upstream gone"


def test_a_dead_parser_raises_the_same_error_again() -> None:
    dead = parser()
    with pytest.raises(Overloaded) as first:
        dead.feed(sse({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}))
    with pytest.raises(Overloaded) as second:
        dead.feed(sse(start()))
    assert first.value is second.value


def test_what_comes_after_the_end_is_passed_over() -> None:
    assert read(start(), text(0, "x"), end(), text(1, "more"), "[DONE]").content == (Text("x"),)


def test_a_gateway_s_done_marker_is_no_end_of_its_own() -> None:
    assert read(start(), text(0, "x"), end()[0], "[DONE]").error is None
    assert isinstance(read(start(), text(0, "x"), "[DONE]").error, TruncatedStream)


@pytest.mark.parametrize("data", ["no json", "17", "null", '"text"', "[1]", ""])
def test_data_that_is_no_object_is_malformed(data: str) -> None:
    assert isinstance(read(start(), ServerEvent(data=data)).error, MalformedStream)


def test_a_half_delivered_surrogate_ends_as_a_replacement_character() -> None:
    half = '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\\ud83d"}}'
    reading = read(start(), opening(0, type="text", text=""), half)
    assert reading.content == (Text("a\ufffd", complete=False),)
