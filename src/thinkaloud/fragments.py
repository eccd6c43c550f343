"""A text that grows by small pieces, in linear time and in little more memory than the text itself."""

from __future__ import annotations

# A list of ten thousand small strings takes ten times the memory of its text; joined every 256 it takes about as much.
_JOIN_EVERY = 256
# What was joined goes to the end of the text once it is an eighth of it: each character is moved a few times at most.
_SHARE = 8


class Fragments:
    """Takes pieces one by one; `str()` gives the whole, and makes no second copy of it."""

    __slots__ = ("_joined", "_joined_size", "_pieces", "_whole")

    def __init__(self) -> None:
        self._whole = ""
        self._joined: list[str] = []
        self._joined_size = 0
        self._pieces: list[str] = []

    def append(self, piece: str) -> None:
        """Add a piece at the end."""
        pieces = self._pieces
        pieces.append(piece)
        if len(pieces) == _JOIN_EVERY:
            self._join()
            if self._joined_size * _SHARE >= len(self._whole):
                self._gather()

    def __bool__(self) -> bool:
        return bool(self._whole or self._joined or self._pieces)

    def __str__(self) -> str:
        if self._pieces:
            self._join()
        if self._joined:
            self._gather()
        return self._whole

    def _join(self) -> None:
        text = "".join(self._pieces)
        self._pieces.clear()
        self._joined.append(text)
        self._joined_size += len(text)

    def _gather(self) -> None:
        # Held by this name alone, the text grows in its place where the interpreter can do that.
        whole, self._whole = self._whole, ""
        whole += "".join(self._joined)
        self._whole = whole
        self._joined.clear()
        self._joined_size = 0
