"""However the network cuts a stream, its events and its message are the same, and they keep the rules of events.

Besides the recordings, the authored cases are cut in `test_cases.py`.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from functools import lru_cache

import pytest

from support.reading import Outcome, byte_by_byte, cut_at, folded, one_piece, read
from support.streams import Stream, parameters
from thinkaloud.testing.event_rules import check_event_rules

ROUNDS = 4


def outcome_of(stream: Stream, pieces: Iterable[bytes]) -> Outcome:
    return read(stream.wire, pieces, provider=stream.provider)


@lru_cache(maxsize=1)  # the tests of one stream run one after the other
def in_one_piece(stream: Stream) -> Outcome:
    return outcome_of(stream, one_piece(stream.body))


@pytest.mark.parametrize("stream", parameters(), scope="module")
def test_events_keep_their_rules(stream: Stream) -> None:
    outcome = in_one_piece(stream)
    check_event_rules(outcome.events, complete=outcome.error is None)


@pytest.mark.parametrize("stream", parameters(), scope="module")
def test_the_events_alone_tell_the_message(stream: Stream) -> None:
    outcome = in_one_piece(stream)
    if outcome.message is None:
        assert outcome.error is not None
        assert outcome.events == ()
    elif outcome.error is None:
        assert folded(outcome.events) == outcome.message
    else:
        assert folded(outcome.events).content == outcome.message.content


@pytest.mark.parametrize("stream", parameters(), scope="module")
def test_bytes_one_by_one_give_the_same_answer(stream: Stream) -> None:
    assert outcome_of(stream, byte_by_byte(stream.body)) == in_one_piece(stream)


@pytest.mark.parametrize("stream", parameters(), scope="module")
def test_pieces_of_a_kilobyte_give_the_same_answer(stream: Stream) -> None:
    places = range(1024, len(stream.body), 1024)
    assert outcome_of(stream, cut_at(stream.body, places)) == in_one_piece(stream)


@pytest.mark.parametrize("stream", parameters(), scope="module")
def test_cuts_at_random_places_give_the_same_answer(stream: Stream) -> None:
    dice = random.Random(stream.name)
    for _ in range(ROUNDS):
        places = [dice.randrange(len(stream.body) + 1) for _ in range(dice.randint(1, 60))]
        assert outcome_of(stream, cut_at(stream.body, places)) == in_one_piece(stream), places
