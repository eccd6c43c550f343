"""The block builder keeps the rules of the event stream, whatever order a wire tells its blocks in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from attrs import define, field
from hypothesis import given
from hypothesis import strategies as st

from thinkaloud.accumulator import Accumulator
from thinkaloud.block_builder import BlockBuilder, OpenBlock
from thinkaloud.content import Opaque, Text, Thinking, ToolCall
from thinkaloud.errors import LimitExceeded
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
from thinkaloud.jsontext import is_json_object, joined_surrogates
from thinkaloud.levels import ThinkingLevel
from thinkaloud.limits import Limits
from thinkaloud.messages import LevelChoice, Origin, StopReason
from thinkaloud.notices import Notice
from thinkaloud.testing.event_rules import check_event_rules
from thinkaloud.usage import Usage

ORIGIN = Origin("anthropic-messages", "anthropic", "claude-test")
OPAQUE = Opaque("anthropic-messages", kind="fallback", data={"a": 1})


def new() -> BlockBuilder:
    return BlockBuilder(ORIGIN)


# the answer as a whole


def test_nothing_is_told_before_the_first_block() -> None:
    builder = new()
    builder.response(id="msg_1", model="claude-other")
    builder.update_usage(Usage(input=5))
    builder.progress(3)
    assert builder.take() == []
    assert not builder.started


def test_the_first_block_tells_the_start_and_what_is_known_by_then() -> None:
    builder = BlockBuilder(ORIGIN, level=LevelChoice(ThinkingLevel.MAX, ThinkingLevel.HIGH), prefix_digest="v1:ab")
    builder.response(id="msg_1", model="claude-other")
    builder.update_usage(Usage(input=5))
    builder.open_text()
    assert builder.take() == [
        StreamStart(
            "msg_1",
            Origin("anthropic-messages", "anthropic", "claude-other"),
            LevelChoice(ThinkingLevel.MAX, ThinkingLevel.HIGH),
            "v1:ab",
        ),
        UsageUpdate(Usage(input=5)),
        TextStart(0),
    ]
    assert builder.started


def test_the_first_id_of_the_answer_counts_and_the_last_model() -> None:
    builder = new()
    builder.response(id="a", model="one")
    builder.response(id="b", model="two")
    builder.response(id="", model="")
    builder.finish(StopReason.END)
    start = builder.take()[0]
    assert isinstance(start, StreamStart)
    assert (start.response_id, start.origin.model) == ("a", "two")


def test_notices_may_come_before_the_start() -> None:
    builder = new()
    builder.notice("unknown_event", "passed over", path="ping", detail={"a": 1})
    assert builder.take() == [Notice("unknown_event", "passed over", "ping", {"a": 1})]


def test_taking_hands_over_each_event_once() -> None:
    builder = new()
    builder.open_text()
    assert builder.take() == [StreamStart(origin=ORIGIN), TextStart(0)]
    assert builder.take() == []


def test_usage_is_told_when_it_changes_and_later_counts_replace() -> None:
    builder = new()
    builder.open_text()
    builder.take()
    builder.update_usage(Usage(input=5, output=1))
    builder.update_usage(Usage(output=1))
    builder.update_usage(Usage(output=9))
    assert builder.take() == [UsageUpdate(Usage(input=5, output=1)), UsageUpdate(Usage(input=5, output=9))]


def test_an_answer_without_blocks_has_a_start_and_an_end() -> None:
    builder = new()
    builder.finish(StopReason.REFUSAL, raw="refusal", detail={"why": "policy"})
    assert builder.take() == [StreamStart(origin=ORIGIN), StreamEnd(StopReason.REFUSAL, "refusal", {"why": "policy"})]


def test_an_answer_that_failed_before_its_first_block_tells_nothing() -> None:
    builder = new()
    builder.abandon()
    assert builder.take() == []


def test_after_the_end_nothing_is_told() -> None:
    for end in (finish(StopReason.END), BlockBuilder.abandon):
        builder = new()
        builder.open_text()
        end(builder)
        builder.take()
        builder.update_usage(Usage(output=5))
        builder.progress(3)
        builder.notice("late", "too late")
        builder.finish(StopReason.LENGTH)
        builder.abandon()
        assert builder.take() == []


# blocks


def test_a_block_is_told_from_its_start_to_its_end() -> None:
    builder = new()
    block = builder.open_thinking()
    builder.extend(block, "be")
    builder.extend(block, "cause")
    block.signature = "c2ln"
    block.extra["id"] = "rs_1"
    builder.close(block)
    assert builder.take()[1:] == [
        ThinkingStart(0),
        ThinkingDelta(0, "be"),
        ThinkingDelta(0, "cause"),
        ThinkingEnd(0, Thinking("because", signature="c2ln", extra={"id": "rs_1"})),
    ]


def test_a_text_block_keeps_its_citations() -> None:
    builder = new()
    block = builder.open_text()
    builder.extend(block, "sky")
    block.citations.append({"url": "u"})
    builder.close(block)
    assert builder.take()[-1] == TextEnd(0, Text("sky", citations=[{"url": "u"}]))


def test_a_call_is_told_with_its_arguments() -> None:
    builder = new()
    block = builder.open_tool_call("call_1", "look")
    builder.extend(block, '{"q"')
    builder.extend(block, ":1}")
    builder.close(block)
    assert builder.saw_call
    assert builder.take()[1:] == [
        ToolCallStart(0, "call_1", "look"),
        ToolCallDelta(0, '{"q"'),
        ToolCallDelta(0, ":1}"),
        ToolCallEnd(0, ToolCall("call_1", name="look", arguments_json='{"q":1}')),
    ]


def test_blocks_may_interleave() -> None:
    builder = new()
    first, second = builder.open_thinking(), builder.open_text()
    builder.extend(second, "b")
    builder.extend(first, "a")
    builder.close(second)
    builder.close(first)
    assert builder.take()[1:] == [
        ThinkingStart(0),
        TextStart(1),
        TextDelta(1, "b"),
        ThinkingDelta(0, "a"),
        TextEnd(1, Text("b")),
        ThinkingEnd(0, Thinking("a")),
    ]


def test_an_empty_piece_is_no_event() -> None:
    builder = new()
    block = builder.open_text()
    builder.take()
    builder.extend(block, "")
    assert builder.take() == []


def test_a_closed_block_takes_no_more_and_closes_once() -> None:
    builder = new()
    block = builder.open_text()
    builder.close(block)
    builder.take()
    builder.extend(block, "late")
    builder.close(block)
    assert builder.take() == []


def test_redacted_thinking_comes_whole() -> None:
    builder = new()
    builder.redacted("cGF5", extra={"id": 1})
    assert builder.take()[1:] == [
        ThinkingStart(0),
        ThinkingEnd(0, Thinking("", redacted_data="cGF5", extra={"id": 1})),
    ]


def test_an_opaque_block_comes_whole_at_the_next_index() -> None:
    builder = new()
    builder.open_text()
    builder.opaque(OPAQUE)
    assert builder.take()[-1] == OpaqueBlock(1, OPAQUE)


def test_an_opaque_block_may_keep_an_earlier_index() -> None:
    builder = new()
    index = builder.reserve()
    builder.open_text()
    builder.opaque(OPAQUE, index=index)
    assert builder.take() == [StreamStart(origin=ORIGIN), TextStart(1), OpaqueBlock(0, OPAQUE)]


def test_progress_is_told_while_the_answer_lasts() -> None:
    builder = new()
    builder.open_thinking()
    builder.take()
    builder.progress(12)
    assert builder.take() == [Progress(12)]


# halves of surrogate pairs


def test_halves_over_two_pieces_come_out_joined() -> None:
    builder = new()
    block = builder.open_text()
    builder.extend(block, "a\ud83d")
    builder.extend(block, "\ude00b")
    builder.close(block)
    assert builder.take()[2:] == [TextDelta(0, "a"), TextDelta(0, "😀b"), TextEnd(0, Text("a😀b"))]


def test_a_piece_that_is_half_a_character_is_no_event_yet() -> None:
    builder = new()
    block = builder.open_text()
    builder.take()
    builder.extend(block, "\ud83d")
    builder.extend(block, "")
    assert builder.take() == []


def test_a_half_without_its_mate_becomes_a_replacement_character() -> None:
    builder = new()
    block = builder.open_text()
    builder.extend(block, "\ud83d")
    builder.extend(block, "x\ude00")
    builder.extend(block, "\ud83d")
    builder.close(block)
    assert builder.take()[2:] == [
        TextDelta(0, "\ufffdx\ufffd"),
        TextDelta(0, "\ufffd"),
        TextEnd(0, Text("\ufffdx\ufffd\ufffd")),
    ]


def test_a_half_after_a_whole_object_makes_it_no_object() -> None:
    builder = new()
    builder.extend(builder.open_tool_call("c", "n"), "{}\ud83d")
    builder.finish(StopReason.LENGTH)
    assert builder.take()[-2] == ToolCallEnd(0, ToolCall("c", name="n", arguments_json="{}\ufffd", complete=False))


def test_halves_of_different_blocks_do_not_meet() -> None:
    builder = new()
    first, second = builder.open_text(), builder.open_text()
    builder.extend(first, "\ud83d")
    builder.extend(second, "\ude00")
    builder.finish(StopReason.END)
    texts = [event.block.text for event in builder.take() if isinstance(event, TextEnd)]
    assert texts == ["\ufffd", "\ufffd"]


# calls that may be cut


def ended_call(arguments: str, end: Callable[[BlockBuilder], None], *, close: bool) -> ToolCall:
    builder = new()
    block = builder.open_tool_call("call_1", "look")
    builder.extend(block, arguments)
    if close:
        builder.close(block)
    end(builder)
    (call,) = [event.call for event in builder.take() if isinstance(event, ToolCallEnd)]
    assert call.arguments_json == arguments
    return call


def finish(reason: StopReason) -> Callable[[BlockBuilder], None]:
    return lambda builder: builder.finish(reason)


def test_a_call_that_a_pause_has_cut_is_incomplete() -> None:
    builder = new()
    call = builder.open_tool_call("call_1", "look")
    builder.extend(call, '{"q":')
    builder.finish(StopReason.PAUSE, cut=True)
    assert [event.call.complete for event in builder.take() if isinstance(event, ToolCallEnd)] == [False]


@pytest.mark.parametrize("close", [True, False], ids=["closed by the wire", "left open"])
@pytest.mark.parametrize(
    ("reason", "arguments", "complete"),
    [
        (StopReason.TOOL_USE, '{"q":1}', True),
        (StopReason.TOOL_USE, "", True),
        (StopReason.TOOL_USE, '{"q":', True),
        (StopReason.END, "nonsense", True),
        (StopReason.LENGTH, '{"q":1}', True),
        (StopReason.LENGTH, '{"q":', False),
        (StopReason.LENGTH, "", False),
        (StopReason.CONTENT_FILTER, '{"q":', False),
        (StopReason.REFUSAL, '{"q":', False),
        (StopReason.UNKNOWN, '{"q":', False),
    ],
)
def test_a_call_is_complete_if_the_model_chose_to_stop_or_its_arguments_are_whole(
    reason: StopReason, arguments: str, complete: bool, close: bool
) -> None:
    assert ended_call(arguments, finish(reason), close=close).complete is complete


def test_a_call_that_the_wire_closed_whole_stays_complete_when_the_answer_fails() -> None:
    assert ended_call('{"q":1}', BlockBuilder.abandon, close=True).complete


@pytest.mark.parametrize("arguments", ['{"q":1}', '{"q":', ""])
def test_an_open_call_is_incomplete_when_the_answer_fails(arguments: str) -> None:
    assert not ended_call(arguments, BlockBuilder.abandon, close=False).complete


@pytest.mark.parametrize("arguments", ['{"q":', ""])
def test_a_closed_call_without_whole_arguments_is_incomplete_when_the_answer_fails(arguments: str) -> None:
    assert not ended_call(arguments, BlockBuilder.abandon, close=True).complete


@pytest.mark.parametrize("following", [BlockBuilder.open_text, BlockBuilder.reserve, lambda it: it.opaque(OPAQUE)])
def test_a_closed_call_that_another_block_follows_is_complete(following: Callable[[BlockBuilder], Any]) -> None:
    builder = new()
    block = builder.open_tool_call("call_1", "look")
    builder.close(block)
    assert ToolCallEnd(0, ToolCall("call_1", name="look")) not in builder.take()
    following(builder)
    assert builder.take()[0] == ToolCallEnd(0, ToolCall("call_1", name="look"))
    builder.finish(StopReason.LENGTH)
    assert not [event for event in builder.take() if isinstance(event, ToolCallEnd)]


def test_open_text_and_thinking_are_incomplete_when_the_answer_fails() -> None:
    builder = new()
    builder.extend(builder.open_thinking(), "hm")
    builder.extend(builder.open_text(), "hi")
    builder.abandon()
    assert builder.take()[-2:] == [
        ThinkingEnd(0, Thinking("hm", complete=False)),
        TextEnd(1, Text("hi", complete=False)),
    ]


def test_a_call_that_the_wire_closes_twice_ends_once() -> None:
    builder = new()
    call = builder.open_tool_call("c1", "look_up")
    builder.close(call)
    builder.close(call)
    builder.open_text()
    ends = [event for event in builder.take() if isinstance(event, ToolCallEnd)]
    assert [event.call.complete for event in ends] == [True]


def test_what_was_closed_before_a_failure_stays_complete() -> None:
    builder = new()
    builder.close(builder.open_thinking())
    builder.abandon()
    assert builder.take()[-1] == ThinkingEnd(0, Thinking(""))


# any sequence of what a wire may say


@define
class Expected:
    """What must become of a block, found out in the simplest way."""

    kind: str
    handle: OpenBlock | None = None
    pieces: list[str] = field(factory=list)
    told_closed: bool = False
    complete: bool | None = None

    @property
    def text(self) -> str:
        return joined_surrogates("".join(self.pieces))

    @property
    def whole(self) -> bool:
        return self.kind != "call" or is_json_object(self.text)


pieces = st.sampled_from(["a", "é ", "", "\ud83d", "\ude00", "😀", '{"q":', "1}", "{}", "}"])
steps = st.lists(
    st.one_of(
        st.sampled_from([("open", kind) for kind in ("text", "thinking", "call", "redacted", "opaque", "reserve")]),
        st.tuples(st.just("extend"), st.integers(0, 9), pieces),
        st.tuples(st.just("extend"), st.integers(0, 9), pieces),
        st.tuples(st.just("close"), st.integers(0, 9)),
        st.tuples(st.just("usage"), st.integers(0, 3)),
        st.sampled_from([("notice",), ("progress",), ("response",)]),
    ),
    max_size=25,
)
ends = st.sampled_from([*StopReason, None])


def play(plan: list[tuple[Any, ...]], end: StopReason | None) -> tuple[list[StreamEvent], list[Expected]]:
    """Carry a plan out on a builder, and on the simplest model of it."""
    builder = new()
    events: list[StreamEvent] = []
    blocks: list[Expected] = []

    def claimed() -> None:
        for block in blocks:
            if block.told_closed and block.complete is None:
                block.complete = True

    for step in plan:
        match step:
            case ("open", kind):
                claimed()
                block = Expected(kind)
                blocks.append(block)
                if kind == "text":
                    block.handle = builder.open_text()
                elif kind == "thinking":
                    block.handle = builder.open_thinking()
                elif kind == "call":
                    block.handle = builder.open_tool_call("call", "look")
                elif kind == "reserve":
                    assert builder.reserve() == len(blocks) - 1
                else:
                    block.complete = True
                    if kind == "redacted":
                        builder.redacted("cGF5")
                    else:
                        builder.opaque(OPAQUE)
            case ("extend", place, piece) if place < len(blocks) and (handle := blocks[place].handle):
                if not blocks[place].told_closed:
                    blocks[place].pieces.append(piece)
                builder.extend(handle, piece)
            case ("close", place) if place < len(blocks):
                block = blocks[place]
                if block.handle is not None:
                    builder.close(block.handle)
                    block.told_closed = True
                    if block.complete is None and block.whole:
                        block.complete = True
                elif block.kind == "reserve" and block.complete is None:
                    builder.opaque(OPAQUE, index=place)
                    block.complete = True
            case ("usage", count):
                builder.update_usage(Usage(output=count))
            case ("notice",):
                builder.notice("unknown_event", "passed over")
            case ("progress",):
                builder.progress(1)
            case ("response",):
                builder.response(id="msg_1", model="other")
            case _:
                pass
        events += builder.take()
    for place, block in enumerate(blocks):
        if block.kind == "reserve" and block.complete is None:
            builder.opaque(OPAQUE, index=place)
            block.complete = True
    if end is None or end in (StopReason.ERROR, StopReason.ABORTED):
        builder.abandon()
    else:
        builder.finish(end)
    chosen = end in (StopReason.END, StopReason.TOOL_USE, StopReason.STOP_SEQUENCE, StopReason.PAUSE)
    failed = end in (None, StopReason.ERROR, StopReason.ABORTED)
    for block in blocks:
        if block.complete is None:
            block.complete = not failed and (chosen or block.whole)
    return [*events, *builder.take()], blocks


@given(steps, ends)
def test_the_events_of_any_plan_keep_the_rules(plan: list[tuple[Any, ...]], end: StopReason | None) -> None:
    events, _ = play(plan, end)
    check_event_rules(events, complete=end not in (None, StopReason.ERROR, StopReason.ABORTED))


@given(steps, ends)
def test_the_fold_of_any_plan_is_what_was_said(plan: list[tuple[Any, ...]], end: StopReason | None) -> None:
    events, blocks = play(plan, end)
    fold = Accumulator()
    fold.add_all(events)
    content = fold.message().content
    assert len(content) == len(blocks)
    for block, expected in zip(content, blocks, strict=True):
        assert block.complete is expected.complete
        match expected.kind:
            case "text":
                assert block == Text(expected.text, complete=block.complete)
            case "thinking":
                assert block == Thinking(expected.text, complete=block.complete)
            case "call":
                assert isinstance(block, ToolCall)
                assert block.arguments_json == expected.text
            case "redacted":
                assert block == Thinking.redacted_payload("cGF5")
            case _:
                assert block == OPAQUE


@given(steps, ends)
def test_every_beginning_of_the_events_keeps_the_rules(plan: list[tuple[Any, ...]], end: StopReason | None) -> None:
    events, _ = play(plan, end)
    for length in range(len(events)):
        check_event_rules(events[:length], complete=False, cut=True)


def test_held_calls_are_ended_once_though_one_of_them_passes_a_bound() -> None:
    builder = BlockBuilder(ORIGIN)
    builder.limits = Limits(argument_depth=2)
    calls = [builder.open_tool_call(id, "f") for id in ("a", "b")]
    for call, arguments in zip(calls, ("[", "[[["), strict=True):
        builder.extend(call, arguments)
        builder.close(call)
    with pytest.raises(LimitExceeded, match="argument_depth"):
        builder.open_text()
    builder.open_text()
    builder.abandon()
    ends = [event.call for event in builder.take() if isinstance(event, ToolCallEnd)]
    assert [(call.id, call.complete) for call in ends] == [("a", True), ("b", False)]
