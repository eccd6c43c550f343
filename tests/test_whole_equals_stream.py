"""An answer gives the same message whether it came as a stream or as one body.

Three proofs: generated answers, said in both forms by the test kit; the streams put together to a whole body by an
independent joiner (`support.whole_bodies`); the recordings that exist in both forms.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import zip_longest
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from support.neutral import Neutral, details
from support.reading import Outcome, one_piece, read
from support.shared import Recording, needs_shared, recordings
from support.streams import ROWS, STREAMS, Stream, parameters
from support.walkers import payloads, walk
from thinkaloud import jsontext
from thinkaloud.content import AssistantBlock, Opaque, Text, Thinking, ToolCall
from thinkaloud.messages import AssistantMessage, StopReason
from thinkaloud.models.dialect import Dialect, ThinkTags
from thinkaloud.testing.encoding import ThinkingIn
from thinkaloud.testing.reply import Reply
from thinkaloud.testing.wires import encode_stream, encode_whole
from thinkaloud.usage import Usage

# Generated answers.

texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=40)
opaque_strings = st.text("ABCxyz019+/=_-", min_size=1, max_size=60)
arguments = st.dictionaries(
    st.text(st.characters(codec="utf-8"), max_size=6),
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8"), max_size=8) | st.just([1, {}]),
    max_size=3,
).map(lambda values: jsontext.dumps(values) if values else "")  # no arguments are written as nothing at all
counts = st.none() | st.integers(0, 10**6)
usages = st.builds(
    Usage, input=st.integers(10**6, 10**7), output=counts, reasoning=counts, cache_read=counts, cache_write=counts
)

signed = st.builds(Thinking.signed, texts, opaque_strings)
withheld = st.builds(Thinking.signed, st.just(""), opaque_strings)
redacted = st.builds(Thinking.redacted_payload, opaque_strings)
unsigned = st.builds(Thinking, texts)
said = st.builds(Text, texts)
cited = st.builds(Text, texts, citations=st.just(({"type": "char_location", "cited_text": "so"},)))
opaques = st.builds(
    lambda text: Opaque(
        "anthropic-messages",
        kind="web_search_tool_result",
        data={"type": "web_search_tool_result", "tool_use_id": "srvtoolu_a", "content": [{"title": text}]},
    ),
    texts,
)


def calls(number: int) -> st.SearchStrategy[ToolCall]:
    return st.builds(
        ToolCall, st.just(f"call_{number}"), name=st.sampled_from(["add", "get_time"]), arguments_json=arguments
    )


call_lists = st.integers(0, 3).flatmap(lambda count: st.tuples(*(calls(number) for number in range(count))))


@st.composite
def anthropic_replies(draw: st.DrawFn) -> Reply:
    """Any blocks in any order."""
    blocks: list[AssistantBlock] = draw(
        st.lists(st.one_of(signed, withheld, redacted, unsigned, said, cited, opaques), max_size=5)
    )
    for call in draw(call_lists):
        blocks.insert(draw(st.integers(0, len(blocks))), call)
    return Reply(blocks, usage=draw(usages), chunk_size=draw(st.none() | st.integers(1, 9)))


@st.composite
def chat_replies(draw: st.DrawFn, thinking: st.SearchStrategy[Thinking]) -> Reply:
    """A block of thinking, text and calls in the order in which a whole body has them."""
    blocks: list[AssistantBlock] = [*draw(st.lists(thinking, max_size=1)), *draw(st.lists(said, max_size=1))]
    blocks += draw(call_lists)
    return Reply(blocks, usage=draw(usages), chunk_size=draw(st.none() | st.integers(1, 9)))


def streamed(protocol: str, reply: Reply, thinking_in: ThinkingIn = "reasoning_content", **how: Any) -> Outcome:
    return read(protocol, encode_stream(protocol, reply, thinking_in=thinking_in), **how)


def whole(protocol: str, reply: Reply, thinking_in: ThinkingIn = "reasoning_content", **how: Any) -> Outcome:
    return read(protocol, [encode_whole(protocol, reply, thinking_in=thinking_in)], **how)


def bare(blocks: Iterable[AssistantBlock]) -> tuple[AssistantBlock, ...]:
    """The blocks without what the wire tells beside them."""
    return tuple(block if isinstance(block, Opaque) else evolve(block, extra={}) for block in blocks)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(reply=anthropic_replies())
def test_generated_answers_of_the_messages_api_are_read_as_written_in_both_forms(reply: Reply) -> None:
    message = streamed("anthropic-messages", reply).finished
    assert whole("anthropic-messages", reply).finished == message
    assert bare(message.content) == reply.content
    assert message.usage == reply.usage


@pytest.mark.parametrize("thinking_in", ["reasoning_content", "reasoning"])
@settings(max_examples=75, deadline=None, derandomize=True)
@given(reply=chat_replies(unsigned))
def test_generated_answers_of_chat_are_read_as_written_in_both_forms(reply: Reply, thinking_in: ThinkingIn) -> None:
    message = streamed("openai-chat", reply, thinking_in).finished
    assert whole("openai-chat", reply, thinking_in).finished == message
    assert bare(message.content) == reply.content
    assert message.usage == reply.usage


@st.composite
def gemini_replies(draw: st.DrawFn) -> Reply:
    """Any blocks in any order, but no unsigned text before one of its kind: the wire cannot tell them apart."""
    said_signed = st.builds(Text, st.one_of(texts, st.just("")), signature=opaque_strings)
    code = st.builds(
        lambda text: Opaque("gemini", kind="executableCode", data={"executableCode": {"code": text}}), texts
    )
    blocks: list[AssistantBlock] = draw(
        st.lists(st.one_of(signed, withheld, unsigned, said_signed, said, code), max_size=5)
    )
    for call in draw(call_lists):
        arguments_json = call.arguments_json or "{}"
        signed_call = evolve(call, arguments_json=arguments_json, signature=draw(st.none() | opaque_strings))
        blocks.insert(draw(st.integers(0, len(blocks))), signed_call)
    apart = [
        block
        for block, after in zip_longest(blocks, blocks[1:])
        if not (isinstance(block, Text | Thinking) and block.signature is None and type(after) is type(block))
    ]
    usage = draw(usages)
    thoughts = None if usage.output is None else usage.reasoning
    usage = evolve(usage, output=(usage.output or 0) + (thoughts or 0), reasoning=thoughts, cache_write=None)
    return Reply(apart, usage=usage, chunk_size=draw(st.none() | st.integers(1, 9)))


@settings(max_examples=150, deadline=None, derandomize=True)
@given(reply=gemini_replies())
def test_generated_answers_of_gemini_are_read_as_written_in_both_forms(reply: Reply) -> None:
    message, in_one_body = streamed("gemini", reply).finished, whole("gemini", reply).finished
    # Only what a replay needs of the parts differs: a stream has its signatures on parts of their own.
    assert evolve(message, content=bare(message.content)) == evolve(in_one_body, content=bare(in_one_body.content))
    assert bare(message.content) == reply.content
    assert message.usage == reply.usage


@pytest.mark.parametrize("stop", [StopReason.END, StopReason.LENGTH, StopReason.CONTENT_FILTER, StopReason.PAUSE])
def test_the_end_of_gemini_is_the_same_in_both_forms(stop: StopReason) -> None:
    reply = Reply("So it is.", stop=stop, stop_detail={"finishMessage": "so"})
    message = whole("gemini", reply).finished
    assert (message.stop_reason, message.stop_detail) == (stop, {"finishMessage": "so"})
    assert message == streamed("gemini", reply).finished


def settled(message: AssistantMessage) -> AssistantMessage:
    """The message with its reasoning details as a server means them: empty and absent are the same."""
    content = []
    for block in message.content:
        if isinstance(block, Thinking) and details(block):
            entries = [{name: value for name, value in entry.items() if value} for entry in details(block)]
            block = evolve(block, extra={**block.extra, "reasoning_details": entries})
        content.append(block)
    return evolve(message, content=content)


@settings(max_examples=75, deadline=None, derandomize=True)
@given(reply=chat_replies(st.one_of(signed, withheld, redacted)))
def test_generated_details_of_chat_are_read_as_written_in_both_forms(reply: Reply) -> None:
    message = streamed("openai-chat", reply, "reasoning_details").finished
    assert settled(whole("openai-chat", reply, "reasoning_details").finished) == settled(message)
    assert message.text == "".join(block.text for block in reply.content if isinstance(block, Text))
    assert bare(message.tool_calls) == tuple(block for block in reply.content if isinstance(block, ToolCall))


@settings(max_examples=75, deadline=None, derandomize=True)
@given(reply=chat_replies(st.one_of(signed, unsigned)))
def test_generated_content_parts_of_chat_are_read_as_written_in_both_forms(reply: Reply) -> None:
    message = streamed("openai-chat", reply, "content").finished
    assert whole("openai-chat", reply, "content").finished == message
    assert bare(message.content) == reply.content


@settings(max_examples=75, deadline=None, derandomize=True)
@given(reply=chat_replies(unsigned))
def test_generated_think_tags_of_chat_are_read_the_same_in_both_forms(reply: Reply) -> None:
    dialect = Dialect(think_tags=ThinkTags())
    message = streamed("openai-chat", reply, "think_tags", dialect=dialect).finished
    assert whole("openai-chat", reply, "think_tags", dialect=dialect).finished == message


@pytest.mark.parametrize("protocol", ["anthropic-messages", "bedrock-converse", "openai-chat"])
@pytest.mark.parametrize("stop", [StopReason.END, StopReason.LENGTH, StopReason.REFUSAL])
def test_the_end_is_the_same_in_both_forms(protocol: str, stop: StopReason) -> None:
    reply = Reply("So it is.", stop=stop)
    message = whole(protocol, reply).finished
    assert message.stop_reason is stop
    assert message == streamed(protocol, reply).finished


# Streams put together.

# Wires whose whole bodies have their blocks in the order of the stream, and their arguments decoded.
BLOCKS_IN_ORDER = ("anthropic-messages", "bedrock-converse", "gemini", "other")


def told(wire: str, message: AssistantMessage) -> Neutral:
    """What both forms must agree on. Whole bodies have their arguments decoded, and chat's have no order of kinds."""
    content = ROWS[wire].content(message)
    return {
        "content": content if wire in BLOCKS_IN_ORDER else sorted(content, key=lambda block: str(block["type"])),
        "stop": (message.stop_reason, message.raw_stop_reason, message.stop_detail),
        "usage": message.usage,
        "origin": message.origin,
        "response_id": message.response_id,
    }


