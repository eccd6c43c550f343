"""One refresh for everybody who waits for it: a hundred calls that find a token expired ask for one new token."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from copy import copy
from typing import Generic, TypeVar

import anyio
from anyio.lowlevel import current_token

from thinkaloud.errors import ThinkaloudError

T = TypeVar("T")


class _Flight(Generic[T]):
    """A refresh that is under way in one event loop."""

    def __init__(self) -> None:
        self.landed = anyio.Event()
        self.result: list[T] = []
        self.error: ThinkaloudError | None = None


class SharedRefresh(Generic[T]):
    """Runs a refresh, at most one at a time in an event loop, and gives its outcome to all who wait for it.

    Where the call that began it is cancelled, one of the others begins anew. Outcomes are not kept.
    """

    def __init__(self, refresh: Callable[[], Awaitable[T]]) -> None:
        self._refresh = refresh
        self._flights: dict[object, _Flight[T]] = {}

    async def __call__(self) -> T:
        """Begin a refresh, or join the one that is under way.

        Raises what the refresh raises: to each who waits an own copy, as an error that two tasks raise grows both
        their tracebacks.
        """
        loop = current_token()
        while (flight := self._flights.get(loop)) is not None:
            await flight.landed.wait()
            if flight.error is not None:
                raise copy(flight.error)
            if flight.result:
                return flight.result[0]
        flight = self._flights[loop] = _Flight()
        try:
            flight.result.append(await self._refresh())
        except ThinkaloudError as error:
            flight.error = copy(error)
            raise
        finally:
            del self._flights[loop]
            flight.landed.set()
        return flight.result[0]
