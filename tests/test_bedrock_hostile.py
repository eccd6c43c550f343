"""Answers of Converse that break off, repeat themselves or put things in odd places."""

from __future__ import annotations

import json

import pytest

from support.bedrock_streams import (
    began,
    called,
    counted,
    deltas,
    event,
    redacted,
    said,
    started,
    stopped,
    stopped_block,
    thought,
)
from support.reading import Outcome, read
from thinkaloud.content import Opaque, Text, Thinking, ToolCall
from thinkaloud.errors import TruncatedStream
from thinkaloud.notices import Notice

T1 = {"toolUseId": "t1", "name": "f"}


def outcome_of(*frames: bytes) -> Outcome:
    return read("bedrock-converse", [started(), *frames], provider="bedrock")


def whole(body: dict[str, object]) -> Outcome:
    return read("bedrock-converse", [json.dumps(body).encode()], headers={"content-type": "application/json"})


def calls_of(*frames: bytes) -> list[tuple[str, str, bool]]:
    """Id, arguments and completeness of the calls in an answer that succeeds."""
    content = outcome_of(*frames).finished.content
    return [(block.id, block.arguments_json, block.complete) for block in content if isinstance(block, ToolCall)]


def argued(index: int, *pieces: str) -> bytes:
    return deltas(index, *({"toolUse": {"input": piece}} for piece in pieces))


# half calls


@pytest.mark.parametrize("piece", ["", " ", '{"a": 1'])
def test_a_call_that_was_never_stopped_is_incomplete(piece: str) -> None:
    frames = began(0, toolUse=T1) + argued(0, piece) + stopped("tool_use")
    assert calls_of(frames, counted()) == [("t1", piece, False)]
    assert calls_of(frames) == [("t1", piece, False)]


def test_a_call_that_was_never_stopped_is_complete_if_its_arguments_are() -> None:
    frames = began(0, toolUse=T1) + argued(0, '{"a"', ": 1}") + stopped("tool_use") + counted()
    assert calls_of(frames) == [("t1", '{"a": 1}', True)]


def test_a_call_that_was_stopped_without_arguments_takes_none() -> None:
    assert calls_of(called(0, "t1", "f"), stopped("tool_use"), counted()) == [("t1", "", True)]
    assert calls_of(called(0, "t1", "f"), said(1, "So."), stopped("max_tokens"), counted()) == [("t1", "", True)]


def test_the_last_call_without_arguments_is_incomplete_at_the_limit() -> None:
    assert calls_of(called(0, "t1", "f"), stopped("max_tokens"), counted()) == [("t1", "", False)]


@pytest.mark.parametrize("index", [0, 1])
@pytest.mark.parametrize("reason", ["tool_use", "max_tokens"])
def test_a_call_that_another_one_cuts_off_is_incomplete(index: int, reason: str) -> None:
    frames = began(0, toolUse=T1) + argued(0, '{"a": ') + called(index, "t2", "g", "{}") + stopped(reason) + counted()
    assert calls_of(frames) == [("t1", '{"a": ', False), ("t2", "{}", True)]


def test_arguments_before_the_start_of_their_call_leave_it_incomplete() -> None:
    frames = argued(0, '{"a": 1}') + called(0, "t1", "f") + stopped("tool_use") + counted()
    assert calls_of(frames) == [("t1", "", False)]


def test_arguments_after_the_stop_of_their_call_leave_it_incomplete() -> None:
    frames = called(0, "t1", "f") + argued(0, '{"a": 1}') + said(1, "So.") + stopped("tool_use") + counted()
    assert calls_of(frames) == [("t1", "", False)]


def test_a_repeated_start_goes_on_with_its_call() -> None:
    frames = began(0, toolUse=T1) + argued(0, '{"a"') + began(0, toolUse=T1) + argued(0, ": 1}")
    assert calls_of(frames, stopped_block(0), stopped("tool_use"), counted()) == [("t1", '{"a": 1}', True)]


# arguments with the start


def test_arguments_that_come_with_the_start_are_kept() -> None:
    frames = called(0, "t1", "f", input={"a": 1, "n": 12345678901234567890}) + stopped("tool_use") + counted()
    ((_, arguments, complete),) = calls_of(frames)
    assert complete
    assert json.loads(arguments) == {"a": 1, "n": 12345678901234567890}


def test_pieces_of_arguments_count_before_those_of_the_start() -> None:
    frames = called(0, "t1", "f", '{"b": 2}', input={"a": 1}) + stopped("tool_use") + counted()
    assert calls_of(frames) == [("t1", '{"b": 2}', True)]


