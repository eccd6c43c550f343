"""What a parser makes of an answer, without any framing: the events, their fold, and the error that ended it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import frozen

from thinkaloud.accumulator import Accumulator
from thinkaloud.errors import ThinkaloudError
from thinkaloud.events import StreamEvent
from thinkaloud.messages import AssistantMessage
from thinkaloud.protocols.base import AnyServerEvent, Parser
from thinkaloud.testing.event_rules import check_event_rules


@frozen
class Reading:
    """What became of an answer: all its events, the fold of them, and the error that ended it."""

    events: list[StreamEvent]
    message: AssistantMessage
    error: ThinkaloudError | None = None

    @property
    def content(self) -> tuple[Any, ...]:
        return self.message.content

    @property
    def codes(self) -> list[str]:
        return [notice.code for notice in self.message.notices]

    def kinds(self) -> list[str]:
        return [type(event).__name__ for event in self.events]


def streamed(parser: Parser, server_events: Iterable[AnyServerEvent]) -> Reading:
    """Feed server events, end the body, and check the rules of the events on every way out."""
    events, error = list[StreamEvent](), None
    try:
        for event in server_events:
            events += parser.feed(event)
        events += parser.close()
    except ThinkaloudError as caught:
        error = caught
        events += parser.abandon()
    return _reading(events, error)


def whole(parser: Parser, body: Any) -> Reading:
    """Feed a whole body, and check the same."""
    events, error = list[StreamEvent](), None
    try:
        events += parser.whole(body)
    except ThinkaloudError as caught:
        error = caught
        events += parser.abandon()
    return _reading(events, error)


def _reading(events: list[StreamEvent], error: ThinkaloudError | None) -> Reading:
    check_event_rules(events, complete=error is None)
    fold = Accumulator()
    fold.add_all(events)
    return Reading(events, fold.message(), error)
