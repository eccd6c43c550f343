"""An answer read to its end, well or badly, as one comparable value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from attrs import field, frozen

from thinkaloud.accumulator import Accumulator
from thinkaloud.errors import ProviderError, StreamError, ThinkaloudError
from thinkaloud.events import StreamEnd, StreamEvent
from thinkaloud.messages import AssistantMessage, Origin
from thinkaloud.models.dialect import Dialect
from thinkaloud.models.providers import PROVIDERS, provider_id
from thinkaloud.protocols.base import ParseContext
from thinkaloud.protocols.captured import parse_events
from thinkaloud.protocols.reader import Reader
from thinkaloud.protocols.registry import wire_protocol

# Wires of recordings that are no protocols of their own: the Messages API in frames of Amazon's.
_PACKED = {"other": "anthropic-messages"}


@frozen
class Outcome:
    """What came of reading an answer.

    events: all that were handed out.
    message: the finished message, or the partial one of a failure; None where no block had opened.
    error: why it failed.
    failure: the error in comparable form.
    """

    events: tuple[StreamEvent, ...]
    message: AssistantMessage | None
    error: ThinkaloudError | None = field(default=None, eq=False)
    failure: tuple[str, str] | None = None

    @property
    def finished(self) -> AssistantMessage:
        """The message of an answer that ended well; the error is raised where it did not."""
        if self.error is not None:
            raise self.error
        assert self.message is not None
        return self.message


def read(
    protocol: str,
    pieces: Iterable[bytes],
    *,
    provider: str | None = None,
    dialect: Dialect | None = None,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Outcome:
    """Read an answer from its bytes."""
    protocol = _PACKED.get(protocol, protocol)
    if dialect is None and provider and provider_id(provider) not in PROVIDERS:
        dialect = (
            Dialect()
        )  # what it gets in any case, without a search for names like it at each of thousands of reads
    events: list[StreamEvent] = []
    try:
        for event in parse_events(protocol, pieces, provider=provider, dialect=dialect, status=status, headers=headers):
            events.append(event)  # noqa: PERF402  those before an error must be kept
    except ThinkaloudError as error:
        partial = error.partial if isinstance(error, (ProviderError, StreamError)) else None
        return Outcome(tuple(events), partial, error, (type(error).__name__, error.message))
    last = events[-1]
    assert isinstance(last, StreamEnd)
    return Outcome(tuple(events), last.message)


def reader_of(protocol: str, *, provider: str) -> Reader:
    """A reader that is fed by hand."""
    dialect = PROVIDERS[provider].dialect if provider in PROVIDERS else Dialect()
    protocol = _PACKED.get(protocol, protocol)
    return Reader(wire_protocol(protocol), ParseContext(origin=Origin(protocol, provider), dialect=dialect))


def folded(events: Iterable[StreamEvent]) -> AssistantMessage:
    """The message that the events alone tell: the one inside StreamEnd is taken away first."""
    accumulator = Accumulator()
    for event in events:
        if isinstance(event, StreamEnd):
            event = StreamEnd(event.stop_reason, event.raw_stop_reason, event.stop_detail)
        accumulator.add(event)
    return accumulator.message()


def one_piece(body: bytes) -> Iterator[bytes]:
    """The whole body at once."""
    yield body


def byte_by_byte(body: bytes) -> Iterator[bytes]:
    """Each byte alone."""
    for place in range(len(body)):
        yield body[place : place + 1]


def cut_at(body: bytes, places: Iterable[int]) -> Iterator[bytes]:
    """The body cut at these places; pieces may be empty."""
    start = 0
    for place in (*sorted(places), len(body)):
        yield body[start:place]
        start = place
