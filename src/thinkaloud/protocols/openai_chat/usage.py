"""Token counts of chat completions and of their many dialects, read into the library's one meaning."""

from __future__ import annotations

from thinkaloud.protocols.openai_chat.fields import Fields, Object
from thinkaloud.usage import Usage

# Seen at xAI: tokens times prices give the stated cost in units of 1e-10 USD.
_TICKS_PER_USD = 1e10


def read_usage(usage: Object, fields: Fields) -> Usage:
    """Read one usage object. Counts that are missing stay unknown.

    Reasoning that the provider counts beside the completion is added to the output: the total tells (seen at xAI).
    Cached tokens that exceed the prompt are counted beside it, and so are added to the input.
    """
    prompt_details = fields.object(usage, "prompt_tokens_details")
    completion_details = fields.object(usage, "completion_tokens_details")
    prompt = fields.count(usage, "prompt_tokens")
    completion = fields.count(usage, "completion_tokens")
    total = fields.count(usage, "total_tokens")
    reasoning = _known(
        fields.count(completion_details, "reasoning_tokens"),
        fields.count(usage, "reasoning_tokens"),
    )
    cached = _known(
        fields.count(prompt_details, "cached_tokens"),
        fields.count(usage, "cached_tokens"),  # seen at Moonshot
        fields.count(usage, "prompt_cache_hit_tokens"),  # seen at DeepSeek
    )
    written = _known(
        fields.count(prompt_details, "cache_write_tokens"),
        fields.count(prompt_details, "cache_creation_input_tokens"),  # Alibaba
    )
    if reasoning and total == (prompt or 0) + (completion or 0) + reasoning:
        completion = (completion or 0) + reasoning
    if cached and prompt is not None and cached > prompt:
        prompt += cached
    return Usage(
        input=prompt,
        output=completion,
        reasoning=reasoning,
        cache_read=cached,
        cache_write=written,
        billed_usd=_billed(usage, fields),
    )


def _billed(usage: Object, fields: Fields) -> float | None:
    if type(usage.get("cost")) is dict:  # Perplexity
        return fields.amount(fields.object(usage, "cost"), "total_cost")
    cost = fields.amount(usage, "cost")
    if cost is not None:
        return cost
    ticks = fields.count(usage, "cost_in_usd_ticks")
    return None if ticks is None else ticks / _TICKS_PER_USD


def _known(*counts: int | None) -> int | None:
    return next((count for count in counts if count is not None), None)
