"""Asks a callable for a key or a token, off the event loop where it may block."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import anyio.to_thread


async def ask(source: Callable[[], Any]) -> Any:
    """Call a plain callable in a worker thread, an async one here, and give what it gives in the end.

    Plain callables that fetch tokens (such as those of azure-identity) block while they do. A wait that is cancelled
    leaves the thread to itself.
    """
    if inspect.iscoroutinefunction(source) or inspect.iscoroutinefunction(type(source).__call__):
        return await source()
    given = await anyio.to_thread.run_sync(source, abandon_on_cancel=True)
    return await given if inspect.isawaitable(given) else given
