"""One thinking block while it is written, with all that goes back besides its text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from thinkaloud.block_builder import OpenBlock
from thinkaloud.fragments import Fragments
from thinkaloud.protocols.openai_chat.details import ENCRYPTED, KEY, Detail, whole_text
from thinkaloud.protocols.openai_chat.fields import Fields, Object


class ThinkingRun:
    """Collects what belongs to one open thinking block until `seal()` puts it there.

    details: the gateway's own entries that the block is made of; empty where the thinking came as plain text.
    """

    def __init__(self, block: OpenBlock, fields: Fields) -> None:
        self.block = block
        self.details: list[Detail] = []
        self._fields = fields
        self._pieces: list[Fragments | Object] = []

    def continued(self, fragment: Mapping[str, Any], position: int) -> Detail | None:
        """The entry that a fragment goes on with."""
        for detail in reversed(self.details):
            if detail.continues(fragment, position):
                return detail
        return None

    def takes_encrypted(self) -> bool:
        """Whether an encrypted entry can be the proof of this block: it has none yet."""
        return self.block.signature is None and all(detail.type != ENCRYPTED for detail in self.details)

    @property
    def redacted(self) -> bool:
        """Whether the block is a payload alone, which takes no text."""
        return not self.block.fragments and any(_is_payload(detail) for detail in self.details)

    def add_text(self, text: str) -> None:
        """Note the text of a typed thinking part, where its place among other pieces counts."""
        if self._pieces:
            last = self._pieces[-1]
            if not isinstance(last, Fragments):
                last = Fragments()
                self._pieces.append(last)
            last.append(text)

    def add_piece(self, piece: Object) -> None:
        """Note a piece of a typed thinking part that is not text (seen at Mistral: references)."""
        if not self._pieces and self.block.fragments:
            before = Fragments()
            before.append(str(self.block.fragments))
            self._pieces.append(before)
        kept = self._fields.kept("thinking[]", piece)
        if kept:
            self._pieces.append(kept)

    def seal(self) -> None:
        """Put signature, payload and entries on the block. May be done again when more has come."""
        block = self.block
        if self.details:
            kept = (self._fields.kept(KEY, detail.entry()) for detail in self.details)
            block.extra[KEY] = [entry for entry in kept if entry]
            redacted = self.redacted
            for detail in self.details:
                if redacted and _is_payload(detail):
                    block.redacted_data = detail.data
                elif detail.type == ENCRYPTED:
                    block.signature = block.signature or detail.data or None
        if self._pieces:
            block.extra["thinking"] = [
                {"type": "text", "text": whole_text(item)} if isinstance(item, Fragments) else item
                for item in self._pieces
            ]


def _is_payload(detail: Detail) -> bool:
    return detail.type == ENCRYPTED and is_redacted(detail.format)


def is_redacted(format: str) -> bool:
    """Whether an encrypted entry stands for thinking that was redacted, and is no proof of thinking beside it."""
    return format.startswith("anthropic")
