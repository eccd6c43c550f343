"""The fold of events into the message, whole or cut anywhere, and the message told as events again."""

from __future__ import annotations

import time
import tracemalloc
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from support.vocabulary import assistant_messages
from thinkaloud.accumulator import Accumulator, replay_events
from thinkaloud.block_builder import BlockBuilder
from thinkaloud.content import AssistantBlock, Opaque, Text, Thinking, ToolCall
from thinkaloud.digests import content_digest
from thinkaloud.events import (
    OpaqueBlock,
    Progress,
    StreamEnd,
    StreamEvent,
    StreamStart,
    TextDelta,
    TextEnd,
    TextStart,
    ThinkingDelta,
    ThinkingEnd,
    ThinkingStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    UsageUpdate,
)
from thinkaloud.fragments import Fragments
from thinkaloud.levels import ThinkingLevel
from thinkaloud.messages import AssistantMessage, LevelChoice, Origin, StopReason
from thinkaloud.notices import Notice
from thinkaloud.testing.event_rules import check_event_rules
from thinkaloud.usage import Cost, Usage

ORIGIN = Origin("anthropic-messages", "anthropic", "claude-test")
LEVEL = LevelChoice(ThinkingLevel.MAX, ThinkingLevel.HIGH)
SIGNED = Thinking.signed("because", "c2ln")
CALL = ToolCall("call_1", name="look", arguments_json='{"q":1}')
OPAQUE = Opaque("anthropic-messages", kind="fallback", data={})
NOTICES = (Notice("level_clamped"), Notice("unknown_event"))

EVENTS: list[StreamEvent] = [
    NOTICES[0],
    StreamStart("msg_1", ORIGIN, LEVEL, "v1:ab"),
    UsageUpdate(Usage(input=5), Cost(input=0.5)),
    ThinkingStart(0),
    ThinkingDelta(0, "be"),
    TextStart(1),
    ThinkingDelta(0, "cause"),
    TextDelta(1, "sky"),
    NOTICES[1],
    ThinkingEnd(0, SIGNED),
    Progress(3),
    ToolCallStart(3, "call_1", "look"),
    ToolCallDelta(3, '{"q":'),
    TextEnd(1, Text("sky")),
    OpaqueBlock(2, OPAQUE),
    ToolCallDelta(3, "1}"),
    UsageUpdate(Usage(input=5, output=9), Cost(input=0.5, output=0.25)),
    ToolCallEnd(3, CALL),
    StreamEnd(StopReason.TOOL_USE, "tool_use", {"a": 1}),
]
CONTENT: tuple[AssistantBlock, ...] = (SIGNED, Text("sky"), OPAQUE, CALL)
MESSAGE = AssistantMessage(
    CONTENT,
    origin=ORIGIN,
    stop_reason=StopReason.TOOL_USE,
    raw_stop_reason="tool_use",
    stop_detail={"a": 1},
    usage=Usage(input=5, output=9),
    cost=Cost(input=0.5, output=0.25),
    response_id="msg_1",
    level=LEVEL,
    prefix_digest="v1:ab",
    content_digest=content_digest(CONTENT),
    notices=NOTICES,
)


def fold(told: list[StreamEvent]) -> AssistantMessage:
    accumulator = Accumulator()
    accumulator.add_all(told)
    return accumulator.message()


def test_the_fold_of_all_events_is_the_message() -> None:
    assert fold(EVENTS) == MESSAGE


def test_one_by_one_or_all_at_once_gives_the_same() -> None:
    accumulator = Accumulator()
    for event in EVENTS:
        accumulator.add(event)
    assert accumulator.message() == MESSAGE


def test_the_message_of_the_end_is_never_read() -> None:
    end = StreamEnd(StopReason.TOOL_USE, "tool_use", {"a": 1}, AssistantMessage("something else"))
    assert fold([*EVENTS[:-1], end]) == MESSAGE


def test_an_empty_fold_is_an_empty_message() -> None:
    assert fold([]) == AssistantMessage()
    assert not Accumulator().started


