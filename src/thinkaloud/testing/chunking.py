"""Ways to cut a body of bytes, for tests that nothing depends on how the network cut it."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import pairwise

from thinkaloud.testing.aws_frames import frame_ends

_BLANK_LINE = re.compile(rb"\r\n\r\n|\n\n|\r\r")


def cuts(data: bytes, *, step: int = 1, rounds: int = 10, seed: int = 0) -> Iterator[list[bytes]]:
    """Give the same bytes cut in many ways: in one piece, byte by byte, in two at each position, and at random.

    step: distance between the positions of the cuts in two, in bytes.
    rounds, seed: number and seed of the random ways.

    The pieces of each way join to `data`; none is empty.
    """
    yield [data] if data else []
    yield [data[at : at + 1] for at in range(len(data))]
    for at in range(step, len(data), step):
        yield [data[:at], data[at:]]
    dice = random.Random(seed)
    for _ in range(rounds if len(data) > 1 else 0):
        count = dice.randint(1, min(len(data) - 1, 40))
        places = [0, *sorted(dice.sample(range(1, len(data)), count)), len(data)]
        yield [data[start:end] for start, end in pairwise(places)]


def truncate(data: bytes, at: int) -> bytes:
    """The first `at` bytes, as a broken connection would have left them. Raises ValueError if nothing is cut off."""
    if not 0 <= at < len(data):
        raise ValueError(f"at={at} cuts nothing off {len(data)} bytes")
    return data[:at]


def event_ends(data: bytes) -> list[int]:
    """Positions right after each event of a body: a server-sent one, or a frame of an Amazon event stream."""
    if data[:1] == b"\0":  # no text begins so, but the length of a frame does
        return frame_ends(data)
    return [match.end() for match in _BLANK_LINE.finditer(data)]
