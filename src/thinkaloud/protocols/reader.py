"""The bytes of one HTTP answer become events and the folded message: decoder, parser and fold in one, without I/O.

The same reader serves a live stream, a whole body, an error body and a captured file. It never raises for what the
bytes say: an error is kept in `error`, after the events that close what was open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from attrs import evolve

from thinkaloud.accumulator import Accumulator
from thinkaloud.errors import (
    MalformedStream,
    ProviderError,
    StreamError,
    ThinkaloudError,
    TransportError,
    TruncatedStream,
)
from thinkaloud.events import (
    StreamEnd,
    StreamEvent,
    StreamStart,
    TextStart,
    ThinkingEnd,
    ThinkingStart,
    ToolCallStart,
)
from thinkaloud.jsontext import loads, loads_exact
from thinkaloud.limits import Limits
from thinkaloud.messages import AssistantMessage, StopReason, Timing
from thinkaloud.notices import Notice
from thinkaloud.protocols.base import ErrorResponse, ParseContext, Parser, WireProtocol
from thinkaloud.protocols.failures import readable, request_id_of
from thinkaloud.wire.awsevents import AwsChunkDecoder, AwsEventDecoder
from thinkaloud.wire.hiding import hidden
from thinkaloud.wire.server_event import ServerEvent
from thinkaloud.wire.sse import SseDecoder

_QUOTED = 100
_STREAM_TYPES = frozenset({"text/event-stream", "application/vnd.amazon.eventstream"})
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class _Framing(Protocol):
    def feed(self, chunk: bytes) -> Sequence[ServerEvent]: ...
    def close(self) -> Sequence[ServerEvent]: ...


# How a streamed body is cut into events, by the framing of the protocol.
_FRAMINGS: dict[str, Callable[[int], _Framing]] = {
    "sse": lambda size: SseDecoder(max_event_size=size),
    "awsevents": lambda size: AwsEventDecoder(max_event_size=size),
    "awschunks": lambda size: AwsChunkDecoder(max_event_size=size),
}


class Reader:
    """Takes the body of one answer in pieces of any size and gives its events.

    status, headers: of the HTTP answer; names in lower case.
    clock: gives seconds; with it the message tells its timing. started_at: when the request was sent.
    """

    def __init__(
        self,
        protocol: WireProtocol,
        context: ParseContext,
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        limits: Limits = Limits(),
        clock: Callable[[], float] | None = None,
        started_at: float | None = None,
    ) -> None:
        self.error: ThinkaloudError | None = None
        """Why the answer failed; None while it has not."""
        self.ended = False
        """Nothing more can come: StreamEnd was handed out, or the answer failed."""
        self._protocol = protocol
        self._context = context
        self._status = status
        self._headers = {name.lower(): value for name, value in (headers or {}).items()}
        self._limits = limits
        self._parser: Parser = protocol.parser(context)
        self._parser.builder.limits = limits
        self._parse = self._parser.feed
        if protocol.response_id_header is not None:
            self._parser.builder.response(id=self._headers.get(protocol.response_id_header))
        self._accumulator = Accumulator()
        self._decoder: _Framing | None = None
        self._body: list[bytes] | None = [] if status >= 400 else None
        self._body_size = 0
        self._room = limits.stream_size
        self._head = b""
        self._beginning = b""
        self._stopwatch = None if clock is None else _Stopwatch(clock, started_at)

    @property
    def partial(self) -> AssistantMessage | None:
        """The message as far as it has come; None before the first block."""
        return self._accumulator.message() if self._accumulator.started else None

    @property
    def message(self) -> AssistantMessage | None:
        """The message of an answer that ended well."""
        return self._message

    _message: AssistantMessage | None = None

    def announce(self, notices: Sequence[Notice]) -> Sequence[StreamEvent]:
        """Tell notices about the request before anything else."""
        self._accumulator.add_all(notices)
        return notices

    def feed(self, chunk: bytes) -> Sequence[StreamEvent]:
        """Take in a piece of the body."""
        if self.ended or not chunk:
            return ()
        if self._decoder is None:
            if self._body is None:
                size = len(chunk)
                chunk = self._choose_framing(chunk)
                self._room -= size - len(chunk)  # blank lines without end are a stream without end
            if self._decoder is None and self._room >= 0:
                return self._collect(chunk)
        self._room -= len(chunk)
        if self._room < 0:
            return self._failed([], self._limits.exceeded("stream_size", "the stream has over {} bytes"))
        assert self._decoder is not None
        events: list[StreamEvent] = []
        try:
            for event in self._decoder.feed(chunk):
                if events:
                    events += self._parse(event)
                else:  # nearly every chunk holds one event, and its list needs no copy
                    events = self._parse(event)
        except ThinkaloudError as error:
            return self._failed(events, error)
        if not events:
            return events
        if self._stopwatch is not None:
            self._stopwatch.see(events)
        self._accumulator.add_all(events)
        return self._completed(events) if type(events[-1]) is StreamEnd else events

    def close(self) -> Sequence[StreamEvent]:
        """Take in the end of the body."""
        if self.ended:
            return ()
        if self._body is not None:
            return self._read_body(b"".join(self._body))
        events: list[StreamEvent] = []
        try:
            for event in self._decoder.close() if self._decoder is not None else ():
                if _is_whole(event):  # an event that was cut is no event: the missing end decides
                    events.extend(self._parse(event))
            events.extend(self._parser.close())
        except TruncatedStream as error:
            return self._failed(events, self._described(error))
        except ThinkaloudError as error:
            return self._failed(events, error)
        return self._folded(events)

    def fail(self, error: ThinkaloudError) -> Sequence[StreamEvent]:
        """End the answer from outside: the network failed, or the reader's owner has had enough."""
        return () if self.ended else self._failed([], error)

    # inside

    def _choose_framing(self, chunk: bytes) -> bytes:
        """Tell by the first byte what comes: some servers answer 200 with a JSON error, and proxies with HTML."""
        # Blank lines keep a connection alive before the answer; a byte-order mark may come in two pieces.
        chunk = (self._head + chunk).lstrip().removeprefix(_BYTE_ORDER_MARK).lstrip()
        self._head = chunk if len(chunk) < len(_BYTE_ORDER_MARK) and _BYTE_ORDER_MARK.startswith(chunk) else b""
        start = chunk.removeprefix(self._head)
        if not start:
            return b""
        if start[:1] in (b"{", b"[", b"<"):
            self._body = []
            return start
        framing: str = self._protocol.framing
        if framing == "sse" and start[:1] == b"\0":
            # No text begins so, but the length of a frame does: the protocol's events, packed by Amazon.
            framing = "awschunks"
        self._decoder = _FRAMINGS[framing](self._limits.event_size)
        self._beginning = start[:_QUOTED]
        return start

    def _collect(self, chunk: bytes) -> Sequence[StreamEvent]:
        if self._body is None:
            return ()
        self._body.append(chunk)
        self._body_size += len(chunk)
        if self._body_size > self._limits.body_size:
            return self._failed([], self._limits.exceeded("body_size", "the body has over {} bytes"))
        return ()

    def _read_body(self, body: bytes) -> Sequence[StreamEvent]:
        text = body.removeprefix(_BYTE_ORDER_MARK).decode("utf-8", "replace")
        if self._status >= 400:
            return self._failed([], self._provider_error(text))
        if text.lstrip()[:1] == "<":
            return self._failed(
                [], MalformedStream(f"the answer is HTML, not {self._protocol.id}: {hidden(readable(text)[:200])!r}")
            )
        try:
            value = loads_exact(text)
        except ValueError as error:
            return self._failed([], TruncatedStream(f"the body is no whole JSON document: {error}"))
        try:
            return self._folded(self._parser.whole(value))
        except ThinkaloudError as error:
            return self._failed([], error)

    def _described(self, error: TruncatedStream) -> TruncatedStream:
        """Say what came instead, where it calls itself another type: a proxy's text, an answer for people."""
        said = self._headers.get("content-type", "").partition(";")[0].strip().lower()
        if self._accumulator.started or not said or said in _STREAM_TYPES:
            return error
        text = hidden(self._beginning.decode("utf-8", "replace"))
        return TruncatedStream(
            f"{error.message}: it is {said[:_QUOTED]!r}" + (f" and begins with {text!r}" if text else "")
        )

    def _provider_error(self, text: str) -> ProviderError:
        try:
            body = loads(text)
        except ValueError:
            body = text
        return self._protocol.error(
            ErrorResponse(body=body, status=self._status, headers=self._headers, provider=self._context.origin.provider)
        )

    def _folded(self, events: list[StreamEvent]) -> Sequence[StreamEvent]:
        if self._stopwatch is not None:
            self._stopwatch.see(events)
        self._accumulator.add_all(events)
        return self._completed(events)

    def _completed(self, events: list[StreamEvent]) -> Sequence[StreamEvent]:
        """Put the message into the event that ends the answer."""
        end = events[-1] if events else None
        if isinstance(end, StreamEnd):
            self.ended = True
            self._message = self._accumulator.message(timing=self._timing())
            events[-1] = StreamEnd(end.stop_reason, end.raw_stop_reason, end.stop_detail, self._message)
        return events

    def _failed(self, events: list[StreamEvent], error: ThinkaloudError) -> Sequence[StreamEvent]:
        events.extend(self._parser.abandon())
        self._folded(events)
        self.ended = True
        self.error = error
        if not isinstance(error, (ProviderError, TransportError, StreamError)):
            return events
        if error.request_id is None or self._status < 400:  # a refusal has looked at the headers itself
            error.request_id = request_id_of(self._headers) or error.request_id
        if (partial := self.partial) is not None:
            error.partial = evolve(partial, stop_reason=StopReason.ERROR, timing=self._timing())
        return events

    def _timing(self) -> Timing:
        return Timing() if self._stopwatch is None else self._stopwatch.timing()


