"""A body that stops in the middle without an end: what deadlines and cancellation are for."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio


async def stall(data: bytes, at: int) -> AsyncIterator[bytes]:
    """Give the first `at` bytes, as a server would that then hangs, and wait for ever; for a transport of one's own.

    `Delivery(stall_after=at)` does the same to a scripted answer. Raises ValueError if nothing is held back.
    """
    if not 0 <= at < len(data):
        raise ValueError(f"at={at} holds nothing back of {len(data)} bytes")
    if at:
        yield data[:at]
    await anyio.sleep_forever()
