"""A scope around all reads of a stream has the deadline of the read that waits: never earlier, hardly later."""

from __future__ import annotations

from typing import Any

import pytest

import thinkaloud as ta
from thinkaloud.deadlines import Deadlines


class Scope:
    """Counts how often its deadline is moved."""

    def __init__(self) -> None:
        self.moves = 0
        self._deadline = float("inf")

    @property
    def deadline(self) -> float:
        return self._deadline

    @deadline.setter
    def deadline(self, value: float) -> None:
        self.moves += 1
        self._deadline = value


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("anyio.current_time", clock)
    return clock


def begun(**limits: float | None) -> tuple[Deadlines, Any]:
    deadlines = Deadlines(ta.Timeouts(**{"first_event": None, "silence": None, **limits}))
    deadlines.begin()
    deadlines.send()
    deadlines.starting = False
    deadlines.reading = True
    return deadlines, Scope()


def test_silence_is_counted_from_the_last_piece_and_the_deadline_seldom_moved(clock: Clock) -> None:
    deadlines, scope = begun(silence=64.0)
    for _ in range(1000):
        deadlines.move(scope)
        assert clock.now + 64 <= scope.deadline <= clock.now + 65
        clock.now += 0.125
    assert scope.moves == 125
    clock.now = scope.deadline
    assert deadlines.error().kind == "silence"


def test_silence_between_events_is_counted_from_the_last_event(clock: Clock) -> None:
    deadlines, scope = begun(content_silence=64.0, silence=6400.0)
    deadlines.move(scope)
    clock.now += 50
    deadlines.move(scope)
    assert scope.deadline == 1065  # pieces without an event change nothing
    deadlines.note_event()
    deadlines.move(scope)
    assert scope.deadline == clock.now + 65
    clock.now = scope.deadline
    assert deadlines.error().kind == "content_silence"


def test_the_total_is_exact_and_never_moved(clock: Clock) -> None:
    deadlines, scope = begun(total=64.0, silence=640.0)
    for _ in range(20):
        deadlines.move(scope)
        deadlines.note_event()
        assert scope.deadline == 1064
        clock.now += 1
    clock.now = 1064
    assert deadlines.error().kind == "total"
    deadlines, scope = begun(total=64.0)
    for _ in range(20):
        deadlines.move(scope)
    assert scope.moves == 1


def test_what_is_no_wait_for_the_answer_has_no_deadline(clock: Clock) -> None:
    deadlines, scope = begun(silence=64.0)
    deadlines.move(scope)
    deadlines.suspend(scope)
    assert scope.deadline == float("inf")
    deadlines.move(scope)
    assert scope.deadline == clock.now + 65


def test_without_a_limit_nothing_runs(clock: Clock) -> None:
    deadlines, scope = begun()
    assert not deadlines.running
    assert deadlines.of_wait() == float("inf")
    deadlines.move(scope)
    assert scope.deadline == float("inf")
