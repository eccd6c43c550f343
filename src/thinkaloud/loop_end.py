"""Event loops end, and nothing of theirs may outlive them: tells whether one has, and closes then what is its own."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, Protocol
from weakref import WeakSet

from anyio.lowlevel import current_token


class Closes(Protocol):
    """What is to be closed on the event loop that it was made on."""

    async def aclose(self) -> None: ...


_watched: dict[object, tuple[AsyncGenerator[None, None], WeakSet[Closes]]] = {}


async def close_at_end(owned: Closes) -> None:
    """Close this when the event loop that runs here ends, if it is still there by then. That does no harm twice."""
    loop = current_token()
    if loop not in _watched:
        for other in list(_watched):
            if has_ended(other):  # and was closed without a word to its generators
                _watched.pop(other, None)
        all_owned: WeakSet[Closes] = WeakSet()
        watch = _until_end(loop, all_owned)
        await anext(watch)
        _watched[loop] = watch, all_owned
    _watched[loop][1].add(owned)


def has_ended(loop: Any) -> bool:
    """Whether nothing will run any more in an event loop, told by its token."""
    native = getattr(loop, "native_token", loop)  # before anyio 4.11 it is the token itself
    if (is_closed := getattr(native, "is_closed", None)) is not None:
        return bool(is_closed())
    try:
        native.run_sync_soon(_nothing)
    except RuntimeError:  # trio's word for it
        return True
    return False


async def _until_end(loop: object, all_owned: WeakSet[Closes]) -> AsyncGenerator[None, None]:
    """Wait for the end of a loop: asyncio and trio close the generators that have begun, while they can still run."""
    try:
        yield
    finally:
        _watched.pop(loop, None)
        for owned in list(all_owned):
            await owned.aclose()


def _nothing() -> None:
    """Does nothing."""
