"""Payloads of Gemini, fed to its parser without any framing; and calls as its encoder writes them."""

from __future__ import annotations

import json
from typing import Any

from attrs import frozen

from thinkaloud.accumulator import Accumulator
from thinkaloud.errors import ThinkaloudError
from thinkaloud.events import StreamEvent
from thinkaloud.messages import AssistantMessage, Conversation, Origin
from thinkaloud.models.model import Model
from thinkaloud.notices import Notice
from thinkaloud.plan import Messages, prepare
from thinkaloud.protocols.base import ParseContext
from thinkaloud.protocols.gemini.parse import GeminiParser
from thinkaloud.testing.event_rules import check_event_rules
from thinkaloud.wire.server_event import ServerEvent

ORIGIN = Origin("gemini", "google", "gemini-asked-for")
VERTEX = Origin("gemini", "google-vertex", "gemini-asked-for")


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


def parser() -> GeminiParser:
    return GeminiParser(ParseContext(origin=ORIGIN))


def read(*payloads: Any) -> Reading:
    """Feed payloads (JSON values, texts or events), end the body, and check the rules of the events."""
    reading, events, error = parser(), list[StreamEvent](), None
    try:
        for payload in payloads:
            if not isinstance(payload, ServerEvent):
                payload = ServerEvent(data=payload if isinstance(payload, str) else json.dumps(payload))
            events += reading.feed(payload)
        events += reading.close()
    except ThinkaloudError as caught:
        error = caught
        events += reading.abandon()
    return _reading(events, error)


def read_whole(body: Any) -> Reading:
    """Feed a whole body."""
    reading, events, error = parser(), list[StreamEvent](), None
    try:
        events += reading.whole(body)
    except ThinkaloudError as caught:
        error = caught
        events += reading.abandon()
    return _reading(events, error)


def _reading(events: list[StreamEvent], error: ThinkaloudError | None) -> Reading:
    check_event_rules(events, complete=error is None)
    fold = Accumulator()
    fold.add_all(events)
    return Reading(events, fold.message(), error)


@frozen
class Written:
    """A request: its URL, its body, and what was told about it."""

    url: str
    body: dict[str, Any]
    notices: tuple[Notice, ...]
    level: Any

    @property
    def contents(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.body["contents"]
        return found

    @property
    def codes(self) -> list[tuple[str, str]]:
        return [(notice.code, notice.path) for notice in self.notices]

    @property
    def thinking(self) -> dict[str, Any] | None:
        found: dict[str, Any] | None = self.body.get("generationConfig", {}).get("thinkingConfig")
        return found


def write(
    messages: Messages | Conversation = "Hi", model: str | Model = "google/gemini-3.5-flash", **how: Any
) -> Written:
    """Prepare a call and give what would be sent."""
    plan = prepare(model, messages, **how)
    return Written(plan.request.url, json.loads(plan.request.body), plan.notices, plan.level.sent)
