"""What an answer cost: its tokens at the prices of the day, by arithmetic alone."""

from __future__ import annotations

from datetime import UTC, date, datetime

from attrs import evolve, fields, frozen

from thinkaloud.models.prices import Prices, Rates
from thinkaloud.usage import Cost, Usage

# Anthropic's documentation: what a write to the cache costs, in prices of input, where a row says no more.
_WRITE, _WRITE_1H = 1.25, 2.0


def cost_of(usage: Usage, prices: Prices | None, day: date) -> Cost | None:
    """The cost of an answer in USD at the prices of a day.

    None where no price or no count is known. A part of it is None where its tokens or their price are not known; a
    part without tokens costs nothing.
    """
    if prices is None or (usage.input is None and usage.output is None):
        return None
    rates = _rates(prices, usage.input, day)
    if rates is None:
        return None
    read = usage.cache_read or 0
    for_hour = usage.cache_write_1h or 0
    written = max(usage.cache_write or 0, for_hour)
    fresh = None if usage.input is None else max(usage.input - read - written, 0)
    write_rate, hour_rate = rates.cache_write, rates.cache_write_1h
    if usage.cache_write_1h is not None and rates.input is not None:  # only Claude's hosts count these
        write_rate = rates.input * _WRITE if write_rate is None else write_rate
        hour_rate = rates.input * _WRITE_1H if hour_rate is None else hour_rate
    brief, long = _amount(written - for_hour, write_rate), _amount(for_hour, hour_rate)
    return Cost(
        input=_amount(fresh, rates.input),
        output=_amount(usage.output, rates.output),
        cache_read=_amount(read, rates.cache_read),
        cache_write=None if brief is None or long is None else brief + long,
    )


@frozen
class Pricing:
    """Tells what answers cost on the day they are given (UTC)."""

    prices: Prices

    def __call__(self, usage: Usage) -> Cost | None:
        return cost_of(usage, self.prices, datetime.now(UTC).date())


def _rates(prices: Prices, prompt: int | None, day: date) -> Rates | None:
    """The rates for a prompt of this size on a day; None where the size decides and is not known."""
    rates = prices.rates
    for change in sorted(prices.changes, key=lambda change: change.since):
        if change.since <= day:
            rates = _with(rates, change.rates)
    if not prices.tiers:
        return rates
    if prompt is None:
        return None
    reached = [tier for tier in prices.tiers if prompt > tier.above]
    return _with(rates, max(reached, key=lambda tier: tier.above).rates) if reached else rates


def _with(rates: Rates, newer: Rates) -> Rates:
    known = {f.name: value for f in fields(Rates) if (value := getattr(newer, f.name)) is not None}
    return evolve(rates, **known)


def _amount(tokens: int | None, rate: float | None) -> float | None:
    if tokens == 0:
        return 0.0
    return None if tokens is None or rate is None else tokens * rate / 1_000_000
