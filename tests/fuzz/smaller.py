"""Makes an input that was found smaller, as long as it breaks the same promise: for people who read it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from time import process_time

from attrs import evolve

from fuzz.bodies import events_of, framed
from fuzz.json_damage import places

_SECONDS = 20.0


def smaller(data: bytes, is_found: Callable[[bytes], bool]) -> bytes:
    """A smaller input of which `is_found` still holds; found within some seconds."""
    end = process_time() + _SECONDS
    candidates = _without(data)
    while process_time() < end:
        less = next(candidates, None)
        if less is None:
            break
        if len(less) < len(data) and is_found(less):
            data, candidates = less, _without(less)
    return data


def _without(data: bytes) -> Iterator[bytes]:
    """The input without some of its events, of its JSON, or of its bytes; large parts first."""
    events = events_of(data)
    size = len(events) // 2
    while size:
        for start in range(0, len(events), size):
            yield framed(events[:start] + events[start + size :])
        size //= 2
    for at, event in enumerate(events):
        for payload in _less_json(event.payload):
            yield framed([*events[:at], evolve(event, payload=payload), *events[at + 1 :]])
    size = len(data) // 2 if len(events) < 2 else 0
    while size:
        for start in range(0, len(data), size):
            yield data[:start] + data[start + size :]
        size //= 2


def _less_json(text: bytes) -> Iterator[bytes]:
    try:
        count = len(places([json.loads(text)]))
    except (ValueError, RecursionError):
        return
    for place in range(1, count):
        root = [json.loads(text)]
        holder, key = places(root)[place]
        del holder[key]
        yield json.dumps(root[0], separators=(",", ":")).encode()
