"""What the Responses API takes and refuses of a model, said apart from the library's own tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from support.level_rules import OFF, Wish, changes
from thinkaloud.plan import Plan

WORDS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


def refusal(wish: Wish) -> str | None:
    return None


def strength(plan: Plan) -> int | None:
    word = _reasoning(plan).get("effort")
    return None if word is None else WORDS.index(word)


def faults(wish: Wish, plan: Plan) -> Iterator[str]:
    fields, sent, control = _reasoning(plan), plan.level.sent, wish.model.thinking
    thinks_ever = wish.model.reasoning is not False
    if (plan.body.get("include") == ["reasoning.encrypted_content"]) is not thinks_ever:
        yield "encrypted thinking is not asked for, or of a model that has none and refuses"
    if control is None or not thinks_ever:
        if fields:
            yield "a model without thinking is asked about it, which it refuses"
    else:
        native = None if sent is None else control.native[sent]
        if fields.get("effort") != native:
            yield f"{native} is not sent as the row says"
        shown = sent not in (None, OFF) and wish.level is not OFF
        if fields.get("summary") != ("auto" if shown else None):
            yield "thinking is not shown where it is asked for, or shown where it is not"
        thinks = control.default_on if sent is None else sent is not OFF
        yield from _sampling(wish, plan, thinks)
    yield from changes(plan, "max_tokens", wish.max_tokens, plan.body.get("max_output_tokens"))
    if wish.forced is not (plan.body.get("tool_choice") in ("required", {"type": "function", "name": "search"})):
        yield "a call is not forced, or forced without being asked"


def _reasoning(plan: Plan) -> Mapping[str, Any]:
    fields: Any = plan.body.get("reasoning", {})
    assert isinstance(fields, dict)
    return fields


def _sampling(wish: Wish, plan: Plan, thinks: bool) -> Iterator[str]:
    """OpenAI's models refuse it while they think; nobody has a `top_k` here."""
    refused = thinks and wish.model.provider == "openai"
    for name in ("temperature", "top_p"):
        asked = wish.arguments.get(name)
        if plan.body.get(name) != (None if refused else asked):
            yield f"{name} is sent where it is refused, or left out where it is taken"
    told = sorted(notice.path for notice in plan.notices if notice.code in ("sampling_dropped", "option_ignored"))
    lost = ["temperature", "top_k", "top_p"] if refused else ["top_k"]
    if told != (lost if "top_k" in wish.arguments else []):
        yield "no notice tells what became of the sampling"
