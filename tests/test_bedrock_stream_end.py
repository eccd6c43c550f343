"""How an answer of Converse ends: with its counts after the stop, with an exception, or too early."""

from __future__ import annotations

import json

import pytest

from support.bedrock_streams import (
    began,
    called,
    counted,
    deltas,
    error,
    event,
    exception,
    frame,
    said,
    started,
    stopped,
    thought,
)
from support.reading import Outcome, read, reader_of
from thinkaloud.errors import (
    LimitExceeded,
    MalformedStream,
    MalformedToolCall,
    Overloaded,
    ProviderError,
    RateLimited,
    ServerError,
    TruncatedStream,
)
from thinkaloud.events import StreamEnd, UsageUpdate
from thinkaloud.limits import Limits
from thinkaloud.messages import Origin, StopReason
from thinkaloud.protocols.base import ParseContext
from thinkaloud.protocols.reader import Reader
from thinkaloud.protocols.registry import wire_protocol
from thinkaloud.usage import Usage

SAID = started() + said(0, "So.")


def outcome_of(*frames: bytes) -> Outcome:
    return read("bedrock-converse", [b"".join(frames)], provider="bedrock")


# the end and the counts


def test_the_answer_ends_with_the_counts_after_the_stop() -> None:
    reader = reader_of("bedrock-converse", provider="bedrock")
    reader.feed(SAID)
    assert [event for event in reader.feed(stopped("end_turn")) if isinstance(event, StreamEnd)] == []
    assert not reader.ended
    *_, update, end = reader.feed(counted(20, 57))
    assert isinstance(update, UsageUpdate)
    assert isinstance(end, StreamEnd)
    assert reader.ended
    assert end.message is not None
    assert end.message.usage == Usage(input=20, output=57)


def test_counts_before_the_stop_are_as_good() -> None:
    assert (
        outcome_of(SAID, counted(), stopped("end_turn")).finished
        == outcome_of(SAID, stopped("end_turn"), counted()).finished
    )


def test_without_counts_the_end_of_the_body_ends_the_answer() -> None:
    message = outcome_of(SAID, stopped("end_turn")).finished
    assert (message.stop_reason, message.usage) == (StopReason.END, Usage())


def test_a_body_that_is_cut_inside_the_counts_had_its_end() -> None:
    message = outcome_of(SAID, stopped("end_turn"), counted()[:-9]).finished
    assert (message.stop_reason, message.usage) == (StopReason.END, Usage())


def test_counts_without_a_stop_are_no_end() -> None:
    outcome = outcome_of(SAID, counted())
    assert type(outcome.error) is TruncatedStream
    assert outcome.message is not None
    assert outcome.message.usage == Usage(input=20, output=57)


def test_what_comes_after_the_end_is_passed_over() -> None:
    late = exception("internalServerException") + said(5, "late")
    assert outcome_of(SAID, stopped("end_turn"), counted(), late).finished.text == "So."


@pytest.mark.parametrize("cut", [b"", started(), SAID, SAID + said(1, "more")[:-5], SAID + stopped("end_turn")[:50]])
def test_a_body_that_ends_before_the_stop_is_truncated(cut: bytes) -> None:
    assert type(outcome_of(cut).error) is TruncatedStream


def test_a_truncated_answer_keeps_what_had_come_and_closes_it() -> None:
    frames = thought(0, "c2ln", "Hm."), said(1, "So"), began(2, toolUse={"toolUseId": "a", "name": "f"})
    outcome = outcome_of(started(), *frames, deltas(2, {"toolUse": {"input": '{"a"'}}))
    assert type(outcome.error) is TruncatedStream
    message = outcome.message
    assert message is not None
    assert (message.thinking, message.text, message.stop_reason) == ("Hm.", "So", StopReason.ERROR)
    [call] = message.incomplete_tool_calls
    assert (call.name, call.arguments_json) == ("f", '{"a"')


def test_thinking_that_is_cut_off_keeps_the_signature_that_had_come() -> None:
    outcome = outcome_of(started(), thought(0, "c2ln", "Hm")[:-5])
    assert outcome.message is not None
    [thinking] = outcome.message.thinking_blocks
    assert (thinking.text, thinking.signature, thinking.complete) == ("Hm", "c2ln", False)


