"""Generated answers of the Responses API are read as they were written, streamed and whole alike."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from support.reading import read
from thinkaloud import jsontext
from thinkaloud.content import AssistantBlock, Opaque, Text, Thinking, ToolCall
from thinkaloud.messages import StopReason
from thinkaloud.testing.reply import Reply
from thinkaloud.testing.wires import encode_stream, encode_whole
from thinkaloud.usage import Usage

WIRE = "openai-responses"

texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=40)
seals = st.text("ABCxyz019+/=_-", min_size=1, max_size=60)
arguments = st.dictionaries(texts, st.none() | st.integers() | texts | st.just([1, {}]), max_size=3).map(jsontext.dumps)
counts = st.none() | st.integers(0, 10**6)
usages = st.builds(
    Usage, input=st.integers(10**6, 10**7), output=counts, reasoning=counts, cache_read=counts, cache_write=counts
)
ids = st.uuids().map(lambda made: made.hex)
blocks: st.SearchStrategy[AssistantBlock] = st.one_of(
    st.builds(Thinking.signed, texts, seals),
    st.builds(Thinking.signed, st.just(""), seals),
    st.builds(Thinking, texts),
    st.builds(Text, texts),
    st.builds(Text, texts, extra=st.just({"id": "msg_shared"})),
    st.builds(Text, texts, extra=st.just({"type": "refusal"})),
    st.builds(Text, texts, citations=st.just([{"type": "url_citation", "url": "u"}])),
    st.builds(ToolCall, ids, name=st.sampled_from(["add", "now"]), arguments_json=arguments),
    st.builds(ToolCall, ids, name=st.just("sql"), arguments_json=texts, extra=st.just({"type": "custom"})),
    st.builds(lambda text: Opaque(WIRE, kind="novel_call", data={"type": "novel_call", "result": [text]}), texts),
)
replies = st.builds(
    Reply,
    st.lists(blocks, max_size=6),
    usage=usages,
    chunk_size=st.none() | st.integers(1, 9),
    stop=st.sampled_from([None, StopReason.LENGTH]),
)


def bare(content: Iterable[AssistantBlock]) -> list[AssistantBlock]:
    """The blocks without what the wire tells beside them."""
    return [block if isinstance(block, Opaque) else evolve(block, extra={}) for block in content]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(reply=replies)
def test_generated_answers_are_read_as_written_in_both_forms(reply: Reply) -> None:
    message = read(WIRE, encode_stream(WIRE, reply)).finished
    assert read(WIRE, [encode_whole(WIRE, reply)]).finished == message
    assert message.usage == reply.usage
    assert bare(message.content) == bare(reply.content)


@pytest.mark.parametrize("stop", [StopReason.END, StopReason.LENGTH, StopReason.REFUSAL, StopReason.CONTENT_FILTER])
def test_the_end_is_the_same_in_both_forms(stop: StopReason) -> None:
    reply = Reply("So it is.", stop=stop)
    message = read(WIRE, [encode_whole(WIRE, reply)]).finished
    assert message.stop_reason is stop
    assert message == read(WIRE, encode_stream(WIRE, reply)).finished
