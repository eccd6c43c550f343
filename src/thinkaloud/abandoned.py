"""Answers that were left open where nobody could await their closing, for whoever comes next on the same event loop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio
from anyio.lowlevel import current_token

CLOSE_SECONDS = 1.0
"""How long the closing of one answer may take."""


class Abandoned:
    """Answers that were left open by their reader, kept until somebody can await their closing."""

    def __init__(self) -> None:
        self._left: list[tuple[object, Callable[[], Awaitable[None]]]] = []

    def add(self, loop: object, close: Callable[[], Awaitable[None]]) -> None:
        """Keep what closes an answer; `loop` tells the event loop that it belongs to."""
        self._left.append((loop, close))

    async def close(self) -> None:
        """Close all that is kept. What belongs to a loop that is gone is dropped."""
        while self._left:
            loop, close = self._left.pop()
            if loop == current_token():
                with anyio.CancelScope(shield=True), anyio.move_on_after(CLOSE_SECONDS):
                    await close()