def _is_whole(event: ServerEvent) -> bool:
    if event.data.startswith("[DONE]"):
        return True
    try:
        loads(event.data)
    except ValueError:
        return False
    return True


_TIMED = frozenset({StreamStart, ThinkingStart, ThinkingEnd, TextStart, ToolCallStart})


class _Stopwatch:
    """Times an answer by the moments at which its events are read."""

    def __init__(self, clock: Callable[[], float], started_at: float | None) -> None:
        self._clock = clock
        self._started_at = clock() if started_at is None else started_at
        self._first_event: float | None = None
        self._thinking: float | None = None
        self._thinking_since: dict[int, float] = {}

    def see(self, events: Sequence[StreamEvent]) -> None:
        for event in events:
            if type(event) in _TIMED:
                self._note(event)

    def _note(self, event: StreamEvent) -> None:
        now = self._clock()
        if isinstance(event, StreamStart):
            self._first_event = now - self._started_at
        elif isinstance(event, ThinkingStart):
            self._thinking_since[event.index] = now
        elif isinstance(event, ThinkingEnd):
            self._thought(now - self._thinking_since.pop(event.index, now))
        else:  # some servers close the thinking only when all is said (seen at llama.cpp): what follows it ends it
            for since in self._thinking_since.values():
                self._thought(now - since)
            self._thinking_since.clear()

    def _thought(self, seconds: float) -> None:
        self._thinking = (self._thinking or 0.0) + seconds

    def timing(self) -> Timing:
        return Timing(self._first_event, self._thinking, self._clock() - self._started_at)
