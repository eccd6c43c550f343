"""Payloads of Gemini, fed to its parser without any framing; and calls as its encoder writes them."""

from __future__ import annotations

import json
from typing import Any

from attrs import frozen

from support.parsed import Reading, streamed, whole
from thinkaloud.messages import Conversation, Origin
from thinkaloud.models.model import Model
from thinkaloud.notices import Notice
from thinkaloud.plan import Messages, prepare
from thinkaloud.protocols.base import ParseContext
from thinkaloud.protocols.gemini.parse import GeminiParser
from thinkaloud.wire.server_event import ServerEvent

ORIGIN = Origin("gemini", "google", "gemini-asked-for")
VERTEX = Origin("gemini", "google-vertex", "gemini-asked-for")


def parser() -> GeminiParser:
    return GeminiParser(ParseContext(origin=ORIGIN))


def sse(payload: Any) -> ServerEvent:
    """A payload (a JSON value, a text or an event) as the event that the server sends it in."""
    if isinstance(payload, ServerEvent):
        return payload
    return ServerEvent(data=payload if isinstance(payload, str) else json.dumps(payload))


def read(*payloads: Any) -> Reading:
    """Feed payloads, end the body, and check the rules of the events."""
    return streamed(parser(), map(sse, payloads))


def read_whole(body: Any) -> Reading:
    """Feed a whole body."""
    return whole(parser(), body)


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
