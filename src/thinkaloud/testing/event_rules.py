"""The rules of an event stream as one check, for tests of parsers, gateways and replays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from thinkaloud.accumulator import Accumulator
from thinkaloud.content import Text, Thinking, ToolCall
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
)
from thinkaloud.messages import StopReason
from thinkaloud.notices import Notice

_KINDS: dict[type, str] = {
    TextStart: "text",
    TextDelta: "text",
    TextEnd: "text",
    ThinkingStart: "thinking",
    ThinkingDelta: "thinking",
    ThinkingEnd: "thinking",
    ToolCallStart: "tool call",
    ToolCallDelta: "tool call",
    ToolCallEnd: "tool call",
}
_STARTS = (TextStart, ThinkingStart, ToolCallStart)
_DELTAS = (TextDelta, ThinkingDelta, ToolCallDelta)
_ENDS = (TextEnd, ThinkingEnd, ToolCallEnd)


def check_event_rules(events: Iterable[StreamEvent], *, complete: bool, cut: bool = False) -> None:
    """Check that events are those of one answer, told by the rules.

    events: all events of the answer, in order.
    complete: True for an answer that came to its end; False for one that failed or was left. Both close every block.
    cut: the events were cut off anywhere, so blocks may be open still; only with `complete=False`.

    Raises AssertionError that names the rule and the place.
    """
    if complete and cut:
        raise ValueError("complete and cut exclude each other")
    walk = _Walk()
    for event in events:
        walk.event = event
        walk.step(event)
        walk.place += 1
    walk.event = None
    walk.check_end(complete=complete, cut=cut)


class _Walk:
    """What has been seen so far."""

    def __init__(self) -> None:
        self.place = 0
        self.event: StreamEvent | None = None
        self.started = False
        self.end: StreamEnd | None = None
        self.open: dict[int, tuple[StreamEvent, list[str]]] = {}
        self.indexes: set[int] = set()
        self.highest = -1
        self.fold = Accumulator()

    def require(self, holds: bool, rule: str) -> None:
        if not holds:
            place = "the end of the events" if self.event is None else f"event {self.place}, {self.event!r}"
            raise AssertionError(f"{rule} (at {place})")

    def step(self, event: StreamEvent) -> None:
        self.require(self.end is None, "StreamEnd is the last event")
        if isinstance(event, StreamStart):
            self.require(not self.started, "StreamStart comes once")
            self.started = True
        elif not isinstance(event, Notice):
            self.require(self.started, "only notices come before StreamStart")
        if isinstance(event, _STARTS):
            self.claim(event.index)
            self.open[event.index] = (event, [])
        elif isinstance(event, _DELTAS):
            self.check_delta(event)
        elif isinstance(event, _ENDS):
            self.check_block(event)
        elif isinstance(event, OpaqueBlock):
            self.claim(event.index, reserved=True)
        elif isinstance(event, StreamEnd):
            self.check_stream_end(event)
        self.fold.add(event)

    def claim(self, index: int, *, reserved: bool = False) -> None:
        """An opaque block may come later than its turn: it took its index when it began, out of sight."""
        self.require(index not in self.indexes, "an index starts once")
        self.require(index >= 0, "an index is not negative")
        self.require(reserved or index > self.highest, "indexes rise in order of first start")
        self.indexes.add(index)
        self.highest = max(self.highest, index)

    def opened(self, event: Any, what: str) -> tuple[Any, list[str]]:
        self.require(event.index in self.open, f"{what} lies between the start and the end of its index")
        start, pieces = self.open[event.index]
        same = _KINDS[type(start)] == _KINDS[type(event)]
        self.require(same, f"{what} is of the kind that its index began with")
        return start, pieces

    def check_delta(self, event: TextDelta | ThinkingDelta | ToolCallDelta) -> None:
        _, pieces = self.opened(event, "a delta")
        piece = event.json if isinstance(event, ToolCallDelta) else event.text
        self.require(piece != "", "an empty delta is no event")
        self.require(_can_be_encoded(piece), "the text of a delta can be encoded: no half of a surrogate pair")
        pieces.append(piece)

    def check_block(self, event: TextEnd | ThinkingEnd | ToolCallEnd) -> None:
        start, pieces = self.opened(event, "an end")
        del self.open[event.index]
        text = "".join(pieces)
        if isinstance(event, ToolCallEnd):
            call = event.call
            self.require(isinstance(call, ToolCall), "ToolCallEnd carries a ToolCall")
            self.require((call.id, call.name) == (start.id, start.name), "id and name of a call are final at its start")
            self.require(call.arguments_json == text, "the deltas of an index join to the arguments of its call")
        else:
            kind = Text if isinstance(event, TextEnd) else Thinking
            self.require(isinstance(event.block, kind), f"{type(event).__name__} carries a {kind.__name__}")
            self.require(event.block.text == text, "the deltas of an index join to the text of its block")

    def check_stream_end(self, event: StreamEnd) -> None:
        self.require(not self.open, "every block is closed before StreamEnd")
        success = event.stop_reason not in (StopReason.ERROR, StopReason.ABORTED)
        self.require(success, "StreamEnd comes only on success")
        self.end = event

    def check_end(self, *, complete: bool, cut: bool) -> None:
        self.require(cut or complete == (self.end is not None), "StreamEnd comes on success, and only then")
        self.require(cut or not self.open, "every block is closed on every way out")
        self.require(cut or self.highest == len(self.indexes) - 1, "indexes are dense")
        if self.end is not None and self.end.message is not None:
            self.require(self.end.message == self.fold.message(), "StreamEnd.message is the fold of the events")


def _can_be_encoded(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
