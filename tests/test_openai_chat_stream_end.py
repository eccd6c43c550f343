"""How a chat completion ends: well, cut off, or with an error, wherever the error stands."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.chat_wire import DONE, body, call, calls, chunk, parser, read, read_whole, sse, stop
from thinkaloud.content import Text, ToolCall
from thinkaloud.errors import (
    InvalidRequest,
    MalformedStream,
    MalformedToolCall,
    Overloaded,
    ProviderError,
    RateLimited,
    ServerError,
    TruncatedStream,
)
from thinkaloud.messages import StopReason
from thinkaloud.models.dialect import Dialect
from thinkaloud.wire.server_event import ServerEvent


@pytest.mark.parametrize(
    ("raw", "ours"),
    [
        ("stop", StopReason.END),
        ("eos", StopReason.END),
        ("end_turn", StopReason.END),
        ("stop_sequence", StopReason.STOP_SEQUENCE),
        ("length", StopReason.LENGTH),
        ("model_length", StopReason.LENGTH),
        ("model_context_window_exceeded", StopReason.LENGTH),
        ("tool_calls", StopReason.TOOL_USE),
        ("function_call", StopReason.TOOL_USE),
        ("content_filter", StopReason.CONTENT_FILTER),
        ("sensitive", StopReason.CONTENT_FILTER),
        ("guardrail_intervened", StopReason.CONTENT_FILTER),
        ("refusal", StopReason.REFUSAL),
        ("something_new", StopReason.UNKNOWN),
    ],
)
def test_every_finish_reason_has_our_word_beside_the_provider_s(raw: str, ours: StopReason) -> None:
    message = read(chunk(content="x"), stop(raw), DONE).message
    assert (message.stop_reason, message.raw_stop_reason) == (ours, raw)


def test_the_first_finish_reason_counts() -> None:
    usage_chunk = chunk(None, content="", top={"usage": {"prompt_tokens": 1}})
    message = read(chunk(content="x"), stop("length"), stop("stop"), usage_chunk, DONE).message
    assert message.raw_stop_reason == "length"


def test_an_empty_finish_reason_is_none_while_another_may_come() -> None:
    reading = read(
        calls(call(0, "a", "f", '{"x":')), chunk("", content=""), calls(call(0, None, None, "1}")), stop("tool_calls")
    )
    assert reading.content == (ToolCall("a", name="f", arguments_json='{"x":1}'),)
    assert reading.message.raw_stop_reason == "tool_calls"
    assert isinstance(read(chunk("", content="x")).error, TruncatedStream)


def test_an_empty_finish_reason_stays_the_provider_s_word_where_no_other_comes() -> None:
    """Seen at Snowflake."""
    message = read_whole(body("", content="x")).message
    assert (message.stop_reason, message.raw_stop_reason) == (StopReason.END, "")


@pytest.mark.parametrize("word", ["null", "None", "none", "NULL", "undefined"])
def test_a_placeholder_is_no_finish_reason(word: str) -> None:
    assert isinstance(read(chunk(word, content="The answer is")).error, TruncatedStream)
    half = read(calls(call(0, "a", "f", '{"x":')), stop(word), DONE)
    assert isinstance(half.error, TruncatedStream)
    assert read(chunk(word, content="x"), stop("length")).message.stop_reason is StopReason.LENGTH
    message = read(chunk(word, content="x"), DONE).message
    assert (message.stop_reason, message.raw_stop_reason) == (StopReason.END, word)


def test_the_first_known_finish_reason_wins_over_unknown_words_before_it() -> None:
    message = read(chunk("in_progress", content="a"), chunk("in_progress", content="b"), stop("length")).message
    assert (message.text, message.raw_stop_reason) == ("ab", "length")
    assert read(chunk(content="x"), stop("new"), stop("newer")).message.raw_stop_reason == "new"


def test_an_unknown_word_that_the_answer_goes_on_after_does_not_end_it() -> None:
    reading = read(chunk("in_progress", content="a"), chunk("in_progress", content="b"))
    assert isinstance(reading.error, TruncatedStream)
    assert read(chunk("new", content="a"), chunk(None, role="assistant", content="")).error is None


@pytest.mark.parametrize("end", [[], [DONE]])
@pytest.mark.parametrize("word", ["tool_calls", "stop"])
def test_fragments_after_the_finish_reason_are_not_covered_by_it(word: str, end: list[str]) -> None:
    late = calls(call(0, "a", "f", '{"x":'))
    reading = read(stop(word), late, *end)
    assert reading.content == (ToolCall("a", name="f", arguments_json='{"x":', complete=False),)
    rest = calls(call(0, arguments="1}"))
    assert read(stop(word), late, rest, *end).content == (ToolCall("a", name="f", arguments_json='{"x":1}'),)


def test_without_the_marker_a_half_call_is_not_complete_whatever_the_finish_reason() -> None:
    half = ToolCall("a", name="f", arguments_json='{"x":', complete=False)
    assert read(calls(call(0, "a", "f", '{"x":')), stop("tool_calls")).content == (half,)
    legacy = read(chunk("function_call"), chunk(function_call={"name": "f", "arguments": '{"x":'}))
    assert [block.complete for block in legacy.content] == [False]


def test_the_marker_ends_the_answer_and_what_follows_is_passed_over() -> None:
    reading = read(chunk(content="x"), "[DONE] ", "{no json", chunk(content="more"))
    assert (reading.content, reading.message.stop_reason) == ((Text("x"),), StopReason.END)


def test_the_end_of_the_body_after_a_finish_reason_is_a_success() -> None:
    assert read(chunk(content="x"), stop()).message.stop_reason is StopReason.END


def test_neither_finish_reason_nor_marker_is_a_truncated_stream() -> None:
    reading = read(chunk(content="The answer is"), chunk(content=" fo"))
    assert isinstance(reading.error, TruncatedStream)
    assert reading.content == (Text("The answer is fo", complete=False),)


def test_a_body_without_anything_is_a_truncated_stream() -> None:
    reading = read()
    assert isinstance(reading.error, TruncatedStream)
    assert reading.events == []


def test_a_lenient_dialect_takes_the_end_of_the_body_for_the_end_of_the_answer() -> None:
    lenient = Dialect(lenient_end=True)
    assert read(chunk(content="x"), dialect=lenient).message.stop_reason is StopReason.END
    half = read(calls(call(0, "a", "f", '{"x":')), dialect=lenient)
    assert isinstance(half.error, TruncatedStream)


def test_a_limit_before_any_text_is_told() -> None:
    assert read(chunk(reasoning="still thi"), stop("length")).codes == ["answer_truncated"]
    assert read(stop("length")).codes == ["answer_truncated"]
    assert read(chunk(content="some"), stop("length")).codes == []


def test_what_a_filter_found_is_kept() -> None:
    found = {"hate": {"filtered": True, "severity": "high"}}
    safe = chunk(content="x", choice={"content_filter_results": {"hate": {"filtered": False, "severity": "safe"}}})
    message = read(safe, chunk("content_filter", choice={"content_filter_results": found})).message
    assert (message.stop_reason, message.stop_detail) == (StopReason.CONTENT_FILTER, {"content_filter_results": found})
    assert read(safe, chunk("stop", choice={"content_filter_results": {}})).message.stop_detail is None


# errors inside a 200 stream


def failed(*payloads: Any) -> ProviderError:
    error = read(*payloads).error
    assert isinstance(error, ProviderError)
    return error


def test_an_error_in_a_chunk_ends_the_stream_and_keeps_what_came() -> None:
    reading = read(chunk(content="one "), {"error": {"type": "rate_limit_error", "message": "slow", "code": 429}}, DONE)
    assert isinstance(reading.error, RateLimited)
    assert (reading.error.message, reading.error.status, reading.error.provider) == ("slow", 429, "openrouter")
    assert reading.content == (Text("one ", complete=False),)


def test_an_error_wins_over_the_choices_beside_it_and_its_usage_counts() -> None:
    broken = chunk("stop", content="no", top={"error": {"code": 502, "message": "gone"}, "usage": {"prompt_tokens": 4}})
    reading = read(chunk(content="yes"), broken)
    assert isinstance(reading.error, ServerError)
    assert (reading.message.text, reading.message.usage.input) == ("yes", 4)


def test_an_error_with_finish_reason_error_leaves_the_call_incomplete() -> None:
    broken = chunk(
        "error",
        top={"error": {"code": 502, "message": "upstream closed", "metadata": {"error_type": "provider_unavailable"}}},
    )
    reading = read(calls(call(0, "a", "f", '{"x":"ls')), broken)
    assert isinstance(reading.error, ServerError)
    assert reading.error.code == "provider_unavailable"
    assert reading.content == (ToolCall("a", name="f", arguments_json='{"x":"ls', complete=False),)


def test_an_event_named_error_is_an_error() -> None:
    told = {"message": "no call", "type": "invalid_request_error", "code": "tool_use_failed", "failed_generation": "x"}
    data = json.dumps({"error": {**told, "status_code": 400}})
    error = failed(chunk(content="maybe"), ServerEvent(event="error", data=data))
    assert isinstance(error, MalformedToolCall)
    assert error.retryable
    assert error.body["error"]["failed_generation"] == "x"


def test_an_event_named_error_need_not_be_json() -> None:
    error = failed(ServerEvent(event="error", data="failed to decode"))
    assert (type(error), error.message, error.retryable) == (ServerError, "openrouter failed: failed to decode", True)


@pytest.mark.parametrize(
    "payload",
    [
        {"error": "out of memory"},
        {"code": "x", "error": "out of memory"},
        {"object": "error", "message": "out of memory", "code": 500},
        {"detail": "out of memory"},
        {"message": "out of memory", "request_id": "r"},
        {"errors": [{"message": "out of memory"}]},
        {"x_groq": {"id": "r", "error": "out of memory"}, "choices": []},
        {"choices": [{"index": 0, "delta": {}, "error": {"message": "out of memory"}}]},
    ],
)
def test_errors_are_seen_in_every_shape(payload: dict[str, Any]) -> None:
    error = failed(chunk(content="x"), payload)
    assert (type(error), error.message) == (ServerError, "out of memory")


def test_a_list_of_errors_is_an_error() -> None:
    """Seen at Gemini's OpenAI endpoint."""
    error = failed('[{"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}]')
    assert (type(error), error.status, error.message) == (Overloaded, 503, "busy")