def test_open_blocks_come_as_far_as_they_are_and_incomplete() -> None:
    message = fold(EVENTS[:13])
    assert message.content == (
        SIGNED,
        Text("sky", complete=False),
        ToolCall("call_1", name="look", arguments_json='{"q":', complete=False),
    )
    assert message.tool_calls == ()


def test_thinking_that_was_cut_has_no_signature() -> None:
    assert fold(EVENTS[:7]).content == (Thinking("because", complete=False), Text("", complete=False))


def test_without_its_end_a_message_has_no_stop_reason_and_no_digest() -> None:
    message = fold(EVENTS[:-1])
    assert (message.stop_reason, message.raw_stop_reason, message.stop_detail) == (None, None, None)
    assert message.content_digest is None
    assert message.content == CONTENT


def test_blocks_stand_by_their_index_and_not_by_their_end() -> None:
    message = fold([StreamStart(), TextStart(0), TextStart(1), TextEnd(1, Text("b")), TextEnd(0, Text("a"))])
    assert message.content == (Text("a"), Text("b"))


def test_usage_is_the_last_that_was_told() -> None:
    assert fold([StreamStart(), UsageUpdate(Usage(input=5)), UsageUpdate(Usage(output=1))]).usage == Usage(output=1)


def test_events_of_unknown_kinds_are_passed_over() -> None:
    class Later:
        index = 0

    told: list[Any] = [*EVENTS[:4], Later(), *EVENTS[4:]]
    assert fold(told) == MESSAGE


def test_asking_for_the_message_changes_nothing() -> None:
    accumulator = Accumulator()
    for place, event in enumerate(EVENTS):
        accumulator.add(event)
        assert accumulator.message() == accumulator.message() == fold(EVENTS[: place + 1])
    assert accumulator.message() == MESSAGE


def test_a_message_that_was_handed_out_does_not_change() -> None:
    accumulator = Accumulator()
    accumulator.add_all(EVENTS[:5])
    early = accumulator.message()
    accumulator.add_all(EVENTS[5:])
    assert early == fold(EVENTS[:5])


# told again


def test_a_message_is_told_as_events() -> None:
    told = list(replay_events(MESSAGE))
    check_event_rules(told, complete=True)
    assert told[:3] == [*NOTICES, StreamStart("msg_1", ORIGIN, LEVEL, "v1:ab")]
    assert told[3:6] == [ThinkingStart(0), ThinkingDelta(0, "because"), ThinkingEnd(0, SIGNED)]
    assert told[-1] == StreamEnd(StopReason.TOOL_USE, "tool_use", {"a": 1}, MESSAGE)


def test_the_fold_of_what_is_told_again_is_the_message() -> None:
    assert fold(list(replay_events(MESSAGE))) == MESSAGE


@pytest.mark.parametrize("reason", [None, StopReason.ERROR, StopReason.ABORTED])
def test_a_message_that_failed_is_told_without_an_end(reason: StopReason | None) -> None:
    message = AssistantMessage([Text("half", complete=False)], stop_reason=reason)
    told = list(replay_events(message))
    check_event_rules(told, complete=False)
    assert fold(told) == AssistantMessage([Text("half", complete=False)])


def can_be_told(message: AssistantMessage) -> bool:
    """Halves of surrogate pairs are no events; only messages made by hand have them."""
    try:
        "".join(call.arguments_json for call in message.content if isinstance(call, ToolCall)).encode()
        "".join(block.text for block in message.content if isinstance(block, (Text, Thinking))).encode()
    except UnicodeEncodeError:
        return False
    return True


@settings(max_examples=50)
@given(assistant_messages.filter(can_be_told))
def test_any_message_is_told_by_the_rules_and_folds_to_itself(message: AssistantMessage) -> None:
    ended = message.stop_reason not in (None, StopReason.ERROR, StopReason.ABORTED)
    if ended:
        message = evolve(message, content_digest=content_digest(message.content))
    else:
        message = evolve(message, stop_reason=None, raw_stop_reason=None, stop_detail=None, content_digest=None)
    told = list(replay_events(message))
    check_event_rules(told, complete=ended)
    assert fold(told) == message


