"""Whether a cost grows much faster than its input: inputs are made longer in some way, and their times compared."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from random import Random
from time import process_time

from attrs import evolve, frozen

from fuzz.bodies import Event, events_of, framed
from fuzz.json_damage import places

SIZES = (800, 3_200, 12_500, 50_000, 200_000)
"""Bytes. Each is four times the one before it, or a little less."""

_MOST = 8  # a cost that grows by more than this, while the size grows by four
_WORTH = 0.3  # seconds; less is not looked at
_ODD = 6, 0.02  # growth and seconds that make a short input worth to be tried longer

Made = Callable[[int], bytes]


class Squared(AssertionError):
    """A cost grew much faster than the input."""


def check_growth(run: Callable[[bytes, int], None], make: Made, size: int, *, far: bool) -> None:
    """Run ever longer inputs. far: to the longest ones, even where nothing points to a square. Raises Squared."""
    before, cost = 0.0, _cost(run, make(SIZES[0]), size)
    for shorter, length in pairwise(SIZES):
        if not far and length > SIZES[2] and (cost < _ODD[1] or cost < _ODD[0] * before):
            return
        before, cost = cost, _cost(run, make(length), size)
        if cost > _WORTH and cost > _MOST * before:
            before = max(_cost(run, make(shorter), size) for _ in range(3))
            cost = min(_cost(run, make(length), size) for _ in range(2))
            if cost > _MOST * before:
                raise Squared(f"{len(make(shorter))} bytes take {before:.2f} s, {len(make(length))} take {cost:.2f} s")


def _cost(run: Callable[[bytes, int], None], data: bytes, size: int) -> float:
    began = process_time()
    run(data, size)
    return process_time() - began


def lengthened(dice: Random, data: bytes) -> Made:
    """A way to make an input longer, chosen by the dice."""
    events = events_of(data)
    way = dice.choice((_bytes_again, _events_again, _events_again, _events_numbered, _inside, _inside, _inside))
    return way(dice, data, events)


@frozen
class _Again:
    """before + part, as often as it takes + after."""

    before: bytes
    part: bytes
    after: bytes

    def __call__(self, length: int) -> bytes:
        room = length - len(self.before) - len(self.after)
        return self.before + self.part * max(1, room // max(1, len(self.part))) + self.after


def _bytes_again(dice: Random, data: bytes, events: list[Event]) -> Made:
    start = dice.randint(0, len(data))
    end = start + dice.choice((1, 2, 5, 20, 100))
    part = data[start:end] if dice.random() < 0.5 else dice.choice(_UNITS).encode("utf-8", "replace")
    return _Again(data[:start], part or b"\n", dice.choice((b"", b"x", data[start:], data[end:])))


def _events_again(dice: Random, data: bytes, events: list[Event]) -> Made:
    start, end = _stretch(dice, events)
    return _Again(framed(events[:start]), framed(events[start:end]), framed(events[end:]))


def _stretch(dice: Random, events: list[Event]) -> tuple[int, int]:
    start = dice.randrange(max(1, len(events)))
    return start, start + dice.choice((1, 1, 2, 4, 8))


def _events_numbered(dice: Random, data: bytes, events: list[Event]) -> Made:
    """The same events again and again, each time of another index and with other ids."""
    start, end = _stretch(dice, events)
    unended = dice.random() < 0.3

    def make(length: int) -> bytes:
        part = events[start:end]
        size = len(framed(part)) + 2
        more = [_numbered(event, number) for number in range(1, max(2, length // size)) for event in part]
        return framed([*events[:end], *more, *([] if unended else events[end:])])

    return make


def _numbered(event: Event, number: int) -> Event:
    try:
        root = [json.loads(event.payload)]
    except (ValueError, RecursionError):
        return event
    for holder, key in places(root):
        if isinstance(key, str) and isinstance(holder[key], int) and "index" in key.lower():
            holder[key] += number
        elif isinstance(key, str) and isinstance(holder[key], str) and key.lower().endswith("id"):
            holder[key] += str(number)
    return evolve(event, payload=json.dumps(root[0]).encode())


def _inside(dice: Random, data: bytes, events: list[Event]) -> Made:
    """One value inside one event's JSON becomes a long text, a long list, a large object, or lists in each other."""
    at = dice.randrange(max(1, len(events)))
    try:
        root = [json.loads(events[at].payload)]
        holder, key = dice.choice(places(root))
        value, holder[key] = holder[key], _MARK
        before, _, after = json.dumps(root[0]).partition(json.dumps(_MARK))
    except (ValueError, RecursionError, IndexError):
        return _bytes_again(dice, data, events)
    way = dice.choice(("text", "text", "list", "object", "nested"))
    item = json.dumps(value if value is not None else 1)
    unit = json.dumps(dice.choice((value if isinstance(value, str) and value else "x", *_UNITS)))[1:-1]

    def make(length: int) -> bytes:
        if way == "text":
            inner = f'"{unit * (length // len(unit))}"'
        elif way == "list":
            inner = f"[{','.join([item] * (1 + length // len(item)))}]"
        elif way == "object":
            count = 1 + length // (len(item) + 8)
            inner = "{" + ",".join(f'"k{number}":{item}' for number in range(count)) + "}"
        else:
            inner = "[" * (length // 2) + "]" * (length // 2)
        longer = evolve(events[at], payload=(before + inner + after).encode())
        return framed([*events[:at], longer, *events[at + 1 :]])

    return make


_MARK = "\ue000"
_UNITS = (
    "x",
    " ",
    "\n",
    "\\",
    '"',
    "{",
    "[",
    '{"a":',
    "a b ",
    "\ud83e",
    "\U0001f914",
    "<think>",
    "</think>",
    "<",
    "`",
    ".",
    "0",
    "1,",
    "\r",
    "=",
)