def test_fields_named_error_without_content_are_none() -> None:
    empty: dict[str, Any] = {"error": {"message": "", "code": None}}
    assert read(chunk(content="x", top={"error": None}), stop(**empty)).message.text == "x"


@pytest.mark.parametrize("word", ["error", "network_error", "insufficient_system_resource", "abort", "repetition"])
def test_a_finish_reason_that_means_failure_is_an_error_after_what_came_with_it(word: str) -> None:
    reading = read(chunk(content="a"), chunk(word, content="b", top={"usage": {"prompt_tokens": 4}}))
    assert isinstance(reading.error, ServerError | Overloaded)
    assert reading.error.retryable
    assert (reading.message.text, reading.message.usage.input) == ("ab", 4)


def test_an_error_overrides_an_earlier_finish_reason() -> None:
    reading = read(chunk(content="x"), stop("length"), {"error": {"code": 400, "message": "limit"}}, DONE)
    assert isinstance(reading.error, InvalidRequest)


def test_a_parser_is_dead_after_an_error() -> None:
    dead = parser()
    with pytest.raises(ServerError) as first:
        dead.feed(sse({"error": {"message": "x", "code": 500}}))
    with pytest.raises(ServerError) as second:
        dead.feed(sse(chunk(content="x")))
    assert first.value is second.value