def joinable(stream: Stream) -> bool:
    """It ends well, and each call in it can stand in a whole body."""
    walked = walk(stream.walker, stream.body)
    cut = stream.wire in BLOCKS_IN_ORDER and any(
        not jsontext.is_json_object(text or "{}") for _, _, text in walked.collected().calls
    )
    return walked.ended and not walked.failed and not cut


@pytest.mark.parametrize("stream", parameters(stream for stream in STREAMS if joinable(stream)))
def test_a_stream_put_together_to_a_whole_body_gives_its_message(stream: Stream) -> None:
    joined = ROWS[stream.wire].whole_body(payloads(stream.body))
    message = read(stream.wire, one_piece(json.dumps(joined).encode()), provider=stream.provider).finished
    expected = read(stream.wire, one_piece(stream.body), provider=stream.provider).finished
    assert told(stream.wire, message) == told(stream.wire, expected)


@needs_shared
def test_nearly_all_recorded_streams_can_be_put_together() -> None:
    left = [stream.name for stream in STREAMS if not joinable(stream) and " " not in stream.name]
    assert sorted(left) == [
        "anthropic-sdk-incomplete-partial-json-response",
        "pydantic-ai-groq-tool-use-failed-error-streaming-with-text-0",
        "pydantic-ai-openrouter-openrouter-stream-error",
        "ruby-llm-chat-with-extended-thinking-gpustack-qwen3-streams-thinking-content-when-available",
        "vercel-ai-openai-error.1-stream",
    ]


# Recordings of one answer in both forms: pairs in which the oracle reads the same.

PAIRS = [
    ("anthropic-messages", "vercel-ai-anthropic-fallback", "vercel-ai-anthropic-fallback-stream"),
    ("openai-chat", "vercel-ai-mistral-reasoning", "vercel-ai-mistral-reasoning-stream"),
    (
        "openai-chat",
        "fantasy-openaicommon-openai-o4-mini-tool-1",
        "fantasy-openaicommon-openai-o4-mini-tool-streaming-1",
    ),
]


def recording_of(wire: str, name: str) -> Recording:
    return next(recording for recording in recordings(wire) if recording.name == name)


@needs_shared
@pytest.mark.parametrize(("wire", "whole_name", "stream_name"), PAIRS, ids=[pair[1] for pair in PAIRS])
def test_recordings_of_one_answer_in_both_forms_agree(wire: str, whole_name: str, stream_name: str) -> None:
    bodies = [recording_of(wire, name) for name in (whole_name, stream_name)]
    first, second = (read(wire, one_piece(body.body), provider=body.endpoint).finished for body in bodies)
    assert first.content == second.content
    assert (first.stop_reason, first.raw_stop_reason) == (second.stop_reason, second.raw_stop_reason)
