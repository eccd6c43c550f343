"""A run as its reader sees it: the events of all turns and tools, and in the end the result.

Two forms, one object, as with a single answer. Under `async with` a task drives the run, so that one wait for an event
can be timed or cancelled, and tools run while the reader does other things. In the bare form every wait does what it
needs by itself; tools run inside one wait.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

import anyio

from thinkaloud.errors import ConfigurationError
from thinkaloud.event_stream import unwrapped
from thinkaloud.events import RunEvent
from thinkaloud.run_result import RunResult
from thinkaloud.runs.engine import Engine

_BUFFER = 64


class RunStream:
    """A run as a stream of events, and in the end as a RunResult.

    Use it as `async with run_stream(...) as events: async for event in events: ...`, as a bare `async for event in
    run_stream(...)`, or only `await run_stream(...).result()`. Whatever ends it early, `partial` is the evidence so
    far, and `run(..., history=partial)` goes on from it. What is said of EventStream and async generators holds too.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._waiting = False
        self._begun = False
        # under `async with`
        self._tasks: Any = None
        self._scope: anyio.CancelScope | None = None
        self._news: anyio.Event | None = None
        self._room: anyio.Event | None = None

    @property
    def partial(self) -> RunResult:
        """The evidence so far, at any time."""
        return self._engine.partial

    async def result(self) -> RunResult:
        """Read to the end and give the result.

        Raises what ended the run, the same object each time: RunError, whose `partial` goes on.
        """
        while await self._more():
            self._engine.events.clear()
            self._make_room()
        if self._engine.error is not None:
            raise self._engine.error
        assert self._engine.result is not None
        return self._engine.result

    def cancel(self) -> None:
        """End the run now: whoever waits for an event, and everybody later, gets a RunError."""
        self._abort("the run was cancelled")

    async def aclose(self) -> None:
        """End the run as `cancel()` does, and wait until its connection is closed. Safe to call in any state."""
        self._abort("the run was closed")
        if self._scope is None and not self._waiting:
            await self._engine.release()

    def _abort(self, text: str) -> None:
        if not self._engine.over:
            self._engine.abort(text)
            self._engine.interrupt()
            self._tell()

    # reading

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> RunEvent:
        if not await self._more():
            if self._engine.error is not None:
                raise self._engine.error
            raise StopAsyncIteration
        event = self._engine.events.popleft()
        self._make_room()
        return event

    async def _more(self) -> bool:
        """Wait for an event; False at the end."""
        engine = self._engine
        while not engine.events and not engine.over:
            if self._scope is None:
                await self._drive()
            else:
                if self._news is None or self._news.is_set():
                    self._news = anyio.Event()
                await self._news.wait()
        return bool(engine.events)

    async def _drive(self) -> None:
        if self._waiting:
            raise ConfigurationError("two tasks wait for the same run; read it in one")
        self._waiting = self._begun = True
        try:
            await self._engine.step()
        finally:
            self._waiting = False

    # under `async with`

    async def __aenter__(self) -> Self:
        if self._begun or self._scope is not None or self._engine.over:
            raise ConfigurationError("a run can be entered once, before it is read")
        self._begun = True
        self._engine.wake = self._tell
        self._scope = anyio.CancelScope()
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        self._tasks.start_soon(self._pump)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._scope is not None
        if not self._engine.over:
            self._engine.abort("the run was left before its end")
        self._scope.cancel()
        try:
            await self._tasks.__aexit__(kind, error, trace)
        except BaseException as raised:
            if error is None:
                raise unwrapped(raised) from None
            # The body's own error goes on as it is, not in a group.

    async def _pump(self) -> None:
        engine = self._engine
        assert self._scope is not None
        try:
            with self._scope:
                while not engine.over:
                    try:
                        await engine.step()
                    except Exception:  # kept by the engine, for the reader
                        break
                    self._tell()
                    if len(engine.events) >= _BUFFER:
                        self._room = anyio.Event()
                        await self._room.wait()
        except BaseException:
            engine.abort("the task of the run was cancelled")
            raise
        finally:
            await engine.release()
            self._tell()

    def _tell(self) -> None:
        if self._news is not None:
            self._news.set()

    def _make_room(self) -> None:
        if self._room is not None and len(self._engine.events) < _BUFFER:
            self._room.set()
            self._room = None
