"""What Gemini takes and refuses of a model, said apart from the library's own tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from support.level_rules import OFF, Wish, changes
from thinkaloud.models.model import ThinkingControl
from thinkaloud.plan import Plan

WORDS = ("MINIMAL", "LOW", "MEDIUM", "HIGH", "XHIGH")


def refusal(wish: Wish) -> str | None:
    return None


def strength(plan: Plan) -> int | None:
    config = _config(plan)
    if "thinkingBudget" in config:
        return int(config["thinkingBudget"])
    word = config.get("thinkingLevel")
    return None if word is None else 1 + WORDS.index(word)


def faults(wish: Wish, plan: Plan) -> Iterator[str]:
    config, control = _config(plan), wish.model.thinking
    if wish.model.reasoning is False or control is None:
        if config:
            yield "a model without thinking is asked about it, which it refuses"
        return
    if {"thinkingBudget", "thinkingLevel"} <= config.keys():
        yield "a level and a budget are sent at once"
    if config.get("includeThoughts") is not (True if wish.level not in (None, OFF) else None):
        yield "thinking is not shown where it is asked for, or shown where it is not"
    yield from _native(plan, control, config)
    yield from _room(wish, plan, control, config)
    yield from _sampling(wish, plan)


def _config(plan: Plan) -> dict[str, Any]:
    generation: Any = plan.body.get("generationConfig", {})
    config: dict[str, Any] = generation.get("thinkingConfig", {})
    return config


def _native(plan: Plan, control: ThinkingControl, config: dict[str, Any]) -> Iterator[str]:
    sent = plan.level.sent
    if sent is None:
        if {"thinkingBudget", "thinkingLevel"} & config.keys():
            yield "something is sent, and the plan tells of no level"
        return
    lowered = [notice.detail["sent"] for notice in plan.notices if notice.code == "budget_lowered"]
    native = lowered[0] if lowered else control.native[sent]
    place = control.off_param if sent is OFF else control.param
    assert place is not None
    if config.get(place.rpartition(".")[2]) != native:
        yield f"{native} is not sent as the row says"


def _room(wish: Wish, plan: Plan, control: ThinkingControl, config: dict[str, Any]) -> Iterator[str]:
    generation: Any = plan.body.get("generationConfig", {})
    limit, cap = generation.get("maxOutputTokens"), wish.model.max_output
    yield from changes(plan, "max_tokens", wish.max_tokens, limit)
    budget = config.get("thinkingBudget")
    if not budget:
        if limit != wish.max_tokens:
            yield "the limit is changed for nothing"
        return
    if not (control.min_budget or 0) <= budget <= (control.max_budget or budget):
        yield "the budget is out of the model's bounds"
    if limit is not None and wish.max_tokens is not None:
        if cap is not None and limit > cap:
            yield "the limit is above the model's own"
        if limit - budget < min(wish.max_tokens, 4096):
            yield "the budget leaves no room for the answer"


def _sampling(wish: Wish, plan: Plan) -> Iterator[str]:
    generation: Any = plan.body.get("generationConfig", {})
    for name, wire in (("temperature", "temperature"), ("top_p", "topP"), ("top_k", "topK")):
        if generation.get(wire) != wish.arguments.get(name):
            yield f"{name} is not sent as it was asked"
    forced: Any = plan.body.get("toolConfig", {})
    if wish.forced is not (forced.get("functionCallingConfig", {}).get("mode") == "ANY"):
        yield "a call is not forced, or forced without being asked"
