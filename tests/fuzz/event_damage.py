"""Damage to the order of events: dropped, doubled, swapped, mixed with another answer's, joined and halved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest
from random import Random

from attrs import evolve

from fuzz.bodies import Event

Events = list[Event]


def damaged_events(dice: Random, events: Events, others: Sequence[Event]) -> Events:
    """Events in another order or number. others: the events of another answer."""
    for _ in range(dice.choice((1, 1, 2, 3))):
        if not events:
            return list(others)
        events = dice.choice(_CHANGES)(dice, events, others)
    return events


def _stretch(dice: Random, events: Sequence[Event]) -> tuple[int, int]:
    start = dice.randrange(len(events))
    return start, min(len(events), start + dice.choice((1, 1, 2, 5, 30)))


def _dropped(dice: Random, events: Events, others: Sequence[Event]) -> Events:
    start, end = _stretch(dice, events)
    return events[:start] + events[end:]


def _doubled(dice: Random, events: Events, others: Sequence[Event]) -> Events:
    start, end = _stretch(dice, events)
    place = dice.choice((start, end, dice.randint(0, len(events))))
    return events[:place] + events[start:end] * dice.choice((1, 1, 1, 2, 20)) + events[place:]


def _moved(dice: Random, events: Events, others: Sequence[Event]) -> Events:
    start, end = _stretch(dice, events)
    rest = events[:start] + events[end:]
    place = dice.randint(0, len(rest))
    return rest[:place] + events[start:end] + rest[place:]


def _spliced(dice: Random, events: Events, others: Sequence[Event]) -> Events:
    if not others:
        return events
    start, end = _stretch(dice, others)
    place = dice.randint(0, len(events))
    return [*events[:place], *others[start:end], *events[place + dice.choice((0, 0, 1, len(events))) :]]


def _crossed(dice: Random, events: Events, others: Sequence[Event]) -> Events:
    return [*events[: dice.randint(0, len(events))], *others[dice.randint(0, len(others)) :]]


def _interleaved(dice: Random, events: Events, others: Sequence[Event]) -> Events:
    pairs = zip_longest(events, others)
    return [event for pair in pairs for event in pair if event is not None]


def _cut(dice: Random, events: Events, others: Sequence[Event]) -> Events:
    return events[: dice.randint(0, len(events))]


def _begun_late(dice: Random, events: Events, others: Sequence[Event]) -> Events:
    return events[dice.randrange(len(events)) :]


def _named_otherwise(dice: Random, events: Events, others: Sequence[Event]) -> Events:
    place = dice.randrange(len(events))
    head = dice.choice([*events, *others]).head
    return [*events[:place], evolve(events[place], head=head), *events[place + 1 :]]


def _joined(dice: Random, events: Events, others: Sequence[Event]) -> Events:
    place = dice.randrange(len(events))
    payload = b"".join(event.payload for event in events[place : place + 2])
    return [*events[:place], evolve(events[place], payload=payload), *events[place + 2 :]]


def _halved(dice: Random, events: Events, others: Sequence[Event]) -> Events:
    place = dice.randrange(len(events))
    payload = events[place].payload
    half = dice.randint(0, len(payload))
    halves = [evolve(events[place], payload=payload[:half]), evolve(events[place], payload=payload[half:])]
    return [*events[:place], *halves[: dice.choice((1, 2))], *events[place + 1 :]]


_CHANGES: tuple[Callable[[Random, Events, Sequence[Event]], Events], ...] = (
    *(_dropped, _dropped, _doubled, _doubled, _moved, _spliced, _crossed, _interleaved, _cut, _begun_late),
    *(_named_otherwise, _joined, _halved),
)
