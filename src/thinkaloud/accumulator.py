"""The fold: any stream of events, complete or cut, into the message; and a message back into events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

from attrs import evolve

from thinkaloud.content import AssistantBlock, Opaque, Text, Thinking, ToolCall
from thinkaloud.digests import content_digest
from thinkaloud.errors import WrongValue
from thinkaloud.events import (
    OpaqueBlock,
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
from thinkaloud.messages import AssistantMessage, StopReason, Timing
from thinkaloud.notices import Notice
from thinkaloud.usage import Cost, Usage


class _Draft:
    """A block whose end has not come yet."""

    __slots__ = ("fragments", "id", "kind", "name")

    def __init__(self, kind: Literal["text", "thinking", "tool_call"], id: str = "", name: str = "") -> None:
        self.kind = kind
        self.id = id
        self.name = name
        self.fragments = Fragments()

    def snapshot(self) -> AssistantBlock:
        text = str(self.fragments)
        if self.kind == "text":
            return Text(text, complete=False)
        if self.kind == "thinking":
            return Thinking(text, complete=False)
        return ToolCall(self.id, name=self.name, arguments_json=text, complete=False)


class Accumulator:
    """Folds the events of one answer into its message.

    `message()` may be asked at any time: blocks that are still open come as they are, with `complete=False`. Linear in
    the size of the answer. It never reads `StreamEnd.message`, so the fold proves that the events say everything.
    """

    def __init__(self) -> None:
        self._start = StreamStart()
        self._drafts: dict[int, _Draft] = {}
        self._blocks: dict[int, AssistantBlock] = {}
        self._usage = Usage()
        self._cost: Cost | None = None
        self._notices: list[Notice] = []
        self._end: StreamEnd | None = None
        self.started = False
        """StreamStart has come."""

    def add(self, event: StreamEvent) -> None:
        """Take in one event. Events of unknown types are passed over."""
        fold = _FOLDS.get(type(event))
        if fold is not None:
            fold(self, event)

    def add_all(self, events: Iterable[StreamEvent]) -> None:
        """Take in several events in order."""
        for event in events:
            kind = type(event)
            if kind is TextDelta or kind is ThinkingDelta:  # nearly all events
                self._drafts[event.index].fragments.append(event.text)  # type: ignore[union-attr]
                continue
            fold = _FOLDS.get(kind)
            if fold is not None:
                fold(self, event)

    def block(self, index: int) -> AssistantBlock:
        """The block of an index of the events as far as it has come. Raises KeyError for one that has not begun."""
        draft = self._drafts.get(index)
        return self._blocks[index] if draft is None else draft.snapshot()

    def message(self, *, timing: Timing = Timing()) -> AssistantMessage:
        """The message as far as it has come; without StreamEnd its stop reason is None."""
        blocks = self._blocks
        if self._drafts:
            blocks = {**blocks, **{index: draft.snapshot() for index, draft in self._drafts.items()}}
        content = tuple([blocks[index] for index in sorted(blocks)])
        end = self._end
        return AssistantMessage(
            content,
            origin=self._start.origin,
            stop_reason=end.stop_reason if end else None,
            raw_stop_reason=end.raw_stop_reason if end else None,
            stop_detail=end.stop_detail if end else None,
            usage=self._usage,
            cost=self._cost,
            response_id=self._start.response_id,
            level=self._start.level,
            prefix_digest=self._start.prefix_digest,
            content_digest=content_digest(content) if end else None,
            notices=tuple(self._notices),
            timing=timing,
        )

    # one small fold per event type

    def _on_start(self, event: StreamStart) -> None:
        self._start = event
        self.started = True

    def _on_text_start(self, event: TextStart) -> None:
        self._drafts[event.index] = _Draft("text")

    def _on_thinking_start(self, event: ThinkingStart) -> None:
        self._drafts[event.index] = _Draft("thinking")

    def _on_tool_call_start(self, event: ToolCallStart) -> None:
        self._drafts[event.index] = _Draft("tool_call", event.id, event.name)

    def _on_delta(self, event: TextDelta | ThinkingDelta) -> None:
        self._drafts[event.index].fragments.append(event.text)

    def _on_tool_call_delta(self, event: ToolCallDelta) -> None:
        self._drafts[event.index].fragments.append(event.json)

    def _on_end(self, event: TextEnd | ThinkingEnd | OpaqueBlock) -> None:
        self._drafts.pop(event.index, None)
        self._blocks[event.index] = event.block

    def _on_tool_call_end(self, event: ToolCallEnd) -> None:
        self._drafts.pop(event.index, None)
        self._blocks[event.index] = event.call

    def _on_usage(self, event: UsageUpdate) -> None:
        self._usage = event.usage
        self._cost = event.cost

    def _on_notice(self, event: Notice) -> None:
        self._notices.append(event)

    def _on_stream_end(self, event: StreamEnd) -> None:
        self._end = event


_FOLDS: dict[type, Callable[[Accumulator, Any], None]] = {
    StreamStart: Accumulator._on_start,
    TextStart: Accumulator._on_text_start,
    TextDelta: Accumulator._on_delta,
    TextEnd: Accumulator._on_end,
    ThinkingStart: Accumulator._on_thinking_start,
    ThinkingDelta: Accumulator._on_delta,
    ThinkingEnd: Accumulator._on_end,
    ToolCallStart: Accumulator._on_tool_call_start,
    ToolCallDelta: Accumulator._on_tool_call_delta,
    ToolCallEnd: Accumulator._on_tool_call_end,
    OpaqueBlock: Accumulator._on_end,
    UsageUpdate: Accumulator._on_usage,
    Notice: Accumulator._on_notice,
    StreamEnd: Accumulator._on_stream_end,
}

# Stop reasons that no event carries: the stream failed or was left.
_WITHOUT_END = (None, StopReason.ERROR, StopReason.ABORTED)


def replay_events(message: AssistantMessage) -> Iterator[StreamEvent]:
    """Tell a stored message as the events of its stream, each block in one delta.

    Folding them gives the message again, except what no event tells: its timing, and a stop reason of error or aborted.
    The content digest is made anew, so it no longer tells that a stored message was edited.
    """
    if not isinstance(message, AssistantMessage):
        raise WrongValue(f"message must be an AssistantMessage, not {type(message).__name__}")
    yield from message.notices
    yield StreamStart(message.response_id, message.origin, message.level, message.prefix_digest)
    for index, block in enumerate(message.content):
        yield from _block_events(index, block)
    if message.usage != Usage() or message.cost is not None:
        yield UsageUpdate(message.usage, message.cost)
    if message.stop_reason not in _WITHOUT_END:
        assert message.stop_reason is not None
        end = StreamEnd(message.stop_reason, message.raw_stop_reason, message.stop_detail)
        yield evolve(end, message=message)


def _block_events(index: int, block: AssistantBlock) -> Iterator[StreamEvent]:
    match block:
        case Text():
            yield TextStart(index)
            if block.text:
                yield TextDelta(index, block.text)
            yield TextEnd(index, block)
        case Thinking():
            yield ThinkingStart(index)
            if block.text:
                yield ThinkingDelta(index, block.text)
            yield ThinkingEnd(index, block)
        case ToolCall():
            yield ToolCallStart(index, block.id, block.name)
            if block.arguments_json:
                yield ToolCallDelta(index, block.arguments_json)
            yield ToolCallEnd(index, block)
        case Opaque():
            yield OpaqueBlock(index, block)
