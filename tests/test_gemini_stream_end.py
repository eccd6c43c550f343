"""How answers of Gemini end: finish reasons, blocked prompts, failures inside a stream, and token counts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.gemini_streams import call, chunk, counts, framed, text, thought
from support.gemini_wire import parser, read, read_whole
from support.reading import one_piece
from support.reading import read as read_bytes
from thinkaloud.content import Text
from thinkaloud.errors import (
    ContentFiltered,
    InvalidRequest,
    MalformedToolCall,
    Overloaded,
    ProviderError,
    RateLimited,
    ServerError,
    StaleThinking,
    TruncatedStream,
)
from thinkaloud.events import UsageUpdate
from thinkaloud.messages import StopReason
from thinkaloud.usage import Usage
from thinkaloud.wire.server_event import ServerEvent

ERROR = {"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("STOP", StopReason.END),
        ("MAX_TOKENS", StopReason.LENGTH),
        ("CONTINUATION", StopReason.PAUSE),
        ("SAFETY", StopReason.CONTENT_FILTER),
        ("RECITATION", StopReason.CONTENT_FILTER),
        ("IMAGE_SAFETY", StopReason.CONTENT_FILTER),
        ("MODEL_ARMOR", StopReason.CONTENT_FILTER),
        ("OTHER", StopReason.UNKNOWN),
        ("A_NEW_WORD", StopReason.UNKNOWN),
    ],
)
def test_a_finish_reason_has_a_stop_reason_and_its_word_is_kept(word: str, reason: StopReason) -> None:
    message = read(chunk(text("A"), finish=word)).message
    assert (message.stop_reason, message.raw_stop_reason) == (reason, word)


@pytest.mark.parametrize(
    ("word", "kind", "retryable"),
    [
        ("MALFORMED_FUNCTION_CALL", MalformedToolCall, True),
        ("UNEXPECTED_TOOL_CALL", MalformedToolCall, True),
        ("TOO_MANY_TOOL_CALLS", ServerError, False),
        ("MALFORMED_RESPONSE", ServerError, True),
        ("MISSING_THOUGHT_SIGNATURE", StaleThinking, False),
        ("LANGUAGE", InvalidRequest, False),
        ("NO_IMAGE", ServerError, True),
    ],
)
def test_an_end_that_is_no_answer_is_an_error(word: str, kind: type[ProviderError], retryable: bool) -> None:
    body = chunk(text("A"), finish=word, finishMessage="it says why")
    for reading in (read(body), read_whole(body)):
        error = reading.error
        assert isinstance(error, kind)
        assert (error.code, error.retryable, error.provider) == (word, retryable, "google")
        assert "it says why" in error.message
        assert reading.content == (Text("A", complete=False),)


def test_the_finish_reason_may_come_in_a_chunk_without_content() -> None:
    assert read(chunk(call("now", id="c1")), chunk(finish="STOP")).message.stop_reason is StopReason.TOOL_USE


def test_text_after_the_finish_reason_still_counts() -> None:
    reading = read(chunk(text("A"), finish="STOP"), chunk(text("", "c2ln")), {"usageMetadata": counts(1, 2, 3)})
    assert reading.content == (Text("A", signature="c2ln", extra={"signed_from": 1}),)
    assert reading.message.usage == Usage(input=1, output=5, reasoning=3)


def test_a_stream_without_a_finish_reason_is_truncated() -> None:
    assert isinstance(read(chunk(text("A"))).error, TruncatedStream)
    assert isinstance(read_whole(chunk(text("A"))).error, TruncatedStream)
    assert isinstance(read().error, TruncatedStream)
    assert isinstance(read_whole([]).error, TruncatedStream)


def test_a_gateways_end_marker_is_no_finish_reason() -> None:
    assert isinstance(read(chunk(text("A")), "[DONE]").error, TruncatedStream)
    assert read(chunk(text("A"), finish="STOP"), "[DONE]").error is None


def test_what_stands_beside_the_content_is_kept_as_detail() -> None:
    grounding = {"webSearchQueries": ["x"]}
    reading = read(
        chunk(text("A"), safetyRatings=[]),
        {**chunk(finish="STOP", groundingMetadata=grounding, avgLogprobs=-0.5), "modelStatus": {"stage": "OLD"}},
    )
    assert reading.message.stop_detail == {
        "groundingMetadata": grounding,
        "avgLogprobs": -0.5,
        "modelStatus": {"stage": "OLD"},
    }


def test_a_pause_keeps_the_token_to_go_on_with() -> None:
    message = read(chunk(text("A"), finish="CONTINUATION", continuationToken="dG9r")).message
    assert (message.stop_reason, message.stop_detail) == (StopReason.PAUSE, {"continuationToken": "dG9r"})


def test_a_limit_reached_before_any_text_is_told() -> None:
    assert read(chunk(thought("Hm."), finish="MAX_TOKENS")).codes == ["answer_truncated"]
    assert read(chunk(text("A"), finish="MAX_TOKENS")).codes == []


def test_a_stop_without_any_content_is_told() -> None:
    assert read(chunk(finish="STOP")).codes == ["empty_answer"]


# blocked prompts


def blocked(reason: str, **more: str) -> dict[str, Any]:
    return {"promptFeedback": {"blockReason": reason, **more}, "usageMetadata": {"promptTokenCount": 12}}


def test_a_blocked_prompt_is_an_error() -> None:
    for reading in (read(blocked("SAFETY")), read_whole(blocked("SAFETY"))):
        assert isinstance(reading.error, ContentFiltered)
        assert (reading.error.code, reading.error.retryable) == ("SAFETY", False)
        assert reading.content == ()


def test_the_words_about_a_blocked_prompt_are_told() -> None:
    error = read(blocked("MODEL_ARMOR", blockReasonMessage="not here")).error
    assert error is not None
    assert error.message == "the prompt was blocked: MODEL_ARMOR: not here"


def test_a_block_after_content_ends_the_answer_by_a_filter() -> None:
    message = read(chunk(text("A")), blocked("PROHIBITED_CONTENT")).message
    assert (message.stop_reason, message.raw_stop_reason) == (StopReason.CONTENT_FILTER, "PROHIBITED_CONTENT")


def test_feedback_without_a_reason_blocks_nothing() -> None:
    odd: list[dict[str, Any]] = [{"safetyRatings": []}, {"blockReason": "BLOCKED_REASON_UNSPECIFIED"}]
    for feedback in odd:
        assert isinstance(read({"promptFeedback": feedback}).error, TruncatedStream)
        assert read({"promptFeedback": feedback}, chunk(text("A"), finish="STOP")).error is None


# failures inside a stream


@pytest.mark.parametrize("form", [ERROR, [ERROR]], ids=["object", "array"])
def test_an_error_inside_a_stream_is_typed_and_keeps_the_text(form: Any) -> None:
    reading = read(chunk(text("A")), form)
    assert isinstance(reading.error, Overloaded)
    assert (reading.error.status, reading.error.code) == (503, "UNAVAILABLE")
    assert reading.content == (Text("A", complete=False),)


def test_an_error_wins_over_a_finish_reason() -> None:
    assert isinstance(read(chunk(text("A"), finish="STOP"), ERROR).error, Overloaded)
    assert isinstance(read({**chunk(text("A"), finish="STOP"), **ERROR}).error, Overloaded)


@pytest.mark.parametrize("form", [ERROR, [ERROR]], ids=["object", "array"])
@pytest.mark.parametrize("before", [b"", framed(chunk(text("A")))], ids=["at the start", "after text"])
def test_an_error_in_bare_json_is_read(before: bytes, form: Any) -> None:
    body = before + json.dumps(form, indent=2).replace("\n", "\r\n").encode()
    for pieces in (one_piece(body), (body[at : at + 1] for at in range(len(body)))):
        error = read_bytes("gemini", pieces, provider="google").error
        assert isinstance(error, Overloaded)


def test_an_error_event_of_a_proxy_is_a_failure() -> None:
    assert isinstance(read(ServerEvent(event="error", data="no room")).error, ServerError)
    assert isinstance(read(ServerEvent(event="error", data=json.dumps(ERROR))).error, Overloaded)


def test_an_error_without_a_number_is_known_by_its_word() -> None:
    error = read({"error": {"message": "slow down", "status": "RESOURCE_EXHAUSTED"}}).error
    assert isinstance(error, RateLimited)
    assert error.status == 429


def test_after_an_error_the_parser_is_dead() -> None:
    dead = parser()
    with pytest.raises(Overloaded):
        dead.feed(ServerEvent(data=json.dumps(ERROR)))
    with pytest.raises(Overloaded):
        dead.close()


# token counts


def test_counts_have_the_one_meaning() -> None:
    usage = {**counts(50, 4, 25), "cachedContentTokenCount": 20, "toolUsePromptTokenCount": 7}
    message = read({**chunk(text("A"), finish="STOP"), "usageMetadata": usage}).message
    assert message.usage == Usage(input=57, output=29, reasoning=25, cache_read=20)


def test_later_counts_replace_earlier_ones_and_missing_ones_stay() -> None:
    message = read(
        chunk(thought("A"), usage={"promptTokenCount": 55, "thoughtsTokenCount": 9, "cachedContentTokenCount": 5}),
        chunk(text("B"), usage={"promptTokenCount": 257, "candidatesTokenCount": 3, "thoughtsTokenCount": None}),  # type: ignore[dict-item]
        chunk(finish="STOP", usage={"candidatesTokenCount": 4}),
    ).message
    assert message.usage == Usage(input=257, output=13, reasoning=9, cache_read=5)


def test_thoughts_alone_are_the_output() -> None:
    message = read(chunk(thought("A"), finish="STOP", usage={"thoughtsTokenCount": 9})).message
    assert message.usage == Usage(output=9, reasoning=9)


def test_a_stream_that_ends_before_its_counts_has_none() -> None:
    assert read(chunk(text("A"))).message.usage == Usage()


def test_a_stream_that_breaks_off_has_the_counts_that_had_come() -> None:
    reading = read(chunk(text("A"), usage=counts(5, 1, 0)), chunk(text("B"), usage=counts(5, 2, 0)))
    assert reading.message.usage == Usage(input=5, output=2, reasoning=0)


def test_counts_are_told_where_blocks_begin_and_at_the_end() -> None:
    reading = read(
        chunk(thought("A"), usage=counts(5, 0, 1)),
        chunk(thought("B"), usage=counts(5, 0, 2)),
        chunk(text("C"), usage=counts(5, 1, 2)),
        chunk(text("D"), finish="STOP", usage=counts(5, 2, 2)),
    )
    told = [event.usage.output for event in reading.events if isinstance(event, UsageUpdate)]
    assert told == [1, 3, 4]


@pytest.mark.parametrize("usage", ["many", {"promptTokenCount": "many"}, {"promptTokenCount": 1.5}, [1]])
def test_counts_of_odd_types_are_told_and_passed_over(usage: Any) -> None:
    reading = read({**chunk(text("A"), finish="STOP"), "usageMetadata": usage})
    assert reading.codes == ["unreadable_field"]
    assert reading.message.usage == Usage()
