"""What must hold for a captured answer whatever the network does to it, as one check."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve, frozen

from thinkaloud.accumulator import Accumulator
from thinkaloud.errors import MalformedStream, ProviderError, ThinkaloudError, TruncatedStream
from thinkaloud.events import StreamEnd, StreamEvent
from thinkaloud.messages import AssistantMessage
from thinkaloud.models.dialect import Dialect
from thinkaloud.protocols.captured import parse_events
from thinkaloud.testing.chunking import cuts, event_ends
from thinkaloud.testing.event_rules import check_event_rules

_CUTS_IN_TWO = 200


@frozen
class _Reading:
    """An answer read to its end: the fold of its events, and how it failed."""

    message: AssistantMessage
    error: type[ThinkaloudError] | None
    text: str
    is_none: bool
    """The body is no answer of its protocol, or not to its end."""


def conformance(
    protocol: str,
    recording: bytes,
    *,
    provider: str | None = None,
    dialect: Dialect | None = None,
    status: int = 200,
    step: int | None = None,
) -> AssistantMessage:
    """Check that a captured body is read by the rules, and give its message (or as much as had come of it).

    The events keep the rules of an event stream; however the bytes are cut, they fold to the same message or fail in
    the same way; and where the body ends early, at any event, that is a TruncatedStream or an answer whose terminal
    signal had come. The body must be an answer, to its end, or a failure that the provider tells: one of another
    protocol, or one that was cut off, is none.

    protocol, provider, dialect, status: as in `thinkaloud.parse_events`.
    step: bytes between two places at which the body is cut in two; None: some two hundred places in all.

    Raises AssertionError that names the rule and the cut.
    """

    def read(pieces: Iterable[bytes]) -> _Reading:
        return _read(parse_events(protocol, pieces, provider=provider, dialect=dialect, status=status))

    whole = read([recording])
    if whole.is_none:
        raise AssertionError(f"the body is no whole answer ({whole.text}); is {protocol!r} the right protocol?")
    for pieces in cuts(recording, step=step or max(1, len(recording) // _CUTS_IN_TWO)):
        assert read(pieces) == whole, f"cut into {[len(piece) for piece in pieces][:10]}, the answer is another one"
    for at in event_ends(recording)[:-1]:
        ended = read([recording[:at]])
        assert ended.error in (None, TruncatedStream, whole.error), (
            f"cut off after {at} bytes, the answer fails as {ended.error}: {ended.text}"
        )
    return whole.message


def _read(events: Iterable[StreamEvent]) -> _Reading:
    told: list[StreamEvent] = []
    error: ThinkaloudError | None = None
    try:
        for event in events:
            told.append(event)  # noqa: PERF402  those before an error must be kept
    except ThinkaloudError as caught:
        error = caught
    check_event_rules(told, complete=error is None)
    accumulator = Accumulator()
    accumulator.add_all(_without_message(event) for event in told)
    return _Reading(accumulator.message(), None if error is None else type(error), str(error), _tells_of_none(error))


def _tells_of_none(error: ThinkaloudError | None) -> bool:
    if isinstance(error, ProviderError):  # an empty list of choices is the failure of a server
        return error.code == "no_choices" and "choices" not in error.body
    return isinstance(error, TruncatedStream | MalformedStream)


def _without_message(event: StreamEvent) -> StreamEvent:
    return evolve(event, message=None) if isinstance(event, StreamEnd) else event
