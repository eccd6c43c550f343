"""One answer over as many requests as it takes: sends, reads, and begins anew while nothing was handed out yet.

Until the answer's first event a failed request may be amended, sent again, or go to another model; afterwards every
failure is final. A deadline stands around a single wait, so no scope outlives one, unless somebody has a scope around
many reads: that one's deadline is moved while the answer comes.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from secrets import token_hex
from typing import TypeVar

import anyio
from anyio.lowlevel import checkpoint, current_token
from attrs import evolve

from thinkaloud.abandoned import CLOSE_SECONDS, Abandoned
from thinkaloud.call_errors import Asked, add_to, advise, name_of
from thinkaloud.deadlines import Deadlines
from thinkaloud.errors import (
    ContextTooLong,
    LimitExceeded,
    ProviderError,
    StreamAborted,
    ThinkaloudError,
    TransportError,
)
from thinkaloud.events import StreamEnd, StreamEvent, StreamStart
from thinkaloud.limits import Limits
from thinkaloud.messages import AssistantMessage, StopReason
from thinkaloud.notices import Notice
from thinkaloud.observing import Again, CallEnd, Observer, RequestInfo, response_info
from thinkaloud.plan import Plan, amended
from thinkaloud.protocols.failures import request_id_of
from thinkaloud.protocols.reader import Reader
from thinkaloud.transport.base import Exchange
from thinkaloud.transport.retry import Retry, another_may_do, heed_answer
from thinkaloud.transport.timeouts import Timeouts

_T = TypeVar("_T")

# Reads that are served from memory never give other tasks a turn; this many may go by before one is given.
_READS_PER_TURN = 32
_DRAIN_SECONDS = 0.1


class Source:
    """Where a stream's bytes come from, and how long and how often they are asked for.

    send: sends the request of a plan and gives the answer's head; asks for credentials each time.
    aclose: closes what was made for this one call.
    abandoned: where an answer goes that nobody closed.
    conceal: takes the credentials of the call out of an error.
    observers, on_event: who is told of the call's steps, and of each event.
    """

    def __init__(
        self,
        send: Callable[[Plan], Awaitable[Exchange]],
        *,
        aclose: Callable[[], Awaitable[None]] | None = None,
        abandoned: Abandoned | None = None,
        limits: Limits = Limits(),
        retry: Retry = Retry(),
        timeouts: Timeouts = Timeouts(),
        conceal: Callable[[ThinkaloudError], None] = lambda error: None,
        observers: Sequence[Observer] = (),
        on_event: Callable[[StreamEvent], None] | None = None,
    ) -> None:
        self.send = send
        self.aclose = aclose
        self.abandoned = abandoned or Abandoned()
        self.limits = limits
        self.retry = retry
        self.timeouts = timeouts
        self.conceal = conceal
        self.observers = observers
        self.on_event = on_event


class Attempts:
    """The requests of one call, one after the other; the first whose answer begins is the last."""

    def __init__(self, plan: Plan, source: Source) -> None:
        self.plan = plan
        """What was sent last."""
        self.over = False
        """Nothing more will be read."""
        self.error: BaseException | None = None
        """Why the call failed; None while it has not."""
        self.final: StreamEvent | None = None
        """StreamEnd, kept until the connection is given back."""
        self.exchange: Exchange | None = None
        """The answer that is open now."""
        self._source = source
        self._reader: Reader | None = None
        self._told: list[Notice] = []  # before the answer began
        self._fallbacks = list(plan.fallbacks)
        self._amended: set[str] = set()
        self._asked = Asked()
        self._retries = 0
        self._pause = 0.0
        self._reads = 0
        self._loop: object = None
        self._started_at: float | None = None  # for the message's timing
        # deadlines
        self.scope: anyio.CancelScope | None = None
        """Around many reads of the answer, see `limit`."""
        self._deadlines = Deadlines(source.timeouts)
        self._timed = True  # a read has a deadline of ours
        # who is told
        self._attempt = 0
        self._request_id: str | None = None
        self._call_id = token_hex(4) if source.observers else ""
        self.step = self._step if source.on_event is None else self._heard
        """Send a request, or read one piece of its answer; give the events of it."""

    @property
    def partial(self) -> AssistantMessage | None:
        """The message as far as it has come; None before the first block. After a failure, that of the error."""
        told: AssistantMessage | None = getattr(self.error, "partial", None)
        return told if told is not None or self._reader is None else self._reader.partial

    @property
    def message(self) -> AssistantMessage | None:
        """The message of an answer that ended well."""
        return None if self._reader is None else self._reader.message

    @property
    def begun(self) -> bool:
        """A request was sent."""
        return self._loop is not None

    @property
    def holds(self) -> bool:
        """Something is open that somebody must close."""
        return self.exchange is not None or (self.begun and self._source.aclose is not None)

    async def _step(self) -> Sequence[StreamEvent]:
        reader, exchange = self._reader, self.exchange
        if reader is None or exchange is None:
            return await self._begin()
        self._reads += 1
        if self._reads == _READS_PER_TURN:
            self._reads = 0
            if self.scope is not None:
                self._deadlines.suspend(self.scope)
            await checkpoint()  # before the read: cancelled after it, the events of the piece would be lost
        try:
            if not self._timed:
                piece = await exchange.read()
            elif self._deadlines.starting or self.scope is None:
                piece = await self._in_time(exchange.read)
            else:
                self._deadlines.move(self.scope)
                piece = await exchange.read()
        except TransportError as error:
            events = reader.fail(error)
        else:
            events = reader.feed(piece) if piece else reader.close()
        if events and (self._timed or self._deadlines.starting):
            self._note(events)
        return await self._ended(reader, events) if reader.ended else events

    def abort(self, text: str) -> Sequence[StreamEvent]:
        """End the call because its reader wants no more; give the events that close what is open."""
        if self.over:
            return ()
        error = StreamAborted(text)
        events: Sequence[StreamEvent] = ()
        if self._reader is not None:
            events = self._reader.fail(error)
            if error.partial is not None:
                error.partial = evolve(error.partial, stop_reason=StopReason.ABORTED)
        self._end(error)
        return events

    def limit(self, scope: anyio.CancelScope) -> None:
        """From now on the reads of the answer stand in this scope, which gets their deadline.

        A read that was cancelled by it ends the call with `run_out`. A deadline that came together with a piece of the
        answer is no end: another scope is needed then.
        """
        self.scope = scope
        self._deadlines.suspend(scope)

    async def run_out(self) -> Sequence[StreamEvent]:
        """End the call because the scope's deadline has come; give the events that close what is open."""
        assert self._reader is not None
        return self._tell(await self._ended(self._reader, self._reader.fail(self._deadlines.error())))

    def fail(self, error: Exception) -> None:
        """End the call because of an error that no answer can come after, not even one that is already whole."""
        if not self.over:
            self._end(error)
        elif self.error is None:
            self.error, self.final = error, None

    async def release(self) -> None:
        """Give the connection back, or close it where the answer was not read to its end."""
        exchange, self.exchange = self.exchange, None
        aclose, self._source.aclose = self._source.aclose, None
        if exchange is None and aclose is None:
            return
        try:
            if exchange is not None and self.error is None:
                await _drain(exchange)
        finally:
            with anyio.CancelScope(shield=True), anyio.move_on_after(CLOSE_SECONDS):
                if exchange is not None:
                    await exchange.aclose()
                if aclose is not None:
                    await aclose()

    def leave_open(self) -> None:
        """Hand an answer that cannot be awaited here to whoever comes next."""
        exchange, self.exchange = self.exchange, None
        aclose, self._source.aclose = self._source.aclose, None
        if exchange is not None:
            self._source.abandoned.add(self._loop, exchange.aclose)
        if aclose is not None:
            self._source.abandoned.add(self._loop, aclose)

    # the beginning of an answer

    async def _begin(self) -> Sequence[StreamEvent]:
        if self._started_at is None:
            self._started_at = time.monotonic()
            self._deadlines.begin()
            self._loop = current_token()
        if self._pause:
            await anyio.sleep(self._pause)
        await self._source.abandoned.close()
        self._deadlines.send()
        self._attempt += 1
        self._asked.note_request(self.plan)
        self._request_id = None
        for observer in self._source.observers:
            observer.sent(RequestInfo(call_id=self._call_id, plan=self.plan, attempt=self._attempt))
        try:
            exchange = self.exchange = await self._in_time(self._send)
            self._check_headers(exchange)
            self._deadlines.reading = not exchange.keeps_silence
            self._timed = self._deadlines.running
            self._tell_answered(exchange)
        except (TransportError, ProviderError, LimitExceeded) as error:
            # Credentials that cannot be refreshed are an answer too.
            return await self._failed(error)
        if self.over:
            return ()
        self._reader = Reader(
            self.plan.wire,
            self.plan.context,
            status=exchange.status,
            headers=exchange.headers,
            limits=self._source.limits,
            clock=time.monotonic,
            started_at=self._started_at,
        )
        self._reader.announce(self._told)
        return self._reader.announce(self._news(self.plan.notices))

    def _end(self, error: BaseException | None) -> None:
        """Nothing more comes. error: why the call failed; None where it ended well."""
        self.over = True
        self.error = error
        self._asked.tell(error, self._told)
        for observer in self._source.observers:
            observer.ended(
                CallEnd(
                    call_id=self._call_id,
                    plan=self.plan,
                    attempt=self._attempt,
                    request_id=self._request_id,
                    seconds=0.0 if self._started_at is None else time.monotonic() - self._started_at,
                    message=self.message if error is None else None,
                    error=error,
                )
            )

    def _check_headers(self, exchange: Exchange) -> None:
        try:
            self._source.limits.check_headers(exchange.headers)
        except LimitExceeded as error:
            error.request_id = request_id_of(exchange.headers)
            raise

    def _tell_answered(self, exchange: Exchange) -> None:
        if self._source.observers:
            since = self._deadlines.since_sent
            info = response_info(self._call_id, self.plan, self._attempt, exchange.status, exchange.headers, since)
            self._request_id = info.request_id
            for observer in self._source.observers:
                observer.answered(info)

    async def _heard(self) -> Sequence[StreamEvent]:
        """As a step, and every event is told."""
        return self._tell(await self._step())

    def _tell(self, events: Sequence[StreamEvent]) -> Sequence[StreamEvent]:
        if self._source.on_event is not None:
            for event in events if self.final is None else [*events, self.final]:
                self._source.on_event(event)
        return events

    async def _send(self) -> Exchange:
        try:
            return await self._source.send(self.plan)
        except ThinkaloudError as error:
            self._source.conceal(error)
            raise

    def _news(self, notices: Iterable[Notice]) -> list[Notice]:
        """What of these notices was not told yet. An answer keeps what was told before it began."""
        news = [notice for notice in notices if notice not in self._told]
        self._told += news
        return news

    async def _ended(self, reader: Reader, events: Sequence[StreamEvent]) -> Sequence[StreamEvent]:
        if reader.error is not None:
            self._source.conceal(reader.error)
        if reader.error is not None and self._deadlines.starting and not self.over:
            return [*events, *await self._failed(reader.error)]
        if not self.over:
            self._end(reader.error)
        if events and isinstance(events[-1], StreamEnd):
            self.final = events[-1]
            return events[:-1]
        return events

    # what becomes of a request that failed before its answer began

    async def _failed(self, error: ThinkaloudError) -> Sequence[StreamEvent]:
        if self.exchange is not None:
            heed_answer(error, self.exchange.status, self.exchange.headers)
        advise(error, self.plan)
        failed = self.plan
        again = None if self.over else self._amend(error) or self._retry(error) or self._fall_back(error)
        if again is None:
            self.fail(error)
            return ()
        self._asked.note_failure(again[-1])
        for observer in self._source.observers:
            observer.goes_on(
                Again(
                    call_id=self._call_id,
                    plan=failed,
                    attempt=self._attempt,
                    request_id=self._request_id,
                    notice=again[-1],
                )
            )
        exchange, self.exchange = self.exchange, None
        if exchange is not None:
            with anyio.CancelScope(shield=True), anyio.move_on_after(CLOSE_SECONDS):
                await exchange.aclose()
        return self._news(again)

    def _amend(self, error: ThinkaloudError) -> Sequence[Notice] | None:
        """Leave out what the provider refused, once for each kind. This is no retry, so it is not counted as one."""
        plan = amended(self.plan, error) if isinstance(error, ProviderError) else None
        if plan is None or plan.notices[-1].code in self._amended:
            return None
        self._amended.add(plan.notices[-1].code)
        self.plan, self._pause = plan, 0.0
        return plan.notices

    def _retry(self, error: ThinkaloudError) -> Sequence[Notice] | None:
        policy = self._source.retry
        wait = policy.wait(error, self._retries)
        if wait is None or not self._deadlines.leave_time(wait):
            why = policy.refuses(error, self._retries) if wait is None else self._deadlines.refuses(wait)
            add_to(error, why and f"; not sent again: {why}")
            return None
        self._retries += 1
        self._pause = wait
        text = f"{self._said(error)}; the request is sent again in {wait:.1f} s"
        facts = {"attempt": self._retries + 1, "wait": wait, "model": name_of(self.plan), **_facts(error)}
        return [Notice("retrying", text, "", facts)]

    def _fall_back(self, error: ThinkaloudError) -> Sequence[Notice] | None:
        if isinstance(error, ContextTooLong):
            self._fallbacks = [plan for plan in self._fallbacks if _may_hold_more(plan, self.plan)]
        elif not another_may_do(error):
            return None
        if not self._fallbacks:
            return None
        said, failed = self._said(error), name_of(self.plan)
        self.plan = self._fallbacks.pop(0)
        self._retries, self._pause = 0, 0.0
        self._amended.clear()
        name = name_of(self.plan)
        facts = {"model": name, "failed": failed, **_facts(error)}
        return [Notice("fallback", f"{said}; {name} is asked instead", "", facts)]

    def _said(self, error: ThinkaloudError) -> str:
        return f"{name_of(self.plan)}: {type(error).__name__}: {error}"

    # deadlines

    async def _in_time(self, wait: Callable[[], Awaitable[_T]]) -> _T:
        """Wait until the nearest deadline. Raises DeadlineExceeded."""
        with anyio.CancelScope(deadline=self._deadlines.of_wait()):
            return await wait()
        raise self._deadlines.error()

    def _note(self, events: Sequence[StreamEvent]) -> None:
        """See what came."""
        self._deadlines.note_event()
        if self._deadlines.starting:
            self._told += [event for event in events if isinstance(event, Notice)]
            self._deadlines.starting = not any(isinstance(event, StreamStart) for event in events)
            self._timed = self._deadlines.running


def _may_hold_more(plan: Plan, failed: Plan) -> bool:
    """Whether a prompt that is too long for one model may fit another: its context is larger, or one is unknown."""
    size, refused = plan.model.context_window, failed.model.context_window
    return size is None or refused is None or size > refused


def _facts(error: ThinkaloudError) -> dict[str, str | int]:
    status = error.status if isinstance(error, ProviderError) else None
    return {"error": type(error).__name__, **({} if status is None else {"status": status})}


async def _drain(exchange: Exchange) -> None:
    """Read the few bytes after the last event, so that the connection can serve the next request."""
    with anyio.move_on_after(_DRAIN_SECONDS):
        try:
            while await exchange.read():
                pass
        except TransportError:
            return
