"""A text that grows by small pieces, in linear time and in little more memory than the text itself."""

from __future__ import annotations

# A list of ten thousand small strings takes ten times the memory of its text; joined every 256 it takes about as much.
_JOIN_EVERY = 256


class Fragments:
    """Takes pieces one by one; `str()` gives the whole."""

    __slots__ = ("_joined", "_pieces")

    def __init__(self) -> None:
        self._joined: list[str] = []
        self._pieces: list[str] = []

    def append(self, piece: str) -> None:
        """Add a piece at the end."""
        pieces = self._pieces
        pieces.append(piece)
        if len(pieces) == _JOIN_EVERY:
            self._joined.append("".join(pieces))
            pieces.clear()

    def __bool__(self) -> bool:
        return bool(self._joined or self._pieces)

    def __str__(self) -> str:
        whole = "".join((*self._joined, *self._pieces))
        self._joined = [whole] if whole else []
        self._pieces.clear()
        return whole
