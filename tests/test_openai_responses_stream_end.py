"""How answers of the Responses API end: well, by a limit, by an error, or not at all; and what they used."""

from __future__ import annotations

from typing import Any

import pytest

from support.responses_streams import BEGUN, called, ended, said, thought
from support.responses_wire import added, body, delta, end, message_item, read, read_whole
from thinkaloud.errors import (
    AuthenticationError,
    ContentFiltered,
    ContextTooLong,
    InvalidRequest,
    NotFound,
    Overloaded,
    ProviderError,
    QuotaExceeded,
    RateLimited,
    ServerError,
    StaleThinking,
    TruncatedStream,
)
from thinkaloud.messages import StopReason
from thinkaloud.protocols.base import ErrorResponse
from thinkaloud.protocols.openai_responses.errors import error
from thinkaloud.usage import Usage
from thinkaloud.wire.server_event import ServerEvent


@pytest.mark.parametrize(
    ("status", "details", "stop", "raw"),
    [
        ("completed", None, StopReason.END, "completed"),
        ("incomplete", {"reason": "max_output_tokens"}, StopReason.LENGTH, "max_output_tokens"),
        ("incomplete", {"reason": "content_filter"}, StopReason.CONTENT_FILTER, "content_filter"),
        ("incomplete", {"reason": "steered"}, StopReason.UNKNOWN, "steered"),
        ("incomplete", None, StopReason.UNKNOWN, "incomplete"),
        ("completed", {"reason": "max_output_tokens"}, StopReason.LENGTH, "max_output_tokens"),
    ],
)
def test_why_an_answer_ended(status: str, details: Any, stop: StopReason, raw: str) -> None:
    streamed = read(BEGUN, *ended(said(0, "Hi"), status=status, incomplete_details=details))
    whole = read_whole(body(message_item("Hi"), status=status, incomplete_details=details))
    for reading in (streamed, whole):
        assert (reading.message.stop_reason, reading.message.raw_stop_reason) == (stop, raw)
        assert reading.message.stop_detail == ({"incomplete_details": details} if details else None)


def test_a_terminal_event_that_repeats_the_status_of_the_start_is_taken_at_its_word() -> None:
    last = end("completed") | {"response": {"status": "in_progress", "output": []}}
    assert read(BEGUN, *said(0, "Hi"), last).message.raw_stop_reason == "completed"


def test_calls_make_the_end_a_tool_use_but_a_limit_stays_a_limit() -> None:
    call = called(0, "call_a", "add", "{}")
    cut: Any = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    assert read(BEGUN, *ended(call)).message.stop_reason is StopReason.TOOL_USE
    assert read(BEGUN, *ended(call, **cut)).message.stop_reason is StopReason.LENGTH


def test_a_limit_before_any_text_is_told() -> None:
    cut: Any = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    assert read(BEGUN, *ended(thought(0, "Hm"), **cut)).codes == ["answer_truncated"]
    assert read(BEGUN, *ended(said(0, "Hm"), **cut)).codes == []


def test_blocked_filters_are_details_of_the_end_and_others_are_not() -> None:
    details: Any = {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}
    blocked = [{"blocked": True, "source_type": "completion"}]
    reading = read(BEGUN, *ended(said(0, "Hi"), content_filters=blocked, **details))
    assert (reading.message.stop_detail or {})["content_filters"] == blocked
    assert read(BEGUN, *ended(said(0, "Hi"), content_filters=[{"blocked": False}])).message.stop_detail is None


def test_thinking_that_the_server_left_out_is_told() -> None:
    entry = {"id": "rs_9", "type": "reasoning", "action": "removed", "reason": "model_mismatch"}
    reading = read(BEGUN, *ended(said(0, "Hi"), input_transformations=[entry]))
    assert [(n.code, n.path, n.detail) for n in reading.message.notices] == [
        ("thinking_dropped_by_server", "rs_9", entry)
    ]


@pytest.mark.parametrize("last", ["[DONE]", None])
def test_a_stream_without_its_last_event_is_truncated(last: str | None) -> None:
    reading = read(BEGUN, *said(0, "Hi"), *([last] if last else []))
    assert type(reading.error) is TruncatedStream
    assert reading.message.text == "Hi"


def test_an_end_marker_after_the_last_event_is_nothing() -> None:
    assert read(BEGUN, *ended(said(0, "Hi")), "[DONE]").error is None


def test_a_call_that_a_break_cut_is_not_offered() -> None:
    reading = read(BEGUN, *called(0, "call_a", "add", '{"a": 1}')[:-1])
    assert type(reading.error) is TruncatedStream
    assert (reading.message.tool_calls, len(reading.message.incomplete_tool_calls)) == ((), 1)


@pytest.mark.parametrize("status", ["queued", "in_progress"])
def test_a_whole_body_that_is_not_finished_is_truncated(status: str) -> None:
    assert type(read_whole(body(status=status)).error) is TruncatedStream


# errors

BUSY = {"code": "server_is_overloaded", "message": "Busy"}


@pytest.mark.parametrize(
    "event",
    [
        {"type": "error", "code": "server_is_overloaded", "message": "Busy", "param": None},
        {"type": "error", "error": {"type": "server_error", **BUSY, "param": None}},
        {"error": BUSY},
        {"type": "response.output_text.delta", "output_index": 0, "delta": "x", "error": BUSY},
        {"type": "response.failed", "response": {"id": "r", "status": "failed", "error": BUSY}},
        {"type": "response.in_progress", "response": {"id": "r", "error": BUSY}},
        {"type": "response.completed", "response": {"id": "r", "status": "failed", "error": BUSY, "output": []}},
        ServerEvent(event="error", data='{"code": "server_is_overloaded", "message": "Busy"}'),
    ],
)
def test_an_error_in_any_form_is_the_same_error_with_what_had_come(event: Any) -> None:
    reading = read(BEGUN, *said(0, "So far")[:-1], event)
    assert type(reading.error) is Overloaded
    assert (reading.error.message, reading.error.code) == ("Busy", "server_is_overloaded")
    assert reading.message.text == "So far"