# whole bodies


def test_a_whole_body_is_read() -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}
    message = read_whole(body("stop", content="Hi", refusal=None, annotations=[], top={"usage": usage})).message
    assert (message.text, message.stop_reason, message.response_id) == ("Hi", StopReason.END, "chatcmpl-1")
    assert (message.usage.input, message.usage.output) == (5, 3)


def test_a_whole_body_that_is_an_error_is_one() -> None:
    assert isinstance(read_whole({"error": {"message": "no", "code": 429}}).error, RateLimited)
    busy = read_whole({"code": "The service is currently unavailable", "error": "try later"}).error
    assert isinstance(busy, Overloaded)
    assert isinstance(read_whole({"choices": None, "error": {"message": "no", "code": 400}}).error, InvalidRequest)


@pytest.mark.parametrize("choices", [None, []])
def test_a_whole_body_without_choices_may_be_tried_again(choices: Any) -> None:
    error = read_whole({"id": "x", "choices": choices, "usage": None}).error
    assert isinstance(error, ServerError)
    assert (error.retryable, error.code) == (True, "no_choices")


def test_a_completion_one_level_deeper_is_found() -> None:
    """Seen at OpenRouter."""
    assert read_whole({"id": "x", "choices": None, "provider": body(content="Hi")}).message.text == "Hi"


def test_a_whole_body_that_is_no_object_is_malformed() -> None:
    assert isinstance(read_whole([1]).error, MalformedStream)
    assert isinstance(read_whole("text").error, MalformedStream)


def test_a_whole_body_ended_by_the_limit_keeps_half_a_call_incomplete() -> None:
    message = read_whole(body("length", tool_calls=[call(0, "a", "f", '{"x":')])).message
    assert (message.stop_reason, message.tool_calls) == (StopReason.LENGTH, ())
