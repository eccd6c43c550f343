"""What a response reads events from: a stream of ours, or anything that is entered and iterated in the same way."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Protocol


class EventIterator(Protocol):
    """Events, one wait at a time. A wait that is cancelled must lose nothing."""

    def __aiter__(self) -> EventIterator: ...
    async def __anext__(self) -> Any: ...


class EventSource(Protocol):
    """A stream in its `async with` form, such as what `stream()` and `run_stream()` give."""

    async def __aenter__(self) -> EventIterator: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> bool | None: ...


class BareSource(Protocol):
    """A stream in its bare form."""

    async def __anext__(self) -> Any: ...
    async def aclose(self) -> None: ...