def test_an_error_event_with_plain_text_is_an_error() -> None:
    reading = read(BEGUN, ServerEvent(event="error", data="upstream went away"))
    assert type(reading.error) is ServerError
    assert reading.error.message == "openai failed: upstream went away"


@pytest.mark.parametrize("kind", ["failed", "completed", "in_progress"])
def test_an_error_wins_over_the_end_and_keeps_the_usage(kind: str) -> None:
    failed = end(kind, error=BUSY, usage={"input_tokens": 5, "output_tokens": 2})
    reading = read(BEGUN, *said(0, "So"), failed)
    assert type(reading.error) is Overloaded
    assert reading.message.usage == Usage(input=5, output=2)


@pytest.mark.parametrize("status", ["failed", "cancelled"])
def test_a_response_that_failed_without_saying_why_is_an_error(status: str) -> None:
    for reading in (read(BEGUN, end(status)), read_whole(body(status=status))):
        assert isinstance(reading.error, ServerError)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("rate_limit_exceeded", RateLimited),
        ("too_many_requests", RateLimited),
        ("insufficient_quota", QuotaExceeded),
        ("server_error", ServerError),
        ("vector_store_timeout", ServerError),
        ("server_is_overloaded", Overloaded),
        ("context_length_exceeded", ContextTooLong),
        ("invalid_prompt", InvalidRequest),
        ("invalid_image_url", InvalidRequest),
        ("image_too_large", InvalidRequest),
        ("previous_response_not_found", InvalidRequest),
        ("bio_policy", ContentFiltered),
        ("misalignment_policy_violation", ContentFiltered),
        ("model_not_found", NotFound),
        ("invalid_api_key", AuthenticationError),
        ("invalid_encrypted_content", StaleThinking),
    ],
)
def test_a_code_is_the_same_error_inside_a_stream_and_as_a_status(code: str, kind: type[ProviderError]) -> None:
    told = {"code": code, "message": "it is so"}
    streamed = read(BEGUN, {"type": "error", **told}).error
    failed = read(BEGUN, end("failed", error=told)).error
    whole = read_whole(body(status="failed", error=told)).error
    answered = error(ErrorResponse(body={"error": told}, status=400))
    assert {type(found) for found in (streamed, failed, whole, answered)} == {kind}
    assert answered.code == code


@pytest.mark.parametrize(
    "message",
    [
        "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
        "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
        "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.",
        "The encrypted content gAAA... could not be verified. Reason: it could not be decrypted or parsed.",
        "The reasoning_text in the thinking mode must be passed back to the API.",
    ],
)
def test_thinking_that_is_refused_is_stale(message: str) -> None:
    told = {"message": message, "type": "invalid_request_error", "param": "input", "code": None}
    found = error(ErrorResponse(body={"error": told}, status=400))
    assert (type(found), found.retryable) == (StaleThinking, False)


def test_an_http_error_says_what_it_knows() -> None:
    response = ErrorResponse(
        body={"error": {"message": "Slow down.", "type": "requests", "code": "rate_limit_exceeded"}},
        status=429,
        headers={"retry-after": "2", "x-request-id": "req_1"},
        provider="openai",
    )
    found = error(response)
    assert (type(found), found.retry_after, found.request_id, found.provider) == (RateLimited, 2.0, "req_1", "openai")
    assert found.body == response.body


# usage


def test_usage_comes_with_the_end_in_the_librarys_meaning() -> None:
    usage = {
        "input_tokens": 40,
        "input_tokens_details": {"cached_tokens": 8, "cache_write_tokens": 4},
        "output_tokens": 210,
        "output_tokens_details": {"reasoning_tokens": 192},
        "total_tokens": 250,
    }
    expected = Usage(input=40, output=210, reasoning=192, cache_read=8, cache_write=4)
    assert read(BEGUN, *ended(said(0, "Hi"), usage=usage)).message.usage == expected
    assert read_whole(body(message_item("Hi"), usage=usage)).message.usage == expected


@pytest.mark.parametrize("usage", [None, {}])
def test_usage_that_nobody_tells_is_unknown(usage: Any) -> None:
    assert read(BEGUN, *ended(said(0, "Hi"), usage=usage)).message.usage == Usage()


@pytest.mark.parametrize(("stated", "usd"), [({"cost": 0.25}, 0.25), ({"cost_in_usd_ticks": 5_000_000}, 0.0005)])
def test_a_price_that_the_provider_states_is_kept(stated: Any, usd: float) -> None:
    assert read(BEGUN, *ended(said(0, "Hi"), usage=stated)).message.usage.billed_usd == usd


def test_nothing_is_told_before_the_first_block() -> None:
    assert read(BEGUN, added(0, type="message", id="m", content=[])).events == []
    kinds = read(BEGUN, added(0, type="message", id="m"), delta("output_text", 0, "Hi", content_index=0)).kinds()
    assert kinds[:2] == ["StreamStart", "TextStart"]


def test_the_start_names_the_response_and_the_model_that_answers() -> None:
    message = read(BEGUN, *ended(said(0, "Hi"))).message
    assert (message.response_id, message.origin.model, message.origin.provider) == ("resp_a", "m", "openai")
