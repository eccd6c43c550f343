"""Fuzzes every target in turn for some minutes in all: `python -m fuzz --minutes 10 [--only WORD]`, inside `tests`."""

from __future__ import annotations

import argparse
import sys
import time

from hypothesis import given, seed, settings

from fuzz.damage import PATIENT, damaged
from fuzz.targets import TARGETS, Target


def main() -> int:
    """Fuzz until the time is over, or something is found."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="in all (10)")
    parser.add_argument("--only", default="", help="targets whose name holds this")
    arguments = parser.parse_args()
    chosen = {name: target for name, target in TARGETS.items() if arguments.only in name}
    end = time.monotonic() + arguments.minutes * 60
    rounds = 0
    while time.monotonic() < end:
        rounds += 1
        for name, target in chosen.items():
            _fuzz(target, rounds)
            if time.monotonic() >= end:
                break
            sys.stdout.write(f"round {rounds}: {name}\n")
            sys.stdout.flush()
    return 0


def _fuzz(target: Target, number: int) -> None:
    @seed(number)
    @settings(max_examples=60, deadline=None, database=None, suppress_health_check=PATIENT)
    @given(damaged(target.seeds))
    def run(data: bytes) -> None:
        target.run(data)

    run()


if __name__ == "__main__":
    sys.exit(main())