# cut anywhere


def walk(told: list[StreamEvent]) -> list[AssistantBlock]:
    """The content, found out in the simplest way."""
    found: dict[int, Any] = {}
    for event in told:
        match event:
            case TextStart(index=index) | ThinkingStart(index=index):
                found[index] = (Text if isinstance(event, TextStart) else Thinking)("", complete=False)
            case ToolCallStart(index=index, id=id, name=name):
                found[index] = ToolCall(id, name=name, complete=False)
            case TextDelta(index=index, text=text) | ThinkingDelta(index=index, text=text):
                found[index] = evolve(found[index], text=found[index].text + text)
            case ToolCallDelta(index=index, json=json):
                found[index] = evolve(found[index], arguments_json=found[index].arguments_json + json)
            case TextEnd(index=index, block=block) | ThinkingEnd(index=index, block=block):
                found[index] = block
            case ToolCallEnd(index=index, call=call):
                found[index] = call
            case OpaqueBlock(index=index, block=block):
                found[index] = block
            case _:
                pass
    return [found[index] for index in sorted(found)]


@settings(max_examples=50)
@given(assistant_messages, st.integers(1, 4))
def test_cut_anywhere_the_fold_is_what_was_told_so_far(message: AssistantMessage, size: int) -> None:
    told: list[StreamEvent] = []
    for event in replay_events(message):
        text = event.json if isinstance(event, ToolCallDelta) else getattr(event, "text", "")
        if isinstance(event, (TextDelta, ThinkingDelta, ToolCallDelta)):
            told += [type(event)(event.index, text[at : at + size]) for at in range(0, len(text), size)]
        else:
            told.append(event)
    accumulator = Accumulator()
    for length, event in enumerate(told, 1):
        accumulator.add(event)
        assert list(accumulator.message().content) == walk(told[:length])


# cost


def build(kind: str, count: int, piece: str) -> AssistantMessage:
    """One long block through the builder and the fold, event by event."""
    builder, accumulator = BlockBuilder(ORIGIN), Accumulator()
    if kind == "call":
        block = builder.open_tool_call("c", "n")
    else:
        block = builder.open_text() if kind == "text" else builder.open_thinking()
    for _ in range(count):
        builder.extend(block, piece)
        accumulator.add_all(builder.take())
    builder.close(block)
    builder.finish(StopReason.LENGTH)
    accumulator.add_all(builder.take())
    return accumulator.message()


@pytest.mark.parametrize("kind", ["text", "thinking", "call"])
def test_the_time_for_a_block_grows_with_its_size_and_not_with_its_square(kind: str) -> None:
    def seconds(count: int) -> float:
        times = []
        for _ in range(3):
            start = time.process_time()
            build(kind, count, "word ")
            times.append(time.process_time() - start)
        return min(times)

    small, large = seconds(1_000), seconds(16_000)
    assert large < 100 * max(small, 0.0005)  # sixteen times the size: 16 when linear, 256 when quadratic


def test_ten_thousand_pieces_take_little_more_memory_than_three_times_their_text() -> None:
    build("thinking", 10, "word ")
    pieces = [f"word {number:05}" for number in range(10_000)]
    builder, accumulator = BlockBuilder(ORIGIN), Accumulator()
    tracemalloc.start()
    try:
        block = builder.open_thinking()
        for piece in pieces:
            builder.extend(block, "" + piece)
            accumulator.add_all(builder.take())
        builder.close(block)
        accumulator.add_all(builder.take())
        left, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    size = len("".join(pieces))
    assert peak < 3 * size  # the builder's text, the fold's, and what is moved while they grow
    assert left < 1.5 * size


def test_fragments_give_the_whole_text_at_any_time() -> None:
    fragments = Fragments()
    assert not fragments
    assert str(fragments) == ""
    text = ""
    for number in range(1_000):
        fragments.append(str(number))
        text += str(number)
        if number % 100 == 7:
            assert str(fragments) == text
    assert fragments
    assert str(fragments) == str(fragments) == text
