"""What the Messages API takes and refuses of a Claude model, said apart from the library's own tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from support.level_rules import LADDER, OFF, Wish, changes
from thinkaloud.models.model import ThinkingControl
from thinkaloud.plan import Plan

NEVER_FORCED = ("fable-5-1", "fable-5-2", "mythos-5-1", "mythos-5-2", "opus-5-5", "sonnet-5-5")
# These take sampling while they do not think, and show their thinking without being asked.
ELDER = (
    *("claude-3", "opus-4-0", "opus-4-1", "opus-4-5", "opus-4-6"),
    *("sonnet-4-0", "sonnet-4-2", "sonnet-4-5", "sonnet-4-6", "haiku-4-5"),
)
NOTHING = ThinkingControl(mode="always_on")


def is_one_of(wish: Wish, names: tuple[str, ...]) -> bool:
    return any(name in wish.model.id for name in names)


def refusal(wish: Wish) -> str | None:
    if wish.forced and is_one_of(wish, NEVER_FORCED):
        return rf"tool_choice='(tool|required)': {wish.model.id} takes no forced call"
    return None


def strength(plan: Plan) -> int | None:
    return strength_of(plan.body)


def faults(wish: Wish, plan: Plan) -> Iterator[str]:
    return broken(wish, plan, plan.body)


def strength_of(body: Mapping[str, Any]) -> int | None:
    """A budget in tokens, a word by its place; off is 0."""
    thinking: Mapping[str, Any] = body.get("thinking", {})
    if thinking.get("type") in ("disabled", "between_tools"):
        return 0
    if "budget_tokens" in thinking:
        return int(thinking["budget_tokens"])
    word = body.get("output_config", {}).get("effort")
    return None if word is None else [level.value for level in LADDER].index(word)


def broken(wish: Wish, plan: Plan, body: Mapping[str, Any]) -> Iterator[str]:
    """Every rule that a body in the shape of the Messages API breaks."""
    control = wish.model.thinking or NOTHING
    yield from _thinking(wish, plan, control, body)
    yield from _room(wish, plan, control, body)
    yield from _choice(wish, plan, control, body)
    yield from _sampling(wish, plan, control, body)


def thinks(control: ThinkingControl, body: Mapping[str, Any]) -> bool:
    kind = body.get("thinking", {}).get("type")
    return kind in ("adaptive", "enabled") or (kind is None and control.default_on)


def _thinking(wish: Wish, plan: Plan, control: ThinkingControl, body: Mapping[str, Any]) -> Iterator[str]:
    sent = plan.level.sent
    thinking, effort = body.get("thinking"), body.get("output_config", {}).get("effort")
    if sent is None:
        if thinking is not None or effort is not None:
            yield "something is sent, and the plan tells of no level"
        return
    native = control.native[sent]
    if sent is OFF:
        if thinking != {"type": native} or effort is not None:
            yield "off is not said in the model's own shape"
    elif control.mode == "adaptive":
        if effort != native:
            yield "the effort is not the native one"
        impossible_off = wish.level is OFF and OFF not in control.levels
        display = {} if is_one_of(wish, ELDER) else {"display": "summarized"}
        if thinking != (None if impossible_off else {"type": "adaptive", **display}):
            yield "the thinking is not adaptive and visible"
    else:
        told = [notice.detail["sent"] for notice in plan.notices if notice.code == "budget_lowered"]
        if thinking != {"type": "enabled", "budget_tokens": told[0] if told else native} or effort is not None:
            yield "the budget is not the native one, and no notice tells why"


def _room(wish: Wish, plan: Plan, control: ThinkingControl, body: Mapping[str, Any]) -> Iterator[str]:
    limit, cap = body["max_tokens"], wish.model.max_output
    if cap is not None and limit > cap:
        yield "the limit is above the model's own"
    yield from changes(plan, "max_tokens", wish.max_tokens, limit)
    budget = body.get("thinking", {}).get("budget_tokens")
    if budget is not None:
        if not (control.min_budget or 0) <= budget <= (control.max_budget or budget):
            yield "the budget is out of the model's bounds"
        if limit - budget < min(wish.max_tokens or 4096, 4096):
            yield "the budget leaves no room for the answer"


def _choice(wish: Wish, plan: Plan, control: ThinkingControl, body: Mapping[str, Any]) -> Iterator[str]:
    if not wish.forced:
        if "tool_choice" in body:
            yield "a choice is sent that nobody asked for"
        return
    if body["tool_choice"]["type"] not in ("any", "tool"):
        yield "the forced call is not forced"
    if body.get("thinking", {}).get("type") == "enabled":
        yield "a forced call goes beside a budget"
    told = {notice.code for notice in plan.notices}
    if control.mode == "budget" and wish.level not in (None, OFF) and "thinking_turned_off" not in told:
        yield "thinking is turned off, and no notice tells it"
    if thinks(control, body) is not ("thinking_suppressed" in told):
        yield "no notice tells that the answer comes without thinking"


def _sampling(wish: Wish, plan: Plan, control: ThinkingControl, body: Mapping[str, Any]) -> Iterator[str]:
    asked = {name for name in ("temperature", "top_p", "top_k") if name in wish.arguments}
    given = asked & set(body)
    dropped = {notice.path for notice in plan.notices if notice.code == "sampling_dropped"}
    if given and (thinks(control, body) or not is_one_of(wish, ELDER)):
        yield "sampling is sent to a model that refuses it"
    if asked - given != dropped:
        yield "no notice tells what became of the sampling"
