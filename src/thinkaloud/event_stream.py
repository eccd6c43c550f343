"""The stream that a user reads: events from the network, at the reader's pace, on asyncio and on trio.

Two forms, one object. Under `async with` a task pumps events into a memory channel, so that one wait for an event can
be timed or cancelled without hurting the HTTP read. In the bare form every wait pulls what it needs by itself: no task,
and no scope that outlives the wait.
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from thinkaloud.attempts import Attempts, Source
from thinkaloud.errors import ConfigurationError, StreamAborted
from thinkaloud.events import StreamEvent
from thinkaloud.messages import AssistantMessage
from thinkaloud.plan import Plan

_BUFFER = 64


class EventStream:
    """One answer as a stream of events, and in the end as a message.

    Use it as `async with stream(...) as events: async for event in events: ...`, as a bare `async for event in
    stream(...)`, or only `await stream(...).message()`. Every error that ends it carries the partial message.

    Inside an async generator of your own, see to it that whoever reads the generator closes it in the same task
    (`contextlib.aclosing`), or read the bare form and await `aclose()` in a `finally`: a generator that is left early
    may be closed in another task, and there no task group can end (asyncio would cancel the wrong task, trio refuses).
    """

    def __init__(self, plan: Plan, source: Source) -> None:
        self._attempts = Attempts(plan, source)
        self._waiting = False
        self._scope: anyio.CancelScope | None = None  # around the wait that `cancel()` must interrupt
        # the bare form
        self._backlog: deque[StreamEvent] = deque()
        # under `async with`
        self._tasks: Any = None
        self._inbox: MemoryObjectReceiveStream[StreamEvent] | None = None
        self._news: anyio.Event | None = None  # set when something came into the inbox, or it was closed
        self._entered = False

    # what users ask

    @property
    def plan(self) -> Plan:
        """What was sent last, with a notice for everything that was changed."""
        return self._attempts.plan

    @property
    def partial(self) -> AssistantMessage | None:
        """The message as far as it has come, open blocks with `complete=False`; None before the first block."""
        return self._attempts.partial

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
            self._attempts.final = None
        if self._attempts.error is not None:
            raise self._attempts.error
        assert self._attempts.message is not None
        return self._attempts.message

    def cancel(self) -> None:
        """End the stream now: whoever waits for an event, and everybody later, gets StreamAborted."""
        if self._finished():
            return
        self._abort("the stream was cancelled")
        if self._scope is not None:
            self._scope.cancel()
        elif self._waiting and self._attempts.exchange is not None:
            self._attempts.exchange.interrupt()
        elif not self._entered:
            self._attempts.leave_open()

    async def aclose(self) -> None:
        """End the stream as `cancel()` does, and wait until its connection is closed. Safe to call in any state.

        Where another task waits for an event, it is woken, and closes the connection itself.

        For the `finally` of an async generator that reads the bare form.
        """
        if not self._finished():
            self._abort("the stream was closed")
        if self._scope is not None:
            self._scope.cancel()
        elif self._waiting and self._attempts.exchange is not None:
            self._attempts.exchange.interrupt()
        elif not self._waiting:
            await self._attempts.release()

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
            self._wait_alone()
            try:
                await self._news.wait()
            finally:
                self._waiting = False
            inbox = self._inbox
            if inbox is None:
                break
        return self._rest()

    def _wait_alone(self) -> None:
        if self._waiting:
            raise ConfigurationError("two tasks wait for the same stream; read it in one")
        self._waiting = True

    def _rest(self) -> StreamEvent:
        """What is left to hand out without reading; then the end of the iteration, or the error."""
        if self._backlog:
            return self._backlog.popleft()
        if self._attempts.final is not None:
            final, self._attempts.final = self._attempts.final, None
            return final
        if self._attempts.error is not None:
            raise self._attempts.error
        raise StopAsyncIteration

    async def _pull_step(self) -> None:
        """Read once, into the backlog. A wait that is cancelled ends the stream."""
        self._wait_alone()
        try:
            if self._attempts.exchange is None:
                with anyio.CancelScope() as self._scope:
                    self._backlog.extend(await self._attempts.step())
            else:  # a read is woken by its exchange: a scope for each one costs as much as the rest of it
                self._backlog.extend(await self._attempts.step())
            if self._attempts.over:
                await self._attempts.release()
        except Exception as error:
            told = no_end(error)
            self._attempts.fail(told)
            await self._attempts.release()
            if told is not error:
                raise told from error
            raise
        except BaseException:
            self._abort("a wait for the stream was cancelled")
            await self._attempts.release()
            raise
        finally:
            self._scope = None
            self._waiting = False

    # under `async with`

    async def __aenter__(self) -> Self:
        if self._entered or self._attempts.over or self._attempts.begun:
            error = self._attempts.error
            if isinstance(error, StreamAborted) and not (self._entered or self._attempts.begun):
                raise error  # it was cancelled before anybody came to it
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
                raise unwrapped(raised) from None
            # The body's own error goes on as it is, not in a group.
        finally:
            self._inbox.close()
            self._inbox = None
            self._tell_news()
            self._backlog.clear()
            self._attempts.final = None

    async def _pump(self, outbox: MemoryObjectSendStream[StreamEvent]) -> None:
        assert self._scope is not None
        try:
            with self._scope:
                while not self._attempts.over:
                    await self._put(outbox, await self._read_on(outbox))
                # The connection is given back, and only then comes the last event.
                await self._attempts.release()
                if self._attempts.final is not None:
                    final, self._attempts.final = self._attempts.final, None
                    await self._put(outbox, [final])
        except Exception as error:
            self._attempts.fail(no_end(error))
        except BaseException:
            self._abort("the task of the stream was cancelled")
            raise
        finally:
            await self._attempts.release()
            outbox.close()
            self._tell_news()

    async def _read_on(self, outbox: MemoryObjectSendStream[StreamEvent]) -> Sequence[StreamEvent]:
        """Read into the channel until it is full; give the events that it has no room for.

        The scope with the deadline is around reads alone. Its deadline may come together with a piece of the answer, as
        after work that let nothing else run: then the piece counts, and the next read gets a new scope.
        """
        attempts = self._attempts
        with anyio.CancelScope() as limits:
            attempts.limit(limits)
            while not (attempts.over or limits.cancel_called):
                events = await attempts.step()
                if left := self._offer(outbox, events):
                    return left
            return ()
        return () if attempts.over else await attempts.run_out()

    def _offer(
        self, outbox: MemoryObjectSendStream[StreamEvent], events: Sequence[StreamEvent]
    ) -> Sequence[StreamEvent]:
        """Send without waiting where there is room: a tenth of the cost of a plain await. Give what is left."""
        for place, event in enumerate(events):
            try:
                outbox.send_nowait(event)
            except anyio.WouldBlock:
                self._tell_news()
                return events[place:]
        if events:
            self._tell_news()
        return ()

    async def _put(self, outbox: MemoryObjectSendStream[StreamEvent], events: Sequence[StreamEvent]) -> None:
        """Send what there may be no room for yet."""
        while left := self._offer(outbox, events):
            try:
                await outbox.send(left[0])
            except BaseException:
                self._backlog.extendleft(reversed(left))
                raise
            events = left[1:]

    def _tell_news(self) -> None:
        if self._news is not None:
            self._news.set()

    # both

    def _finished(self) -> bool:
        return self._attempts.over and self._attempts.exchange is None

    def _abort(self, text: str) -> None:
        self._backlog.extend(self._attempts.abort(text))

    def __del__(self) -> None:
        attempts = getattr(self, "_attempts", None)  # missing where the arguments were refused
        if attempts is not None and attempts.holds and not self._entered:
            warnings.warn(
                "a stream was left before its end: use `async with stream(...)`, read it to the end, or cancel it",
                ResourceWarning,
                stacklevel=2,
                source=self,
            )
            self._attempts.leave_open()


def no_end(error: Exception) -> Exception:
    """An error as it may be raised while events are read: a StopAsyncIteration out of a hook or a processor would pass
    for the end of the answer.
    """
    if not isinstance(error, StopAsyncIteration):
        return error
    return RuntimeError("a function that the call was given raised StopAsyncIteration")


def unwrapped(error: BaseException) -> BaseException:
    """The error that a task group has put into groups of one."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error
