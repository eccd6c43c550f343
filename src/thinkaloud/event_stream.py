"""The stream that a user reads: events from the network, at the reader's pace, on asyncio and on trio.

Two forms, one object. Under `async with` a task pumps events into a memory channel, so that one wait for an event can
be timed or cancelled without hurting the HTTP read. In the bare form every wait pulls what it needs by itself: no task,
and no scope that outlives the wait.
"""

from __future__ import annotations

import time
import warnings
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import Any, Self

import anyio
from anyio.lowlevel import checkpoint, current_token
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from attrs import evolve

from thinkaloud.errors import ConfigurationError, StreamAborted, TransportError
from thinkaloud.events import StreamEnd, StreamEvent
from thinkaloud.messages import AssistantMessage, StopReason
from thinkaloud.plan import Plan
from thinkaloud.protocols.reader import Limits, Reader
from thinkaloud.transport.base import Exchange

_BUFFER = 64
# Reads that are served from memory never give other tasks a turn; this many may go by before one is given.
_READS_PER_TURN = 32
_DRAIN_SECONDS = 0.1
_CLOSE_SECONDS = 1.0


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
                with anyio.CancelScope(shield=True), anyio.move_on_after(_CLOSE_SECONDS):
                    await close()


class Source:
    """Where a stream's bytes come from.

    send: sends the request and gives the answer's head.
    aclose: closes what was made for this one call.
    abandoned: where an answer goes that nobody closed.
    """

    def __init__(
        self,
        send: Callable[[], Awaitable[Exchange]],
        *,
        aclose: Callable[[], Awaitable[None]] | None = None,
        abandoned: Abandoned | None = None,
    ) -> None:
        self.send = send
        self.aclose = aclose
        self.abandoned = abandoned or Abandoned()


