"""The newest events of a run, kept encoded and numbered, so that a reader who was cut off can go on where it was."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable


class ReplayLog:
    """Keeps events from 1 on, and forgets the oldest beyond a bound.

    limit: bytes that are kept at most; the newest event always is.
    """

    def __init__(self, *, limit: int = 4 * 1024 * 1024) -> None:
        self._limit = limit
        self._frames: deque[bytes] = deque()
        self._size = 0
        self.last = 0
        """Number of the newest event; 0 before the first."""

    @property
    def first(self) -> int:
        """Number of the oldest event that is kept."""
        return self.last - len(self._frames) + 1

    def add(self, frames: Iterable[bytes]) -> None:
        """Take in the next events."""
        for frame in frames:
            self._frames.append(frame)
            self._size += len(frame)
            self.last += 1
            while self._size > self._limit and len(self._frames) > 1:
                self._size -= len(self._frames.popleft())

    def after(self, number: int) -> list[bytes] | None:
        """The events behind this one; None where some of them are forgotten, or the number was never given."""
        if not self.first - 1 <= number <= self.last:
            return None
        return [self._frames[place] for place in range(number - self.first + 1, len(self._frames))]
