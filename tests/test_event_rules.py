"""The checker of the event rules: it passes what is right and names the rule that is broken."""

from __future__ import annotations

import re

import pytest

from thinkaloud.content import Opaque, Text, Thinking, ToolCall
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
from thinkaloud.messages import AssistantMessage, StopReason
from thinkaloud.notices import Notice
from thinkaloud.testing.event_rules import check_event_rules
from thinkaloud.usage import Usage

THINKING: list[StreamEvent] = [
    ThinkingStart(0),
    ThinkingDelta(0, "hm"),
    ThinkingEnd(0, Thinking.signed("hm", "c2ln")),
]
CALL: list[StreamEvent] = [
    ToolCallStart(1, "call_1", "look"),
    ToolCallDelta(1, "{}"),
    ToolCallEnd(1, ToolCall("call_1", name="look", arguments_json="{}")),
]
OPAQUE = Opaque("anthropic-messages", kind="fallback", data={})
END = StreamEnd(StopReason.TOOL_USE, "tool_use")


def test_a_whole_answer_passes() -> None:
    events: list[StreamEvent] = [
        Notice("level_clamped"),
        StreamStart(),
        *THINKING,
        Progress(3),
        *CALL,
        UsageUpdate(Usage(output=9)),
        END,
    ]
    check_event_rules(events, complete=True)


def test_a_failed_answer_passes_without_its_end() -> None:
    check_event_rules([StreamStart(), *THINKING, *CALL], complete=False)
    check_event_rules([Notice("retrying")], complete=False)


def test_interleaved_blocks_pass() -> None:
    events: list[StreamEvent] = [StreamStart(), THINKING[0], CALL[0], *THINKING[1:], *CALL[1:], END]
    check_event_rules(events, complete=True)


def test_an_opaque_block_may_come_after_its_turn() -> None:
    end: list[StreamEvent] = [TextStart(1), TextEnd(1, Text("")), OpaqueBlock(0, OPAQUE), END]
    check_event_rules([StreamStart(), *end], complete=True)


def test_every_beginning_of_an_answer_passes_as_cut() -> None:
    events: list[StreamEvent] = [StreamStart(), THINKING[0], CALL[0], *THINKING[1:], *CALL[1:], END]
    for length in range(len(events) + 1):
        check_event_rules(events[:length], complete=False, cut=True)


def test_the_message_of_the_end_may_be_the_fold() -> None:
    message = AssistantMessage("hi", stop_reason=StopReason.END)
    events: list[StreamEvent] = [StreamStart(), TextStart(0), TextDelta(0, "hi"), TextEnd(0, Text("hi"))]
    check_event_rules([*events, StreamEnd(StopReason.END, message=message)], complete=True)


BROKEN: dict[str, list[StreamEvent]] = {
    "only notices come before StreamStart": [Progress(1), StreamStart(), END],
    "StreamStart comes once": [StreamStart(), StreamStart(), END],
    "StreamEnd is the last event": [StreamStart(), END, Notice("late")],
    "StreamEnd comes on success, and only then": [StreamStart(), *THINKING],
    "StreamEnd comes only on success": [StreamStart(), StreamEnd(StopReason.ERROR)],
    "every block is closed before StreamEnd": [StreamStart(), ThinkingStart(0), END],
    "an index starts once": [StreamStart(), *THINKING, TextStart(0), END],
    "an index is not negative": [StreamStart(), TextStart(-1)],
    "indexes rise in order of first start": [StreamStart(), TextStart(1), TextStart(0)],
    "indexes are dense": [StreamStart(), *CALL, END],
    "a delta lies between the start and the end of its index": [StreamStart(), *THINKING, ThinkingDelta(0, "!"), END],
    "an end lies between the start and the end of its index": [StreamStart(), THINKING[2], END],
    "a delta is of the kind that its index began with": [StreamStart(), ThinkingStart(0), TextDelta(0, "x")],
    "an empty delta is no event": [StreamStart(), TextStart(0), TextDelta(0, "")],
    "no half of a surrogate pair": [StreamStart(), TextStart(0), TextDelta(0, "\ud83d")],
    "the deltas of an index join to the text of its block": [StreamStart(), TextStart(0), TextEnd(0, Text("x"))],
    "the deltas of an index join to the arguments of its call": [
        StreamStart(),
        ToolCallStart(0, "a", "b"),
        ToolCallEnd(0, ToolCall("a", name="b", arguments_json="{}")),
    ],
    "id and name of a call are final at its start": [
        StreamStart(),
        ToolCallStart(0, "a", "b"),
        ToolCallEnd(0, ToolCall("other", name="b")),
    ],
    "StreamEnd.message is the fold of the events": [
        StreamStart(),
        StreamEnd(StopReason.END, message=AssistantMessage("hi", stop_reason=StopReason.END)),
    ],
}


@pytest.mark.parametrize("rule", BROKEN)
def test_a_broken_rule_is_named(rule: str) -> None:
    with pytest.raises(AssertionError, match=re.escape(rule)):
        check_event_rules(BROKEN[rule], complete=True)


def test_a_failed_answer_must_have_closed_its_blocks() -> None:
    with pytest.raises(AssertionError, match="every block is closed on every way out"):
        check_event_rules([StreamStart(), *THINKING[:2]], complete=False)


def test_the_place_of_the_fault_is_named() -> None:
    with pytest.raises(AssertionError, match=r"event 1, StreamStart\("):
        check_event_rules([StreamStart(), StreamStart()], complete=True)