# stop reasons


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("end_turn", StopReason.END),
        ("stop_sequence", StopReason.STOP_SEQUENCE),
        ("tool_use", StopReason.TOOL_USE),
        ("max_tokens", StopReason.LENGTH),
        ("model_context_window_exceeded", StopReason.LENGTH),
        ("guardrail_intervened", StopReason.CONTENT_FILTER),
        ("content_filtered", StopReason.CONTENT_FILTER),
        ("refusal", StopReason.REFUSAL),
        ("pause_turn", StopReason.PAUSE),
        ("tired", StopReason.UNKNOWN),
    ],
)
def test_every_stop_reason_has_our_word_and_keeps_its_own(word: str, reason: StopReason) -> None:
    message = outcome_of(SAID, stopped(word), counted()).finished
    assert (message.stop_reason, message.raw_stop_reason) == (reason, word)


def test_an_answer_with_calls_that_says_it_ended_wants_its_calls_run() -> None:
    message = outcome_of(started(), called(0, "a", "f", "{}"), stopped("end_turn"), counted()).finished
    assert (message.stop_reason, message.raw_stop_reason) == (StopReason.TOOL_USE, "end_turn")


def test_a_limit_without_any_text_is_told() -> None:
    thinking = outcome_of(started(), thought(0, "c2ln", "Hm"), stopped("max_tokens"), counted()).finished
    assert [notice.code for notice in thinking.notices] == ["answer_truncated"]
    assert outcome_of(SAID, stopped("max_tokens"), counted()).finished.notices == ()


def test_a_call_that_the_limit_cut_is_not_offered() -> None:
    message = outcome_of(started(), called(0, "a", "f", '{"a": "b'), stopped("max_tokens"), counted()).finished
    assert message.tool_calls == ()
    assert [call.arguments_json for call in message.incomplete_tool_calls] == ['{"a": "b']


@pytest.mark.parametrize(
    ("word", "kind"), [("malformed_tool_use", MalformedToolCall), ("malformed_model_output", ServerError)]
)
def test_an_answer_that_the_model_botched_is_a_failure_with_its_counts(word: str, kind: type[ProviderError]) -> None:
    outcome = outcome_of(SAID, called(1, "a", "f", '{"a"'), stopped(word), counted())
    error = outcome.error
    assert type(error) is kind
    assert isinstance(error, ProviderError)
    assert (error.code, error.provider, error.retryable) == (word, "bedrock", True)
    assert outcome.message is not None
    assert (outcome.message.text, outcome.message.tool_calls) == ("So.", ())
    assert outcome.message.usage == Usage(input=20, output=57)


# what the end tells besides


def test_guardrails_and_tiers_are_details_of_the_end() -> None:
    trace = {"guardrail": {"actionReason": "masked"}}
    metadata = event(
        "metadata",
        usage={"inputTokens": 1, "outputTokens": 2},
        metrics={"latencyMs": 5},
        trace=trace,
        serviceTier={"type": "flex"},
        performanceConfig={"latency": "optimized"},
    )
    message = outcome_of(SAID, stopped("guardrail_intervened"), metadata).finished
    assert message.stop_detail == {
        "trace": trace,
        "serviceTier": {"type": "flex"},
        "performanceConfig": {"latency": "optimized"},
    }


def test_claudes_own_fields_tell_the_stop_sequence_and_the_tokens_of_thinking() -> None:
    own = {"delta": {"stop_sequence": "END"}, "usage": {"output_tokens_details": {"thinking_tokens": 40}}}
    message = outcome_of(SAID, stopped("stop_sequence", additionalModelResponseFields=own), counted()).finished
    assert message.stop_detail == {"stop_sequence": "END"}
    assert message.usage == Usage(input=20, output=57, reasoning=40)


def test_fields_that_were_asked_for_are_kept() -> None:
    own = {"usage": {"x": 1}, "trace_id": "t"}
    message = outcome_of(SAID, stopped("end_turn", additionalModelResponseFields=own), counted()).finished
    assert message.stop_detail == {"additionalModelResponseFields": own}