class EventStream:
    """One answer as a stream of events, and in the end as a message.

    Use it as `async with stream(...) as events: async for event in events: ...`, as a bare `async for event in
    stream(...)`, or only `await stream(...).message()`. Every error that ends it carries the partial message.

    Inside an async generator of your own, see to it that whoever reads the generator closes it in the same task
    (`contextlib.aclosing`), or read the bare form and await `aclose()` in a `finally`: a generator that is left early
    may be closed in another task, and there no task group can end (asyncio would cancel the wrong task, trio refuses).
    """

    def __init__(self, plan: Plan, source: Source, *, limits: Limits = Limits()) -> None:
        self.plan = plan
        """What was sent, with a notice for everything that was changed."""
        self._source = source
        self._limits = limits
        self._reader: Reader | None = None
        self._exchange: Exchange | None = None
        self._error: BaseException | None = None
        self._over = False  # nothing more will be read
        self._final: StreamEvent | None = None  # StreamEnd, kept until the connection is given back
        self._reads = 0
        self._waiting = False
        self._scope: anyio.CancelScope | None = None  # around the wait that `cancel()` must interrupt
        # the bare form
        self._backlog: deque[StreamEvent] = deque()
        # under `async with`
        self._tasks: Any = None
        self._inbox: MemoryObjectReceiveStream[StreamEvent] | None = None
        self._news: anyio.Event | None = None  # set when something came into the inbox, or it was closed
        self._entered = False
        self._loop: object = None

    # what users ask

    @property
    def partial(self) -> AssistantMessage | None:
        """The message as far as it has come, open blocks with `complete=False`; None before the first block."""
        return self._reader.partial if self._reader is not None else None

    async def message(self) -> AssistantMessage:
        """Read to the end and give the message.

        Raises the error that ended the stream, the same object each time.
        """
        if self._entered:
            async for _ in self:
                pass
        else:
            while not self._finished():
                await self._pull_step()
                self._backlog.clear()
            self._final = None
        if self._error is not None:
            raise self._error
        assert self._reader is not None
        assert self._reader.message is not None
        return self._reader.message

    def cancel(self) -> None:
        """End the stream now: whoever waits for an event, and everybody later, gets StreamAborted."""
        if self._finished():
            return
        self._abort("the stream was cancelled")
        if self._scope is not None:
            self._scope.cancel()
        elif self._waiting and self._exchange is not None:
            self._exchange.interrupt()
        elif not self._entered:
            self._leave_open()

    async def aclose(self) -> None:
        """End the stream as `cancel()` does, and wait until its connection is closed. Safe to call in any state.

        For the `finally` of an async generator that reads the bare form.
        """
        if not self._finished():
            self._abort("the stream was closed")
        if self._scope is not None:
            self._scope.cancel()
        elif self._waiting and self._exchange is not None:
            self._exchange.interrupt()
        elif not self._waiting:
            await self._release()

    # the bare form

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> StreamEvent:
        inbox = self._inbox
        if inbox is None:
            while not (self._backlog or self._finished()):
                await self._pull_step()
            return self._rest()
        while True:
            try:
                return inbox.receive_nowait()
            except anyio.WouldBlock:
                pass
            except anyio.EndOfStream:
                break
            # Waiting in the channel itself would lose the event that arrives together with a cancellation.
            if self._news is None or self._news.is_set():
                self._news = anyio.Event()
            await self._news.wait()
            inbox = self._inbox
            if inbox is None:
                break
        return self._rest()

    def _rest(self) -> StreamEvent:
        """What is left to hand out without reading; then the end of the iteration, or the error."""
        if self._backlog:
            return self._backlog.popleft()
        if self._final is not None:
            final, self._final = self._final, None
            return final
        if self._error is not None:
            raise self._error
        raise StopAsyncIteration

    async def _pull_step(self) -> None:
        """Read once, into the backlog. A wait that is cancelled ends the stream."""
        if self._waiting:
            raise ConfigurationError("two tasks wait for the same stream; read it in one")
        self._waiting = True
        try:
            if self._reader is None:
                with anyio.CancelScope() as self._scope:
                    self._backlog.extend(await self._step())
            else:  # a read is woken by its exchange: a scope for each one costs as much as the rest of it
                self._backlog.extend(await self._step())
            if self._over:
                await self._release()
        except Exception as error:
            self._fail(error)
            await self._release()
            raise
        except BaseException:
            self._abort("a wait for the stream was cancelled")
            await self._release()
            raise
        finally:
            self._scope = None
            self._waiting = False

    # under `async with`

    async def __aenter__(self) -> Self:
        if self._entered or self._over or self._exchange is not None:
            raise ConfigurationError("a stream can be entered once, before it is read")
        self._entered = True
        outbox, self._inbox = anyio.create_memory_object_stream[StreamEvent](_BUFFER)
        self._scope = anyio.CancelScope()
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        self._tasks.start_soon(self._pump, outbox)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._scope is not None
        assert self._inbox is not None
        if not self._finished():
            self._abort("the stream was left before its end")
        self._scope.cancel()
        try:
            await self._tasks.__aexit__(kind, error, trace)
        except BaseException as raised:
            if error is None:
                raise _unwrapped(raised) from None
            # The body's own error goes on as it is, not in a group.
        finally:
            self._inbox.close()
            self._inbox = None
            self._tell_news()
            self._backlog.clear()
            self._final = None

    async def _pump(self, outbox: MemoryObjectSendStream[StreamEvent]) -> None:
        assert self._scope is not None
        try:
            with self._scope:
                while not self._over:
                    await self._put(outbox, await self._step())
                await self._release()
                if self._final is not None:
                    final, self._final = self._final, None
                    await self._put(outbox, [final])
        except Exception as error:
            self._fail(error)
        except BaseException:
            self._abort("the task of the stream was cancelled")
            raise
        finally:
            await self._release()
            outbox.close()
            self._tell_news()

    async def _put(self, outbox: MemoryObjectSendStream[StreamEvent], events: Sequence[StreamEvent]) -> None:
        """Send without waiting where there is room: a tenth of the cost of a plain await."""
        for place, event in enumerate(events):
            try:
                outbox.send_nowait(event)
            except anyio.WouldBlock:
                self._tell_news()
                try:
                    await outbox.send(event)
                except BaseException:
                    self._backlog.extendleft(reversed(events[place:]))
                    raise
        if events:
            self._tell_news()

    def _tell_news(self) -> None:
        if self._news is not None:
            self._news.set()

    # both

    def _finished(self) -> bool:
        return self._over and self._exchange is None

    async def _step(self) -> Sequence[StreamEvent]:
        """Send the request, or read one piece of the answer; give the events of it."""
        reader, exchange = self._reader, self._exchange
        if reader is None or exchange is None:
            return await self._begin()
        self._reads += 1
        if self._reads == _READS_PER_TURN:
            self._reads = 0
            await checkpoint()  # before the read: cancelled after it, the events of the piece would be lost
        try:
            piece = await exchange.read()
        except TransportError as error:
            events = reader.fail(error)
        else:
            events = reader.feed(piece) if piece else reader.close()
        return self._ended(reader, events) if reader.ended else events

    def _ended(self, reader: Reader, events: Sequence[StreamEvent]) -> Sequence[StreamEvent]:
        self._over = True
        self._error = self._error or reader.error
        if events and isinstance(events[-1], StreamEnd):
            self._final = events[-1]
            return events[:-1]
        return events

    async def _begin(self) -> Sequence[StreamEvent]:
        started_at = time.monotonic()
        self._loop = current_token()
        await self._source.abandoned.close()
        try:
            exchange = self._exchange = await self._source.send()
        except TransportError as error:
            self._fail(error)
            return ()
        self._reader = Reader(
            self.plan.wire,
            self.plan.context,
            status=exchange.status,
            headers=exchange.headers,
            limits=self._limits,
            clock=time.monotonic,
            started_at=started_at,
        )
        return self._reader.announce(self.plan.notices)

    def _abort(self, text: str) -> None:
        if self._over:
            return
        self._over = True
        error = StreamAborted(text)
        if self._reader is not None:
            self._backlog.extend(self._reader.fail(error))
            if error.partial is not None:
                error.partial = evolve(error.partial, stop_reason=StopReason.ABORTED)
        self._error = error

    def _fail(self, error: Exception) -> None:
        if not self._over:
            self._over = True
            self._error = error

    async def _release(self) -> None:
        """Give the connection back, or close it where the answer was not read to its end."""
        exchange, self._exchange = self._exchange, None
        aclose, self._source.aclose = self._source.aclose, None
        if exchange is None and aclose is None:
            return
        try:
            if exchange is not None and self._error is None:
                await _drain(exchange)
        finally:
            with anyio.CancelScope(shield=True), anyio.move_on_after(_CLOSE_SECONDS):
                if exchange is not None:
                    await exchange.aclose()
                if aclose is not None:
                    await aclose()

    def _leave_open(self) -> None:
        """Hand an answer that cannot be awaited here to whoever comes next."""
        exchange, self._exchange = self._exchange, None
        aclose, self._source.aclose = self._source.aclose, None
        if exchange is not None:
            self._source.abandoned.add(self._loop, exchange.aclose)
        if aclose is not None:
            self._source.abandoned.add(self._loop, aclose)

    def __del__(self) -> None:
        if getattr(self, "_exchange", None) is not None and not self._entered:
            warnings.warn(
                "a stream was left before its end: use `async with stream(...)`, read it to the end, or cancel it",
                ResourceWarning,
                stacklevel=2,
                source=self,
            )
            self._leave_open()


async def _drain(exchange: Exchange) -> None:
    """Read the few bytes after the last event, so that the connection can serve the next request."""
    with anyio.move_on_after(_DRAIN_SECONDS):
        try:
            while await exchange.read():
                pass
        except TransportError:
            return


def _unwrapped(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error
