"""What each endpoint of chat completions takes and refuses of a model, said apart from the library's own tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from support.level_rules import OFF, Wish, changes
from thinkaloud.models.model import ThinkingControl
from thinkaloud.plan import Plan

WORDS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")

# Who refuses a forced call while a model thinks, and who answers it without thinking.
UNFORCED = ("deepseek", "moonshotai", "qwen")
FIELDS = (
    "reasoning_effort",
    "reasoning",
    "thinking",
    "enable_thinking",
    "thinking_budget",
    "disable_reasoning",
    "include_reasoning",
    "chat_template_kwargs",
)


def unsettled(wish: Wish) -> bool:
    doubts = {"thinking.levels", "thinking.can_disable", "thinking.mode"}
    return not doubts.isdisjoint(wish.model.unsure)


def refusal(wish: Wish) -> str | None:
    control = wish.model.thinking
    if not wish.forced or wish.model.provider not in UNFORCED or wish.model.reasoning is False or control is None:
        return None
    if OFF in control.levels or wish.level is None or unsettled(wish):
        return None
    return r"tool_choice='(tool|required)' does not go with the thinking of .*cannot be turned off; use tool_choice="


def strength(plan: Plan) -> int | None:
    said = thinking_fields(plan)
    if said.get("thinking") == {"type": "disabled"} or said.get("enable_thinking") is False:
        return 0
    word = said.get("reasoning_effort") or said.get("reasoning", {}).get("effort")
    if word is not None:
        return len(WORDS) if word == "default" else WORDS.index(word)
    return None if plan.level.sent is None else 1  # a model that thinks unless it is told not to


def faults(wish: Wish, plan: Plan) -> Iterator[str]:
    control, sent, said = wish.model.thinking, plan.level.sent, thinking_fields(plan)
    if control is None or wish.model.reasoning is False:
        if said:
            yield "a model without thinking is asked about it"
        return
    if said != expected(wish, control, plan):
        yield f"{said} is not what the row says"
    yield from changes(plan, "max_tokens", wish.max_tokens, plan.body.get("max_tokens", _newer(plan)))
    codes = [notice.code for notice in plan.notices]
    thinks = control.default_on if sent is None else sent is not OFF
    clashes = wish.forced and thinks and wish.model.provider in UNFORCED
    if clashes and wish.level is not None and not unsettled(wish):
        yield "a forced call goes beside thinking that refuses it"
    if ("thinking_turned_off" in codes) is not _gives_way(wish, control):
        yield "thinking gives way to nothing, or no notice tells that it does"
    if wish.forced is not (plan.body.get("tool_choice") is not None):
        yield "a call is not forced, or forced without being asked"
    yield from _sampling(wish, plan, thinks)


def _newer(plan: Plan) -> Any:
    return plan.body.get("max_completion_tokens")


def thinking_fields(plan: Plan) -> dict[str, Any]:
    return {name: plan.body[name] for name in FIELDS if name in plan.body}


def _gives_way(wish: Wish, control: ThinkingControl) -> bool:
    """Whether a forced call turns thinking off that would be on."""
    claude = wish.model.provider == "openrouter" and "claude" in wish.model.id
    if not wish.forced or not (wish.model.provider in UNFORCED or claude) or OFF not in control.levels:
        return False
    return control.default_on if wish.level is None else wish.level is not OFF


def expected(wish: Wish, control: ThinkingControl, plan: Plan) -> Mapping[str, Any]:
    """What the row says, at the place that it says."""
    sent = plan.level.sent
    if sent is None:
        return {}
    native, place = control.native[sent], (control.off_param if sent is OFF else control.param) or ""
    provider = wish.model.provider
    if place.startswith("reasoning.effort"):
        return {"reasoning": {"effort": native}}
    if place == "disable_reasoning":
        # The row is not sure. Cerebras has put this field away, and is seen to take the word in its place.
        return {"reasoning_effort": "none"} if native is True else {}
    if place == "thinking.type":
        return {"thinking": {"type": native}}
    if place.startswith("enable_thinking"):
        return {"enable_thinking": native}
    assert place == "reasoning_effort"
    switch = {"thinking": {"type": "enabled"}} if provider in ("deepseek", "zai") else {}
    hidden = {"include_reasoning": False} if provider == "groq" and "gpt-oss" in wish.model.id else {}
    return {"reasoning_effort": native, **switch, **(hidden if wish.level is OFF and sent is not OFF else {})}


def _sampling(wish: Wish, plan: Plan, thinks: bool) -> Iterator[str]:
    """Kimi's is fixed while it thinks; `top_k` is known to a few."""
    refused = thinks and wish.model.provider == "moonshotai"
    knows_top_k = wish.model.provider in ("openrouter", "qwen")
    for name, taken in (("temperature", not refused), ("top_p", not refused), ("top_k", knows_top_k)):
        asked = wish.arguments.get(name)
        told = any(notice.path == name for notice in plan.notices)
        if plan.body.get(name) != (asked if taken else None):
            yield f"{name} is sent where it is refused, or left out where it is taken"
        if told is not (asked is not None and not taken):
            yield f"no notice tells what became of {name}"
