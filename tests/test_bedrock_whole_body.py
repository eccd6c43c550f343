"""An answer of Converse in one body: the same blocks, counts and end as its stream."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from support.bedrock_streams import counted, deltas, stopped
from support.reading import Outcome, read
from thinkaloud import jsontext
from thinkaloud.content import AssistantBlock, Opaque, Text, Thinking, ToolCall
from thinkaloud.errors import MalformedStream, NotFound, RateLimited, TruncatedStream
from thinkaloud.messages import StopReason
from thinkaloud.testing import Reply, encode_stream, encode_whole
from thinkaloud.usage import Usage


def body(*content: Any, stop: str | None = "end_turn", **more: Any) -> dict[str, Any]:
    usage = {"inputTokens": 20, "outputTokens": 57, "totalTokens": 77}
    message = {"role": "assistant", "content": list(content)}
    return {"output": {"message": message}, "stopReason": stop, "usage": usage, "metrics": {"latencyMs": 5}, **more}


def outcome_of(answer: Any) -> Outcome:
    return read("bedrock-converse", [json.dumps(answer).encode()], provider="bedrock")


def content_of(*blocks: Any) -> tuple[AssistantBlock, ...]:
    return outcome_of(body(*blocks)).finished.content


def test_blocks_come_in_the_order_of_the_body() -> None:
    message = outcome_of(
        body(
            {"text": "\n\nFirst the answer."},
            {"reasoningContent": {"reasoningText": {"text": "Then why.", "signature": "c2ln"}}},
            {"reasoningContent": {"redactedContent": "b3Bh"}},
            {"toolUse": {"toolUseId": "t", "name": "f", "input": {"n": 10**30}, "type": "tool_use"}},
            stop="tool_use",
        )
    ).finished
    assert message.content == (
        Text("\n\nFirst the answer."),
        Thinking.signed("Then why.", "c2ln"),
        Thinking.redacted_payload("b3Bh"),
        ToolCall("t", name="f", arguments_json=f'{{"n":{10**30}}}'),
    )
    assert (message.stop_reason, message.usage) == (StopReason.TOOL_USE, Usage(input=20, output=57))


def test_empty_text_is_no_block_and_empty_arguments_are_none() -> None:
    [call] = content_of({"text": ""}, {"toolUse": {"toolUseId": "t", "name": "f", "input": {}}})
    assert call == ToolCall("t", name="f")


def test_reasoning_without_a_signature_has_none() -> None:
    assert content_of({"reasoningContent": {"reasoningText": {"text": "Hm"}}}) == (Thinking("Hm"),)
    assert content_of({"reasoningContent": {"reasoningText": {"text": "Hm", "signature": ""}}}) == (Thinking("Hm"),)


def test_withheld_reasoning_is_a_signature_alone() -> None:
    content = content_of({"reasoningContent": {"reasoningText": {"text": "", "signature": "c2ln"}}})
    assert content == (Thinking.signed("", "c2ln"),)


def test_text_with_citations_is_text() -> None:
    citation: dict[str, Any] = {"title": "T", "location": {"searchResultLocation": {"start": 0, "end": 1}}}
    [text] = content_of({"citationsContent": {"content": [{"text": "So."}], "citations": [citation]}})
    assert text == Text("So.", citations=[citation])


def test_cited_text_in_pieces_keeps_its_pieces_for_the_way_back() -> None:
    [text] = content_of({"citationsContent": {"content": [{"text": "So "}, {"text": "it is."}], "citations": []}})
    assert isinstance(text, Text)
    assert (text.text, text.extra) == ("So it is.", {"content": [{"text": "So "}, {"text": "it is."}]})


def test_blocks_that_are_not_modelled_are_kept_as_they_are() -> None:
    blocks: list[dict[str, Any]] = [
        {"toolUse": {"toolUseId": "t", "name": "f", "input": {"a": 1}, "type": "server_tool_use"}},
        {"toolResult": {"toolUseId": "t", "content": [{"json": {"n": 10**30}}]}},
        {"image": {"format": "png", "source": {"bytes": "YQ=="}}},
        {"reasoningContent": {"sketch": "x"}},
        {"hologram": {"depth": 3}},
    ]
    content = content_of(*blocks)
    assert [(block.kind, block.data) for block in content if isinstance(block, Opaque)] == [
        ("server_tool_use", blocks[0]),
        ("toolResult", blocks[1]),
        ("image", blocks[2]),
        ("reasoningContent", blocks[3]),
        ("hologram", blocks[4]),
    ]


def test_unknown_fields_of_reasoning_are_kept() -> None:
    [thinking] = content_of({"reasoningContent": {"reasoningText": {"text": "Hm", "signature": "s", "style": "terse"}}})
    assert isinstance(thinking, Thinking)
    assert thinking.extra == {"style": "terse"}


def test_a_body_without_a_stop_reason_is_truncated() -> None:
    assert type(outcome_of(body({"text": "So."}, stop=None)).error) is TruncatedStream


def test_a_body_that_is_cut_is_truncated() -> None:
    whole = json.dumps(body({"text": "So."})).encode()
    assert type(read("bedrock-converse", [whole[:-5]]).error) is TruncatedStream


@pytest.mark.parametrize("answer", [{}, [], {"output": {}}, {"output": {"message": {}}}, {"output": {"message": None}}])
def test_a_body_that_is_no_answer_is_malformed(answer: Any) -> None:
    assert type(outcome_of(answer).error) is MalformedStream


def test_a_failure_in_place_of_an_answer_is_that_failure() -> None:
    assert type(outcome_of({"message": "The provided model identifier is invalid.", "__type": "X"}).error) is not None
    assert type(outcome_of({"Output": {"__type": "a#ThrottlingException"}, "Version": "1.0"}).error) is RateLimited
    found = read("bedrock-converse", [b'{"message":"The provided model identifier is invalid."}'], status=400).error
    assert type(found) is NotFound


def test_claudes_own_stop_sequence_is_told_in_both_forms() -> None:
    whole = outcome_of(body({"text": "So."}, additionalModelResponseFields={"stop_sequence": "END"})).finished
    own = {"delta": {"stop_sequence": "END"}}
    frames = deltas(0, {"text": "So."}) + stopped("end_turn", additionalModelResponseFields=own) + counted()
    assert whole.stop_detail == {"stop_sequence": "END"}
    assert whole == read("bedrock-converse", [frames], provider="bedrock").finished


# Generated answers.

texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=40).filter(lambda text: text != "[REDACTED]")
opaque_strings = st.text("ABCxyz019+/=_-", min_size=1, max_size=60)
arguments = st.dictionaries(texts, st.none() | st.integers() | texts | st.just([1, {}]), max_size=3).map(
    lambda values: jsontext.dumps(values) if values else ""
)
counts = st.none() | st.integers(0, 10**6)
usages = st.builds(
    Usage, input=st.integers(10**7, 10**8), output=counts, reasoning=counts, cache_read=counts, cache_write=counts
)
citations = st.lists(st.builds(lambda title: {"title": title}, texts), min_size=1, max_size=2)
results = st.builds(lambda text: {"toolResult": {"toolUseId": "s1", "content": [{"text": text}]}}, texts)
uses = st.builds(
    lambda text: {"toolUse": {"toolUseId": "s1", "name": "f", "type": "server_tool_use", "input": {"q": text}}}, texts
)
blocks = st.one_of(
    st.builds(Thinking.signed, texts, opaque_strings),
    st.builds(Thinking.signed, st.just(""), opaque_strings),
    st.builds(Thinking.redacted_payload, opaque_strings),
    st.builds(Thinking, texts),
    st.builds(Text, texts),
    st.builds(Text, texts, citations=citations),
    st.builds(
        ToolCall,
        st.uuids().map(lambda made: f"tooluse_{made.hex}"),
        name=st.sampled_from(["add", "now"]),
        arguments_json=arguments,
    ),
    st.builds(lambda data: Opaque("bedrock-converse", kind="toolResult", data=data), results),
    st.builds(lambda data: Opaque("bedrock-converse", kind="server_tool_use", data=data), uses),
)


@settings(max_examples=200, deadline=None)
@given(
    content=st.lists(blocks, max_size=6),
    usage=usages,
    chunk_size=st.none() | st.integers(1, 9),
    stop=st.sampled_from([None, StopReason.LENGTH, StopReason.REFUSAL, StopReason.CONTENT_FILTER]),
)
def test_generated_answers_are_read_as_written_in_both_forms(
    content: list[AssistantBlock], usage: Usage, chunk_size: int | None, stop: StopReason | None
) -> None:
    # At a limit nobody can tell a call without arguments from one that was cut before them.
    assume(stop is None or not any(isinstance(block, ToolCall) and not block.arguments_json for block in content))
    reply = Reply(content, usage=usage, chunk_size=chunk_size, stop=stop)
    message = read("bedrock-converse", encode_stream("bedrock-converse", reply)).finished
    assert read("bedrock-converse", [encode_whole("bedrock-converse", reply)]).finished == message
    assert message.content == reply.content
    assert message.usage == usage
    assert message.stop_reason is reply.stop_or_default
