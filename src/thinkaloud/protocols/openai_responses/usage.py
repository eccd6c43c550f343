"""Token counts of the Responses API, read into the library's one meaning."""

from __future__ import annotations

from math import isfinite

from thinkaloud.protocols.fields import JsonObject, count_field, object_field
from thinkaloud.protocols.tolerant import Tolerated
from thinkaloud.usage import Usage

# Seen at xAI: tokens times prices give the stated cost in units of 1e-10 USD.
_TICKS_PER_USD = 1e10


def read_usage(usage: JsonObject, tolerated: Tolerated) -> Usage:
    """Read one usage object: input with cached tokens and output with reasoning, as on the wire.

    tolerated: reads a field, and passes over one of a wrong type.
    """
    read: JsonObject = tolerated(object_field, usage, "input_tokens_details") or {}
    written: JsonObject = tolerated(object_field, usage, "output_tokens_details") or {}
    return Usage(
        input=tolerated(count_field, usage, "input_tokens"),
        output=tolerated(count_field, usage, "output_tokens"),
        reasoning=tolerated(count_field, written, "reasoning_tokens"),
        cache_read=tolerated(count_field, read, "cached_tokens"),
        cache_write=tolerated(count_field, read, "cache_write_tokens"),
        billed_usd=_billed(usage),
    )


def _billed(usage: JsonObject) -> float | None:
    """What the provider itself states: USD (seen at OpenRouter), or ticks of them (seen at xAI)."""
    for name, per_usd in (("cost", 1.0), ("cost_in_usd_ticks", _TICKS_PER_USD)):
        stated = usage.get(name)
        if (
            isinstance(stated, int | float)
            and not isinstance(stated, bool)
            and 0 <= stated < 2**53
            and isfinite(stated)
        ):
            return stated / per_usd
    return None
