"""Whether a text that grows by pieces is one whole JSON object by now, asked after each piece in linear time.

Only the first place at which every bracket is closed can be the end of the object, so the text is parsed there once.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from thinkaloud.jsontext import is_json_object

_OPENING, _CLOSING = "{[", "}]"
_BLANK = " \t\n\r"

# Outside a string: brackets and the beginning of a string. Inside: its end, and what is escaped.
_OUTSIDE = re.compile(r'[{}\[\]"]')
_INSIDE = re.compile(r'["\\]')


class WholeObject:
    """Counts the brackets of a growing text. Feed it every piece, in order."""

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False
        self._escaped = False  # the last piece ended after a backslash
        self._closed = False  # every bracket that was open is closed
        self._verdict: bool | None = None

    def feed(self, piece: str) -> None:
        """Take in the next piece."""
        if self._verdict is False:
            return
        position = 0
        while position < len(piece):
            if self._closed:
                if piece[position:].strip(_BLANK):
                    self._verdict = False
                return
            if self._escaped:
                self._escaped = False
                position += 1
                continue
            match = (_INSIDE if self._in_string else _OUTSIDE).search(piece, position)
            if match is None:
                return
            position = match.end()
            self._count(match.group())

    def _count(self, character: str) -> None:
        if character == "\\":
            self._escaped = True
        elif character == '"':
            self._in_string = not self._in_string
        elif character in _OPENING:
            self._depth += 1
        elif character in _CLOSING:
            self._depth -= 1
            self._closed = self._depth <= 0

    def holds(self, text: Callable[[], str]) -> bool:
        """Whether the text so far is one whole JSON object. text: gives it."""
        if self._verdict is None and self._closed:
            self._verdict = is_json_object(text())
        return self._verdict is True
