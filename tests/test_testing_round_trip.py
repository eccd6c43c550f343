"""What a script says is what is read: replies and failures, through the wire and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from thinkaloud import jsontext
from thinkaloud.content import AssistantBlock, Opaque, Text, Thinking, ToolCall
from thinkaloud.errors import (
    AuthenticationError,
    ContentFiltered,
    ContextTooLong,
    InvalidRequest,
    MalformedToolCall,
    NotFound,
    Overloaded,
    PermissionDenied,
    ProviderError,
    QuotaExceeded,
    RateLimited,
    ServerError,
    StaleThinking,
)
from thinkaloud.messages import StopReason
from thinkaloud.models.dialect import Dialect, ThinkTags
from thinkaloud.protocols.captured import parse
from thinkaloud.testing import Failure, RecordedRequest, Reply, Scripted, check_event_rules, encode_stream
from thinkaloud.testing.encoding import ThinkingIn
from thinkaloud.testing.scripted import Answer
from thinkaloud.usage import Usage

PATHS = {
    "anthropic-messages": "/v1/messages",
    "bedrock-converse": "/model/m/converse-stream",
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
}
BOTH = pytest.mark.parametrize("protocol", PATHS)

texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30)
counts = st.integers(0, 10**6)
usages = st.builds(
    Usage, input=st.integers(10**7, 10**8), output=counts, reasoning=counts, cache_read=counts, cache_write=counts
)
calls = st.builds(
    ToolCall,
    st.uuids().map(lambda made: f"call_{made.hex}"),
    name=st.sampled_from(["add", "now"]),
    arguments_json=st.dictionaries(texts, st.integers() | texts, max_size=3).map(jsontext.dumps),
)


def alternating(blocks: Iterable[AssistantBlock]) -> list[AssistantBlock]:
    """The blocks without those that follow one of their own kind, calls excepted: chat has no block boundaries."""
    kept: list[AssistantBlock] = []
    for block in blocks:
        if isinstance(block, ToolCall) or not kept or type(block) is not type(kept[-1]):
            kept.append(block)
    return kept


interleaved = st.lists(st.one_of(st.builds(Thinking, texts), st.builds(Text, texts), calls), max_size=6)


def bare(blocks: Iterable[AssistantBlock]) -> tuple[AssistantBlock, ...]:
    """The blocks without what the wire tells beside them."""
    return tuple(block if isinstance(block, Opaque) else evolve(block, extra={}) for block in blocks)


@pytest.mark.parametrize("thinking_in", ["reasoning_content", "reasoning"])
@settings(max_examples=60, deadline=None, derandomize=True)
@given(content=interleaved.map(alternating), usage=usages, chunk_size=st.none() | st.integers(1, 5))
def test_interleaved_answers_of_chat_are_read_in_their_order(
    content: list[AssistantBlock], usage: Usage, chunk_size: int | None, thinking_in: ThinkingIn
) -> None:
    reply = Reply(content, usage=usage, chunk_size=chunk_size, id="c1", model="other")
    message = parse("openai-chat", encode_stream("openai-chat", reply, thinking_in=thinking_in))
    assert bare(message.content) == reply.content
    assert (message.usage, message.response_id, message.origin.model) == (usage, "c1", "other")
    assert message.stop_reason is reply.stop_or_default


@BOTH
@pytest.mark.parametrize("stop", [StopReason.END, StopReason.LENGTH, StopReason.TOOL_USE, StopReason.REFUSAL])
def test_a_stop_reason_is_read_as_it_was_meant(protocol: str, stop: StopReason) -> None:
    call = [ToolCall("call_1", name="now")] if stop is StopReason.TOOL_USE else []
    assert parse(protocol, encode_stream(protocol, Reply(["So.", *call], stop=stop))).stop_reason is stop


def test_details_of_the_end_are_read_as_they_were_meant() -> None:
    detail: dict[str, Any] = {
        "stop_details": {"type": "refusal", "category": "cyber"},
        "container": {"id": "c1"},
        "context_management": {"applied_edits": []},
    }
    reply = Reply("No.", stop=StopReason.REFUSAL, stop_detail=detail)
    assert parse("anthropic-messages", encode_stream("anthropic-messages", reply)).stop_detail == detail


@BOTH
def test_a_raw_stop_word_that_nobody_knows_is_unknown(protocol: str) -> None:
    message = parse(protocol, encode_stream(protocol, Reply("So.", stop="odd_word")))
    assert (message.stop_reason, message.raw_stop_reason) == (StopReason.UNKNOWN, "odd_word")


def test_signatures_and_payloads_in_details_are_read_byte_for_byte() -> None:
    reply = Reply([Thinking.signed("So be it.", "Eq+/9w=="), Thinking.redacted_payload("Ev+/0Q=="), "Hi"])
    message = parse("openai-chat", encode_stream("openai-chat", reply, thinking_in="reasoning_details"))
    assert bare(message.content) == reply.content


def test_signed_thinking_in_content_parts_is_read_as_it_was_said() -> None:
    reply = Reply([Thinking.signed("So be it.", "Eq+/9w=="), "Hi"])
    message = parse("openai-chat", encode_stream("openai-chat", reply, thinking_in="content"))
    assert bare(message.content) == reply.content


@pytest.mark.parametrize("chunk_size", [None, 1, 4])
def test_thinking_between_tags_is_read_as_it_was_said(chunk_size: int | None) -> None:
    reply = Reply([Thinking("So be it."), "Hi"], chunk_size=chunk_size)
    pieces = encode_stream("openai-chat", reply, thinking_in="think_tags")
    assert bare(parse("openai-chat", pieces, dialect=Dialect(think_tags=ThinkTags())).content) == reply.content


@BOTH
def test_a_call_that_was_cut_off_is_read_as_incomplete(protocol: str) -> None:
    half = ToolCall("call_1", name="add", arguments_json='{"a": 1, "b', complete=False)
    message = parse(protocol, encode_stream(protocol, Reply([half], stop=StopReason.LENGTH)))
    assert bare(message.incomplete_tool_calls) == (half,)
    assert message.tool_calls == ()


def test_an_empty_script_of_events_keeps_the_event_rules() -> None:
    from thinkaloud.protocols.captured import parse_events

    for protocol in PATHS:
        check_event_rules(parse_events(protocol, encode_stream(protocol, Reply([]))), complete=True)


# failures


ANYWHERE = (
    InvalidRequest,
    AuthenticationError,
    PermissionDenied,
    NotFound,
    ContextTooLong,
    ContentFiltered,
    RateLimited,
    QuotaExceeded,
    Overloaded,
    ServerError,
)
KINDS = [
    *((protocol, kind) for protocol in PATHS for kind in ANYWHERE),
    ("anthropic-messages", StaleThinking),
    ("bedrock-converse", StaleThinking),
    ("openai-chat", MalformedToolCall),
    ("openai-responses", StaleThinking),
]


def answered(protocol: str, said: Reply | Failure) -> Answer:
    request = RecordedRequest(method="POST", url="http://x" + PATHS[protocol], body=b'{"stream":true}')
    answer = Scripted([said]).answer(request)
    assert isinstance(answer, Answer)
    return answer


def caught(protocol: str, answer: Answer) -> ProviderError:
    with pytest.raises(ProviderError) as error:
        parse(protocol, answer.events, status=answer.status, headers=answer.headers)
    return error.value


@pytest.mark.parametrize(("protocol", "kind"), KINDS)
def test_a_failure_by_class_is_read_as_that_class(protocol: str, kind: type[ProviderError]) -> None:
    answer = answered(protocol, Failure(kind, headers={"retry-after": "3"}))
    error = caught(protocol, answer)
    assert type(error) is kind
    assert (error.status, error.retry_after, error.request_id) == (answer.status, 3.0, "req_scripted_1")
    assert error.partial is None


@pytest.mark.parametrize(("protocol", "kind"), KINDS)
def test_a_failure_inside_a_stream_is_read_as_that_class_with_what_had_come(
    protocol: str, kind: type[ProviderError]
) -> None:
    error = caught(protocol, answered(protocol, Reply("So it is", error=Failure(kind))))
    assert type(error) is kind
    assert error.partial is not None
    assert error.partial.text == "So it is"


@pytest.mark.parametrize(("protocol", "kind"), KINDS)
def test_a_failure_before_any_content_has_no_partial_message(protocol: str, kind: type[ProviderError]) -> None:
    error = caught(protocol, answered(protocol, Reply("So it is", error=Failure(kind), error_after=1)))
    assert type(error) is kind
    assert error.partial is None


@BOTH
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, InvalidRequest),
        (401, AuthenticationError),
        (403, PermissionDenied),
        (404, NotFound),
        (418, InvalidRequest),
        (429, RateLimited),
        (500, ServerError),
        (502, ServerError),
    ],
)
def test_a_failure_by_status_is_read_as_what_the_status_stands_for(
    protocol: str, status: int, kind: type[ProviderError]
) -> None:
    error = caught(protocol, answered(protocol, Failure(status)))
    assert (type(error), error.status) == (kind, status)
