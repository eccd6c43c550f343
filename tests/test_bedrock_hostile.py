"""Answers of Converse that break off, repeat themselves or put things in odd places."""

from __future__ import annotations

import json

import pytest

from support.bedrock_streams import began, called, counted, deltas, event, said, started, stopped, stopped_block
from support.reading import Outcome, read
from thinkaloud.content import ToolCall

T1 = {"toolUseId": "t1", "name": "f"}


def outcome_of(*frames: bytes) -> Outcome:
    return read("bedrock-converse", [started(), *frames], provider="bedrock")


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
