"""Answers that were left open where nobody could await their closing, for whoever comes next on the same event loop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from threading import Lock

import anyio
from anyio.lowlevel import current_token

from thinkaloud.loop_end import has_ended

CLOSE_SECONDS = 1.0
"""How long the closing of one answer may take."""


class Abandoned:
    """Answers that were left open by their reader, kept until somebody can await their closing."""

    def __init__(self) -> None:
        self._left: list[tuple[object, Callable[[], Awaitable[None]]]] = []
        self._lock = Lock()  # the loops of several threads may use one client

    def add(self, loop: object, close: Callable[[], Awaitable[None]]) -> None:
        """Keep what closes an answer; `loop` tells the event loop that it belongs to."""
        with self._lock:
            self._left.append((loop, close))

    async def close(self) -> None:
        """Close what belongs to this event loop. What belongs to one that has ended is dropped, the rest stays."""
        if not self._left:
            return
        here = current_token()
        with self._lock:
            ours = [close for loop, close in self._left if loop == here]
            self._left = [(loop, close) for loop, close in self._left if loop != here and not has_ended(loop)]
        for close in ours:
            with anyio.CancelScope(shield=True), anyio.move_on_after(CLOSE_SECONDS):
                await close()
