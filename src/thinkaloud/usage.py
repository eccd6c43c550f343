"""What an answer used and what it cost."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from attrs import Attribute, field, fields, frozen

from thinkaloud.checked import instance_of, optional
from thinkaloud.errors import WrongValue
from thinkaloud.stored import Stored


def _count(_usage: Any, attribute: Attribute[Any], value: object) -> None:
    if value is not None and not isinstance(value, int):
        raise WrongValue(f"{attribute.name} must be a whole number or None, not {type(value).__name__}")


_money = optional(instance_of(float))


def _as_money(value: float | None) -> float | None:
    return float(value) if type(value) is int and abs(value) < 1e300 else value


def _sum(a: Any, b: Any) -> Any:
    return None if a is None or b is None else a + b


@frozen
class Usage(Stored):
    """Tokens of one answer, in one meaning on every wire. None: the provider did not say.

    input: the whole prompt, cached tokens included.
    output: all that was generated, reasoning included.
    reasoning: the part of `output` that was thinking.
    cache_read: the part of `input` read from a cache.
    cache_write: the part of `input` written to a cache.
    cache_write_1h: the part of `cache_write` kept for one hour (Anthropic).
    billed_usd: the total in USD, where the provider itself states one.
    """

    input: int | None = field(default=None, validator=_count)
    output: int | None = field(default=None, validator=_count)
    reasoning: int | None = field(default=None, validator=_count)
    cache_read: int | None = field(default=None, validator=_count)
    cache_write: int | None = field(default=None, validator=_count)
    cache_write_1h: int | None = field(default=None, validator=_count)
    billed_usd: float | None = field(default=None, converter=_as_money, validator=_money)

    def __add__(self, other: Usage) -> Usage:
        """Sum over several answers. What is unknown of one is unknown of all: None + 5 = None."""
        if not isinstance(other, Usage):
            return NotImplemented
        return Usage(*(_sum(own, more) for own, more in zip(_counts(self), _counts(other), strict=True)))

    def updated(self, later: Usage) -> Usage:
        """This usage with what `later` knows put in its place: counts within one answer replace, they never add up."""
        own, new = _counts(self), _counts(later)
        merged = tuple([known if count is None else count for known, count in zip(own, new, strict=True)])
        if merged == own:
            return self
        return later if merged == new else Usage(*merged)


_counts: Callable[[Usage], tuple[Any, ...]] = attrgetter(*(attribute.name for attribute in fields(Usage)))


@frozen
class Cost(Stored):
    """Cost of one answer in USD, at the prices of the day it was given. None: the price or the tokens are not known.

    input: uncached prompt tokens.
    output: generated tokens, reasoning included.
    cache_read, cache_write: prompt tokens read from and written to a cache.
    """

    input: float | None = field(default=None, converter=_as_money, validator=_money)
    output: float | None = field(default=None, converter=_as_money, validator=_money)
    cache_read: float | None = field(default=None, converter=_as_money, validator=_money)
    cache_write: float | None = field(default=None, converter=_as_money, validator=_money)

    @property
    def total(self) -> float | None:
        """The sum of the parts; None when one of them is unknown."""
        total: float | None = _sum(_sum(self.input, self.output), _sum(self.cache_read, self.cache_write))
        return total

    def __add__(self, other: Cost) -> Cost:
        """Sum over several answers. A part that is unknown of one is unknown of all."""
        if not isinstance(other, Cost):
            return NotImplemented
        return Cost(*(_sum(getattr(self, f.name), getattr(other, f.name)) for f in fields(Cost)))
