"""Damaged input: seeds whose events, whose JSON or whose bytes are changed, framed validly again in the first two."""

from __future__ import annotations

from random import Random

from attrs import evolve, frozen

from fuzz.bodies import Event, events_of, framed
from fuzz.byte_damage import damaged_bytes
from fuzz.event_damage import damaged_events
from fuzz.json_damage import damaged_json
from fuzz.words import Words, words_of

_MANY = 400  # events; more are not changed one by one


@frozen
class Seeds:
    """bodies: inputs to damage. words: what the damage is made with."""

    bodies: tuple[bytes, ...]
    words: Words


def seeds_of(bodies: tuple[bytes, ...], *sources: str) -> Seeds:
    """Seeds, with the words of the source files or folders of the library that read them."""
    return Seeds(bodies, words_of(bodies, *sources))


def damaged(dice: Random, body: bytes, seeds: Seeds) -> bytes:
    """A body with changes. All chance comes from the dice."""
    way = dice.choice(("json", "json", "json", "events", "events", "both", "both", "bytes", "all"))
    if way != "bytes":
        events = events_of(body)
        if len(events) > 1 and way in ("events", "both", "all"):
            events = damaged_events(dice, events, events_of(dice.choice(seeds.bodies)))
        if way != "events" or len(events) <= 1:
            for _ in range(dice.choice((1, 1, 2, 5))):
                _damage_one(dice, events, seeds.words)
        body = framed(events, dice.choice((b"\n", b"\n", b"\n", b"\r\n", b"\r")))
    return damaged_bytes(dice, body) if way in ("bytes", "all") else body


def _damage_one(dice: Random, events: list[Event], words: Words) -> None:
    if events:
        place = dice.randrange(min(len(events), _MANY))
        event = events[place]
        events[place] = evolve(event, payload=damaged_json(dice, event.payload, words))
