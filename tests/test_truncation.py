"""A stream that breaks off is told as truncated, with all that had arrived, wherever it breaks.

An independent walker over the raw payloads (`support.walkers`) says what had arrived, and whether the terminal signal
or an error had gone by.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from itertools import pairwise

import pytest

from support.neutral import collected
from support.reading import Outcome, one_piece, read, reader_of
from support.streams import STREAMS, Stream, parameters
from support.walkers import Walker, event_ends, payloads
from thinkaloud import block_builder
from thinkaloud.errors import ProviderError, StreamError, TruncatedStream
from thinkaloud.protocols.reader import Reader
from thinkaloud.testing.event_rules import check_event_rules

# Reading each beginning anew takes time that grows with the square of the number of events: fine up to here.
EVENTS = 300
SHORT = [stream for stream in STREAMS if len(event_ends(stream.body)) <= EVENTS]
LONG = [stream for stream in STREAMS if len(event_ends(stream.body)) > EVENTS]
EVERY_BYTE = [stream for stream in STREAMS if stream.every_byte]


def outcome_of(stream: Stream, body: bytes) -> Outcome:
    outcome = read(stream.wire, one_piece(body), provider=stream.provider)
    check_event_rules(outcome.events, complete=outcome.error is None)
    return outcome


def check(outcome: Outcome, walked: Walker) -> None:
    """The outcome of a cut body is the one that its payloads allow."""
    if walked.failed:
        assert isinstance(outcome.error, ProviderError)
    elif walked.ended:
        assert outcome.error is None
    else:
        assert type(outcome.error) is TruncatedStream
    assert collected(outcome.message) == walked.collected()
    if outcome.error is not None and outcome.message is not None:
        assert {call.id for call in outcome.message.tool_calls} <= walked.closed
        assert all(isinstance(call.arguments, dict) for call in outcome.message.tool_calls)


def after_each_event(stream: Stream) -> Iterator[tuple[int, int, Walker]]:
    """Start and end of each event in the body, with the walker that has gone to its end."""
    walker = stream.walker()
    for start, end in pairwise([0, *event_ends(stream.body)]):
        for payload in payloads(stream.body[start:end]):
            walker.add(payload)
        yield start, end, walker


@pytest.mark.parametrize("stream", parameters(SHORT))
def test_cut_off_after_any_event_a_stream_is_truncated_or_had_ended(stream: Stream) -> None:
    check(outcome_of(stream, b""), stream.walker())
    for _, end, walker in after_each_event(stream):
        check(outcome_of(stream, stream.body[:end]), walker)


@pytest.mark.parametrize("stream", parameters(LONG))
def test_cut_off_after_any_event_a_long_stream_is_truncated_or_had_ended(stream: Stream) -> None:
    reader = reader_of(stream.wire, provider=stream.provider)
    for number, (start, end, walker) in enumerate(after_each_event(stream)):
        reader.feed(stream.body[start:end])
        outcome = broken_off(reader)
        check(outcome, walker)
        if number % 250 == 0:
            assert outcome.message == outcome_of(stream, stream.body[:end]).message


@pytest.mark.parametrize("stream", parameters(EVERY_BYTE))
def test_cut_off_after_any_byte_a_stream_is_truncated_or_had_ended(stream: Stream) -> None:
    before = stream.walker()
    for start, end, walker in after_each_event(stream):
        for place in range(start, end):
            check(outcome_of(stream, stream.body[:place]), with_pending(before, stream.body[start:place]))
        before = copy.deepcopy(walker)


def broken_off(reader: Reader) -> Outcome:
    """What comes of it when the body ends here; the reader itself can read on."""
    # The kinds of blocks are told apart by identity, so the copy keeps them.
    ending = copy.deepcopy(reader, {id(kind): kind for kind in vars(block_builder).values()})
    ending.close()
    error = ending.error
    if error is None:
        return Outcome((), ending.message)
    assert isinstance(error, (ProviderError, StreamError))
    return Outcome((), error.partial, error)


def with_pending(walker: Walker, pending: bytes) -> Walker:
    """The walker after the rest of the body, if that is a payload."""
    rest = payloads(pending)
    if not rest:
        return walker
    walker = copy.deepcopy(walker)
    for payload in rest:
        walker.add(payload)
    return walker
