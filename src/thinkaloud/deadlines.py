"""Which time limit of a call runs out first, and when: on the event loop's clock, with no scope and no wait in it."""

from __future__ import annotations

from math import inf

import anyio

from thinkaloud.errors import DeadlineExceeded
from thinkaloud.transport.timeouts import Timeouts

# A scope around many waits gets its deadline anew after this part of a limit. The deadline lies later by as much, so
# that it never comes too early.
_SLACK = 1 / 64


class Deadlines:
    """The limits of one call. A wait asks for its own deadline, or gives a scope that is around many waits a later one.

    starting: the answer has not begun.
    reading: the next wait is for a piece of an answer whose silence is limited here.
    """

    def __init__(self, timeouts: Timeouts) -> None:
        self.starting = True
        self.reading = False
        self._limits = timeouts
        self._began = 0.0  # the call
        self._sent = 0.0  # the last request
        self._waiting_since = 0.0
        self._quiet_since: float | None = None  # no event came since then
        self._valid_until = -inf  # the deadline that a scope was given

    def begin(self) -> None:
        """The call begins."""
        self._began = anyio.current_time()

    def send(self) -> None:
        """A request goes out."""
        self._sent = anyio.current_time()
        self.reading = False

    def note_event(self) -> None:
        """An event came. The time that its consumer takes is nobody's silence."""
        self._quiet_since = None

    @property
    def since_sent(self) -> float:
        """Seconds since the last request went out."""
        return anyio.current_time() - self._sent

    @property
    def running(self) -> bool:
        """The next wait has a limit."""
        return bool(self._rows())

    def leave_time(self, pause: float) -> bool:
        """After a pause of so many seconds there is time for another request."""
        total = self._limits.total
        return total is None or anyio.current_time() + pause < self._began + total

    def refuses(self, pause: float) -> str:
        """Why there is no time for another request after such a pause."""
        return f"a wait of {pause:g} s is over after the total deadline of {self._limits.total:g} s"

    def of_wait(self) -> float:
        """A wait begins: when it has to be over."""
        self._wait()
        return min((since + limit for _, since, limit in self._rows()), default=inf)

    def move(self, scope: anyio.CancelScope) -> None:
        """A wait begins inside a scope that is around many: give that the deadline of this wait, where it is due."""
        if self._wait() >= self._valid_until:
            movable = [(since, limit) for kind, since, limit in self._rows() if kind != "total"]
            slack = min((limit for _, limit in movable), default=0.0) * _SLACK
            self._valid_until = min((since for since, _ in movable), default=inf) + slack
            total = inf if self._limits.total is None else self._began + self._limits.total
            scope.deadline = min(total, *(since + limit + slack for since, limit in movable), inf)

    def suspend(self, scope: anyio.CancelScope) -> None:
        """What is done in such a scope now has no limit."""
        scope.deadline = inf
        self._valid_until = -inf

    def error(self) -> DeadlineExceeded:
        """The error for the limit that ran out in this wait."""
        _, kind, limit = min((since + limit, kind, limit) for kind, since, limit in self._rows())
        return DeadlineExceeded(f"the {kind} deadline of {limit:g} s ran out", kind=kind)

    def _wait(self) -> float:
        now = self._waiting_since = anyio.current_time()
        if self._quiet_since is None:
            self._quiet_since = now
        return now

    def _rows(self) -> list[tuple[str, float, float]]:
        """Each limit that runs now: its name, since when, and its seconds."""
        limits, rows = self._limits, []
        if limits.total is not None:
            rows.append(("total", self._began, limits.total))
        if self.starting and limits.first_event is not None:
            rows.append(("first_event", self._sent, limits.first_event))
        if not self.starting and limits.content_silence is not None:
            rows.append(("content_silence", self._quiet_since or 0.0, limits.content_silence))
        if self.reading and limits.silence is not None:
            rows.append(("silence", self._waiting_since, limits.silence))
        return rows
