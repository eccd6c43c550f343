"""Where we differ from the oracle of the recordings on purpose: one row each, with its reason.

A row rewrites what the oracle expects into what we give. A row that changes nothing, or without which the recording
agrees just as well, fails the test: it is no longer needed.
"""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase

from attrs import frozen

from support.neutral import Neutral
from support.shared import Recording


@frozen(kw_only=True)
class Deviation:
    """One row.

    wire, recordings: which answers, by name patterns.
    reason: why ours is right.
    rewrite: changes the expected object in place.
    """

    wire: str
    recordings: tuple[str, ...]
    reason: str
    rewrite: Callable[[Neutral], None]

    def concerns(self, recording: Recording) -> bool:
        return recording.wire == self.wire and any(fnmatchcase(recording.name, name) for name in self.recordings)


DEVIATIONS: tuple[Deviation, ...] = ()
