"""Thinking that a model writes inline, between two tags, parted from its answer while the text still streams.

Only a tag at the very start of the answer counts: one that comes later is what the model talks about. Whatever could
still become the awaited tag is held back, and nothing else.
"""

from __future__ import annotations

from enum import Enum
from typing import Literal

from thinkaloud.fragments import Fragments

Piece = tuple[Literal["thinking", "text"], str]


class _State(Enum):
    START = "before the opening tag"
    THINKING = "between the tags"
    TEXT = "after the closing tag, or without any"


# How many line ends belong to a tag and not to what follows it.
_AFTER_OPENING = 1
_AFTER_CLOSING = 2


class ThinkTagSplitter:
    """Takes the text of one answer piece by piece and says of each part what it is. Linear in the size of the text.

    open, close: the tags.
    implied_open: the opening tag stands in the prompt, so the text starts inside thinking; one that the model writes
        all the same is dropped.
    """

    def __init__(self, open: str, close: str, *, implied_open: bool = False) -> None:
        self._open = open
        self._close = close
        self._implied = implied_open
        self._state = _State.START
        self._blank = Fragments()  # white space before the first visible character
        self._held = ""  # what may be the beginning of a tag
        self._line_ends = 0  # how many line ends may still be dropped

    def feed(self, text: str) -> list[Piece]:
        """Take in a piece and give the parts that are certain by now; none of them is empty."""
        pieces: list[Piece] = []
        if self._held:
            text, self._held = self._held + text, ""
        if self._state is _State.START:
            text = self._start(text)
        if self._state is _State.THINKING and text:
            text = self._think(text, pieces)
        if self._state is _State.TEXT and text:
            self._add(pieces, "text", text)
        return pieces

    def close(self) -> list[Piece]:
        """Give what is held back: the answer is over, or something else than text follows.

        A tag that was never closed makes all of it thinking.
        """
        held, self._held = self._held, ""
        if self._state is _State.START:
            held = self._started_without_tag(held)
        return [("thinking" if self._state is _State.THINKING else "text", held)] if held else []

    # one step per state: each gives the rest of the text

    def _start(self, text: str) -> str:
        visible = text.lstrip()
        if len(visible) < len(text):
            self._blank.append(text[: len(text) - len(visible)])
        if visible.startswith(self._open):
            self._state = _State.THINKING
            self._line_ends = _AFTER_OPENING
            return visible[len(self._open) :]
        if self._open.startswith(visible):  # nothing yet, or the beginning of the tag
            self._held = visible
            return ""
        return self._started_without_tag(visible)

    def _started_without_tag(self, visible: str) -> str:
        self._state = _State.THINKING if self._implied else _State.TEXT
        return str(self._blank) + visible

    def _think(self, text: str, pieces: list[Piece]) -> str:
        end = text.find(self._close)
        if end >= 0:
            self._add(pieces, "thinking", text[:end])
            self._state = _State.TEXT
            self._line_ends = _AFTER_CLOSING
            return text[end + len(self._close) :]
        kept = _held_length(text, self._close)
        if kept:
            self._held = text[-kept:]
            text = text[:-kept]
        self._add(pieces, "thinking", text)
        return ""

    def _add(self, pieces: list[Piece], kind: Literal["thinking", "text"], text: str) -> None:
        while self._line_ends and text:
            if text[0] != "\n":
                self._line_ends = 0
                break
            self._line_ends -= 1
            text = text[1:]
        if text:
            pieces.append((kind, text))


def _held_length(text: str, tag: str) -> int:
    """How many characters at the end of the text are the beginning of the tag."""
    for length in range(min(len(tag) - 1, len(text)), 0, -1):
        if text.endswith(tag[:length]):
            return length
    return 0
