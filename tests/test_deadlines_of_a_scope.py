"""A scope around all reads of a stream has the deadline of the read that waits: never earlier, hardly later."""

from __future__ import annotations

import os
import time
from typing import Any

import pytest
from anyio.abc import SocketAttribute, SocketStream

import thinkaloud as ta
from support.raw_server import HEAD, chunk, gone, raw_server
from support.streams import anthropic, said, started, stopped
from thinkaloud.deadlines import Deadlines
from thinkaloud.testing.event_rules import check_event_rules


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


@pytest.mark.anyio
async def test_what_came_in_time_counts_though_the_event_loop_was_held_up() -> None:
    words = [f"{number} " for number in range(300)]  # more events than are read ahead
    *beginning, end = said(0, *words)
    connections: list[int] = []

    async def answer(stream: SocketStream) -> None:
        connections.append(stream.extra(SocketAttribute.raw_socket).fileno())
        await stream.send(HEAD + chunk(anthropic(started(input_tokens=9, output_tokens=1), *beginning[:2])))
        await gone(stream)

    def go_on(*events: dict[str, Any]) -> None:
        os.write(connections[0], chunk(anthropic(*events)))
        time.sleep(0.5)

    limits = ta.Timeouts(silence=0.4, content_silence=0.4)
    async with raw_server(answer) as server, ta.Client(api_key="k", base_url=server.url, timeouts=limits) as client:
        seen: list[ta.StreamEvent] = []
        async with client.stream("anthropic/claude-opus-5", "hi") as events:
            async for event in events:
                seen.append(event)
                match event:
                    case ta.TextDelta(text="0 "):
                        go_on(*beginning[2:])
                    case ta.TextDelta(text="299 "):
                        go_on(end, *stopped("end_turn", output_tokens=2))
                    case _:
                        pass
        check_event_rules(seen, complete=True)
        assert (await events.message()).text == "".join(words)
