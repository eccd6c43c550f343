"""What the server keeps of each chat: the turns with their whole answers, signatures included, in memory."""

from __future__ import annotations

import json
import logging
import secrets
from collections import OrderedDict
from typing import Any

import anyio
from attrs import define, field

import thinkaloud as ta
from thinkaloud.ui import LiveAnswer, sse

_MOST_CHATS = 500


_log = logging.getLogger("web_chat")


class PageEncoder(sse.Encoder):
    """Remembers how the answer ended, for a page that comes later; the log gets what no page is told."""

    ending: tuple[bytes, ...] = ()

    def finish(self) -> list[bytes]:
        return self._remembered(super().finish())

    def fail(self, error: BaseException) -> list[bytes]:
        if not isinstance(error, ta.StreamAborted):
            _log.warning("%s: %s", type(error).__name__, error)
        return self._remembered(super().fail(error))

    def _remembered(self, frames: list[bytes]) -> list[bytes]:
        self.ending = (*self.ending, *frames[-1:])
        return frames


@define(eq=False)
class Turn:
    """What the user said, and the answer to it.

    before: the conversation that it stands behind.
    """

    before: ta.Conversation
    text: str
    model: str
    level: str | None
    encoder: PageEncoder
    live: LiveAnswer
    began: float = field(factory=anyio.current_time)

    @property
    def after(self) -> ta.Conversation:
        """The conversation with this turn, as far as it has come."""
        return self.before.adding(self.text, self.encoder.messages)

    def shown(self) -> dict[str, Any]:
        """What a page gets of the turn. The encoder leaves signatures, payloads and provider fields out."""
        about = {"text": self.text, "model": self.model, "level": self.level, "live": not self.live.over}
        if not self.live.over:
            return {**about, "elapsed": anyio.current_time() - self.began}
        frames = (*self.encoder.snapshot(0), *self.encoder.ending[:1])
        return {**about, "events": [json.loads(frame.partition(b"data: ")[2]) for frame in frames]}


@define(eq=False)
class Chat:
    """One conversation of one page."""

    id: str = field(factory=lambda: secrets.token_urlsafe(16))
    turns: list[Turn] = field(factory=list)

    @property
    def conversation(self) -> ta.Conversation:
        """All that was said so far."""
        return self.turns[-1].after if self.turns else ta.Conversation()

    @property
    def is_live(self) -> bool:
        """An answer is being made."""
        return bool(self.turns) and not self.turns[-1].live.over


class Chats:
    """The newest chats; the one that was used longest ago is forgotten first. Who knows an id may read that chat."""

    def __init__(self) -> None:
        self._chats: OrderedDict[str, Chat] = OrderedDict()

    def begin(self) -> Chat:
        """A new chat."""
        chat = Chat()
        self._chats[chat.id] = chat
        for old in list(self._chats.values())[: len(self._chats) - _MOST_CHATS]:
            if not old.is_live:
                del self._chats[old.id]
        return chat

    def find(self, id: str) -> Chat | None:
        """The chat with this id."""
        if id in self._chats:
            self._chats.move_to_end(id)
        return self._chats.get(id)
