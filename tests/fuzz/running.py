"""One target fuzzed for a time: damaged seeds, the growth of what it costs, and what is found on the way."""

from __future__ import annotations

import base64
import signal
import sys
import traceback
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from random import Random
from time import process_time
from types import FrameType

from attrs import define, field, frozen

from fuzz.damage import damaged
from fuzz.growth import SIZES, Squared, check_growth, lengthened
from fuzz.smaller import smaller
from fuzz.targets import TARGETS

PIECES = (1, 2, 3, 7, 16, 64, 97, 1000, 1 << 20)
"""Sizes of the pieces that an input is fed in."""

_LONGEST = 20.0  # seconds of CPU that one input may take
_SHARE_OF_GROWTH = 0.35  # of the time
_SHARE_OF_LONG = 0.15  # of the checks of growth
_KINDS = 15  # findings of one target; more are the same again, or everything is broken
_LARGEST = 100_000  # bytes of an input


_LONGEST_LITERAL = 4000  # characters; what is longer is told compressed


class TooLong(BaseException):
    """An input takes too long."""


@frozen
class Finding:
    """An input that broke a promise. kind: what was broken, and where; the same for inputs that are alike."""

    target: str
    kind: str
    text: str
    data: bytes
    size: int

    def __str__(self) -> str:
        literal = repr(self.data)
        if len(literal) > _LONGEST_LITERAL:
            literal = f"zlib.decompress(base64.b85decode({base64.b85encode(zlib.compress(self.data, 9))!r}))"
        return f"--- {self.target}: {self.kind}\n{self.text}\nTARGETS[{self.target!r}].run({literal}, {self.size})\n"


@define
class Running:
    """What has become of one target."""

    target: str
    inputs: int = 0
    findings: dict[str, Finding] = field(factory=dict)

    def attempt(self, data: bytes, size: int, run: Callable[[], None] | None = None) -> None:
        """Run one input, and keep what it breaks."""
        self.inputs += 1
        fault = fault_of(run or (lambda: TARGETS[self.target].run(data, size)))
        if fault is None or len(self.findings) >= _KINDS:
            return
        kind, text = fault
        if kind not in self.findings:
            if run is None:
                data = smaller(data, lambda less: _kind(fault_of(lambda: TARGETS[self.target].run(less, size))) == kind)
            self.findings[kind] = found = Finding(self.target, kind, text, data, size)
            sys.stdout.write(f"{found}\n")
            sys.stdout.flush()

    def run(self, seconds: float, number: int, more: Sequence[bytes] = ()) -> None:
        """Damage seeds for that many seconds of CPU time. number: of the dice. more: further seeds."""
        target, dice = TARGETS[self.target], Random(number)
        seeds = target.seeds()
        bodies = (*seeds.bodies, *more)
        began, growing = process_time(), 0.0
        while (spent := process_time() - began) < seconds:
            data = damaged(dice, dice.choice(bodies), seeds)[:_LARGEST]
            size = dice.choice(PIECES)
            if growing > spent * _SHARE_OF_GROWTH:
                self.attempt(data, size)
                continue
            start = process_time()
            make = lengthened(dice, dice.choice((data, dice.choice(bodies))))
            size = max(size, 1 if dice.random() < 0.1 else 7)
            check = partial(check_growth, target.run, make, size, far=dice.random() < _SHARE_OF_LONG)
            self.attempt(make(SIZES[2]), size, check)
            growing += process_time() - start


def fault_of(run: Callable[[], None]) -> tuple[str, str] | None:
    """What is broken, in a form that is the same for alike inputs, and the end of the traceback; None for nothing."""
    try:
        with _bounded():
            run()
    except (Exception, TooLong) as error:
        frames = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in frames if "/thinkaloud/" in frame.filename or "/fuzz/" in frame.filename]
        where = f"{ours[-1].filename.rsplit('/', 2)[-1]}:{ours[-1].lineno}" if ours else "?"
        about = str(error).partition("\n")[0] if isinstance(error, AssertionError) else ""
        if isinstance(error, Squared):
            about = ""
        kind = f"{type(error).__name__} at {where} {about.partition(' (at')[0]}".strip()
        return kind, "".join(traceback.format_exception(error)[-6:])[-1500:]
    return None


def _kind(fault: tuple[str, str] | None) -> str | None:
    return None if fault is None else fault[0]


@contextmanager
def _bounded() -> Iterator[None]:
    """Interrupt what takes too much CPU time."""
    before = signal.signal(signal.SIGPROF, _interrupt)
    signal.setitimer(signal.ITIMER_PROF, _LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise TooLong(f"over {_LONGEST} s")