def test_cached_tokens_are_part_of_the_input() -> None:
    cache = {
        "cacheReadInputTokens": 1000,
        "cacheWriteInputTokens": 300,
        "cacheDetails": [{"ttl": "5m", "inputTokens": 100}, {"ttl": "1h", "inputTokens": 200}],
    }
    message = outcome_of(SAID, stopped("end_turn"), counted(20, 57, **cache)).finished
    assert message.usage == Usage(input=1320, output=57, cache_read=1000, cache_write=300, cache_write_1h=200)


def test_the_older_names_of_cached_tokens_count_too() -> None:
    cache = {"cacheReadInputTokenCount": 5, "cacheWriteInputTokenCount": 6}
    message = outcome_of(SAID, stopped("end_turn"), counted(20, 57, **cache)).finished
    assert message.usage == Usage(input=31, output=57, cache_read=5, cache_write=6)


def test_the_request_id_of_the_answer_is_its_id() -> None:
    outcome = read("bedrock-converse", [SAID + stopped("end_turn")], headers={"X-Amzn-RequestId": "req-1"})
    assert outcome.finished.response_id == "req-1"


# failures in the stream


@pytest.mark.parametrize(
    ("name", "kind", "status"),
    [
        ("throttlingException", RateLimited, 429),
        ("serviceUnavailableException", Overloaded, 503),
        ("internalServerException", ServerError, 500),
        ("modelStreamErrorException", ServerError, 424),
    ],
)
def test_an_exception_is_raised_by_its_type_with_what_had_come(
    name: str, kind: type[ProviderError], status: int
) -> None:
    outcome = outcome_of(SAID, deltas(1, {"text": "and"}), exception(name, "so it is"))
    error = outcome.error
    assert type(error) is kind
    assert isinstance(error, ProviderError)
    assert (error.status, error.message, error.code) == (status, "so it is", name[:1].upper() + name[1:])
    assert outcome.message is not None
    assert outcome.message.text == "So.and"


def test_an_exception_before_any_block_leaves_nothing() -> None:
    outcome = outcome_of(started(), exception("throttlingException"))
    assert type(outcome.error) is RateLimited
    assert (outcome.message, outcome.events) == (None, ())


def test_an_exception_after_the_stop_wins_over_it() -> None:
    assert type(outcome_of(SAID, stopped("end_turn"), exception("throttlingException")).error) is RateLimited


def test_an_error_that_is_not_modelled_is_raised_by_its_code() -> None:
    outcome = outcome_of(SAID, error("ThrottlingException", "slow down"))
    assert type(outcome.error) is RateLimited
    assert outcome.error is not None
    assert outcome.error.message == "slow down"


@pytest.mark.parametrize("payload", [b"", b"plain words", b"[1]", b"7"])
def test_an_exception_with_an_odd_payload_is_still_raised(payload: bytes) -> None:
    odd = frame({":exception-type": "throttlingException", ":message-type": "exception"}, payload)
    assert type(outcome_of(SAID, odd).error) is RateLimited


# bytes that make no sense


def test_a_frame_with_a_wrong_checksum_ends_the_answer_with_what_had_come() -> None:
    broken = bytearray(said(1, "more"))
    broken[60] ^= 1
    outcome = outcome_of(SAID, bytes(broken))
    assert type(outcome.error) is MalformedStream
    assert outcome.message is not None
    assert outcome.message.text == "So."


def test_text_in_place_of_frames_is_no_stream() -> None:
    assert type(outcome_of(b"upstream connect error or disconnect").error) is MalformedStream


def test_html_in_place_of_frames_is_no_stream() -> None:
    assert type(outcome_of(b"<html><body>Bad gateway</body></html>").error) is MalformedStream


def test_a_json_error_in_place_of_frames_is_that_error() -> None:
    body = json.dumps({"__type": "ThrottlingException", "message": "slow down"}).encode()
    assert type(outcome_of(body).error) is RateLimited


def test_a_frame_over_the_limit_is_refused() -> None:
    context = ParseContext(origin=Origin("bedrock-converse"))
    reader = Reader(wire_protocol("bedrock-converse"), context, limits=Limits(event_size=1000))
    reader.feed(SAID)
    reader.feed(said(1, "x" * 2000)[:100])
    assert isinstance(reader.error, LimitExceeded)
    assert reader.error.which == "event_size"
    assert reader.error.partial is not None
    assert reader.error.partial.text == "So."
