"""What a model's tokens cost, as plain data: USD per million tokens."""

from __future__ import annotations

from datetime import date

from attrs import frozen


@frozen(kw_only=True)
class Rates:
    """Prices in USD per million tokens. None: no price is known for this kind of token.

    input: prompt tokens that no cache gave.
    output: generated tokens, thinking included.
    cache_read: prompt tokens read from a cache.
    cache_write: prompt tokens written to a cache that lives for about five minutes.
    cache_write_1h: prompt tokens written to a cache that lives for an hour.
    """

    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None
    cache_write_1h: float | None = None


@frozen(kw_only=True)
class PriceTier:
    """Other prices for calls with a large prompt; what it leaves open stays as it is.

    above: prompt tokens, cached ones included, above which the whole call is charged at these prices.
    """

    above: int
    rates: Rates


@frozen(kw_only=True)
class PriceChange:
    """Prices from an announced day on; what it leaves open stays as it is."""

    since: date
    rates: Rates


@frozen(kw_only=True)
class Prices:
    """The prices of a model.

    rates: the base prices.
    tiers: higher prices of large prompts.
    changes: prices that are announced for later days.
    """

    rates: Rates
    tiers: tuple[PriceTier, ...] = ()
    changes: tuple[PriceChange, ...] = ()


FREE = Prices(rates=Rates(input=0.0, output=0.0, cache_read=0.0, cache_write=0.0, cache_write_1h=0.0))
