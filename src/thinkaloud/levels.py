"""The neutral ladder of reasoning effort, and the one rule that clamps a level to a set."""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum
from typing import Literal


class ThinkingLevel(Enum):
    """How much a model should think, the same for every provider: off < minimal < low < ... < max."""

    OFF = "off"
    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"
    MAX = "max"

    def __str__(self) -> str:
        return self.value

    @property
    def rank(self) -> int:
        """Place on the ladder, from 0 (off) to 6 (max)."""
        return _RANKS[self]

    def __lt__(self, other: ThinkingLevel) -> bool:
        return self.rank < other.rank if isinstance(other, ThinkingLevel) else NotImplemented

    def __le__(self, other: ThinkingLevel) -> bool:
        return self.rank <= other.rank if isinstance(other, ThinkingLevel) else NotImplemented

    def __gt__(self, other: ThinkingLevel) -> bool:
        return self.rank > other.rank if isinstance(other, ThinkingLevel) else NotImplemented

    def __ge__(self, other: ThinkingLevel) -> bool:
        return self.rank >= other.rank if isinstance(other, ThinkingLevel) else NotImplemented


_RANKS = {level: rank for rank, level in enumerate(ThinkingLevel)}

LevelName = Literal["off", "minimal", "low", "medium", "high", "xhigh", "max"]


def clamp_level(level: ThinkingLevel, levels: Collection[ThinkingLevel]) -> ThinkingLevel | None:
    """Choose what to send when `level` is asked of a model that knows `levels`.

    `off` is a candidate only for `off`; otherwise the nearest level wins, ties upward. So a higher wish never gives a
    lower level. `off` where it is impossible becomes the lowest level of the set. None: the set is empty, send nothing.
    """
    if level in levels:
        return level
    thinking = [candidate for candidate in levels if candidate is not ThinkingLevel.OFF]
    if not thinking:
        return None
    if level is ThinkingLevel.OFF:
        return min(thinking, key=lambda candidate: candidate.rank)
    return min(thinking, key=lambda candidate: (abs(candidate.rank - level.rank), -candidate.rank))