def test_empty_arguments_with_the_start_say_nothing() -> None:
    frames = began(0, toolUse={**T1, "input": {}}) + event("messageStop", stopReason="tool_use") + counted()
    assert calls_of(frames) == [("t1", "", False)]


# a whole body


def test_a_whole_body_without_a_stop_reason_is_truncated() -> None:
    body = {"output": {"message": {"role": "assistant", "content": [{"text": "So."}]}}, "usage": {"inputTokens": 1}}
    assert isinstance(whole(body).error, TruncatedStream)
    assert whole({**body, "stopReason": "end_turn"}).finished.text == "So."


# starts of readable blocks


@pytest.mark.parametrize("start", [{"text": ""}, {"text": None}, {}, {"citationsContent": {}}])
def test_an_empty_start_of_text_is_text(start: dict[str, object]) -> None:
    frames = began(0, **start) + said(0, "So", ".") + stopped("end_turn") + counted()
    assert outcome_of(frames).finished.content == (Text("So."),)


def test_text_that_comes_with_the_start_is_kept() -> None:
    frames = began(0, text="So") + said(0, ".") + stopped("end_turn") + counted()
    assert outcome_of(frames).finished.content == (Text("So."),)


@pytest.mark.parametrize("start", [{}, {"text": ""}, {"redactedContent": None}])
def test_an_empty_start_of_thinking_is_thinking(start: dict[str, object]) -> None:
    frames = began(0, reasoningContent=start) + thought(0, "c2ln", "Hm.") + stopped("end_turn") + counted()
    assert outcome_of(frames).finished.content == (Thinking("Hm.", signature="c2ln"),)


def test_an_empty_start_of_thinking_may_be_that_of_a_payload() -> None:
    frames = began(0, reasoningContent={}) + redacted(0, "aGlk") + stopped("end_turn") + counted()
    assert outcome_of(frames).finished.content == (Thinking("", redacted_data="aGlk"),)


def test_thinking_that_comes_with_the_start_is_kept() -> None:
    start = {"reasoningText": {"text": "Hm", "signature": ""}}
    frames = began(0, reasoningContent=start) + thought(0, "c2ln", ".") + stopped("end_turn") + counted()
    assert outcome_of(frames).finished.content == (Thinking("Hm.", signature="c2ln"),)


def test_a_start_of_null_begins_no_call() -> None:
    frames = began(0, toolUse=None) + stopped_block(0) + said(1, "So.") + stopped("end_turn") + counted()
    assert outcome_of(frames).finished.content == (Text("So."),)


# thinking and a payload in one


def test_thinking_and_a_payload_in_one_delta_are_two_blocks() -> None:
    both = {"reasoningContent": {"text": "Hm.", "signature": "c2ln", "redactedContent": "aGlk"}}
    frames = deltas(0, both) + stopped_block(0) + stopped("end_turn") + counted()
    assert outcome_of(frames).finished.content == (
        Thinking("Hm.", signature="c2ln"),
        Thinking("", redacted_data="aGlk"),
    )


def test_thinking_and_a_payload_in_one_block_are_two_blocks() -> None:
    both = {"reasoningText": {"text": "Hm.", "signature": "c2ln"}, "redactedContent": "aGlk"}
    message = {"role": "assistant", "content": [{"reasoningContent": both}]}
    found = whole({"output": {"message": message}, "stopReason": "end_turn"}).finished.content
    assert found == (Thinking("Hm.", signature="c2ln"), Thinking("", redacted_data="aGlk"))


# ids of calls


def test_two_calls_with_one_id_get_two() -> None:
    frames = called(0, "t1", "f", "{}") + called(1, "t1", "g", "{}") + stopped("tool_use") + counted()
    assert calls_of(frames) == [("t1", "{}", True), ("tooluse_unnamed_1", "{}", True)]
    assert [event.code for event in outcome_of(frames).events if isinstance(event, Notice)] == ["repeated_call_id"]


def test_an_id_that_is_made_up_is_not_one_that_came() -> None:
    frames = called(0, "tooluse_unnamed_1", "f", "{}") + called(1, "", "g", "{}") + stopped("tool_use") + counted()
    assert [id for id, *_ in calls_of(frames)] == ["tooluse_unnamed_1", "tooluse_unnamed_2"]


# bytes in many pieces


def test_bytes_of_an_image_are_joined() -> None:
    pieces = ({"image": {"source": {"bytes": piece}}} for piece in ("YQ==", "Yg==", "Yw=="))
    frames = began(0, image={"format": "png"}) + deltas(0, *pieces) + stopped_block(0) + stopped("end_turn") + counted()
    (block,) = outcome_of(frames).finished.content
    assert isinstance(block, Opaque)
    assert block.data == {"image": {"format": "png", "source": {"bytes": "YWJj"}}}
