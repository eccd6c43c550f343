"""Spreads requests over several small connection pools, so that many open streams cost no more than few.

A pool of httpcore looks at all of its connections whenever a request begins or ends: at 500 open streams on one pool of
httpcore 1.0.9 that is most of what a short stream costs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

PER_POOL = 16
MOST_POOLS = 64
# Pools that keep idle connections for later requests; the others would keep them for long, as they are seldom used.
KEEPING_POOLS = 7


class Share:
    """One pool, and how many requests it has now."""

    def __init__(self, pool: Any) -> None:
        self.pool = pool
        self.open = 0


class Pools:
    """Made as they are needed; the first one with room is taken, so that idle connections are found again.

    make: makes a pool that keeps at most so many idle connections.
    """

    def __init__(self, make: Callable[[int], Any]) -> None:
        self._make = make
        self._shares: list[Share] = []

    def take(self) -> Share:
        """The pool for one more request. When all are full, the request waits in the one with the fewest."""
        share = next((share for share in self._shares if share.open < PER_POOL), None)
        if share is None and len(self._shares) < MOST_POOLS:
            share = Share(self._make(PER_POOL if len(self._shares) < KEEPING_POOLS else 0))
            self._shares.append(share)
        if share is None:
            share = min(self._shares, key=lambda share: share.open)
        share.open += 1
        return share

    def give_back(self, share: Share) -> None:
        """A request of this pool has ended."""
        share.open -= 1

    async def aclose(self) -> None:
        """Close all connections."""
        shares, self._shares = self._shares, []
        for share in shares:
            await share.pool.aclose()
