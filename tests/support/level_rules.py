"""What each wire's rules of levels provide (`level_rules_<protocol>`), and the rules that are common to all wires."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from attrs import frozen

from thinkaloud.levels import ThinkingLevel
from thinkaloud.models.model import Model
from thinkaloud.plan import Plan
from thinkaloud.tools import Tool, ToolChoice

OFF, MINIMAL, LOW, MEDIUM, HIGH, XHIGH, MAX = ThinkingLevel
LADDER = (OFF, MINIMAL, LOW, MEDIUM, HIGH, XHIGH, MAX)

SEARCH = Tool("search", "Searches.", {"type": "object", "properties": {"for": {"type": "string"}}})


@frozen
class Wish:
    """One call: a level, and the other arguments of it."""

    model: Model
    level: ThinkingLevel | None
    name: str
    arguments: Mapping[str, Any]

    @property
    def forced(self) -> bool:
        return isinstance(choice := self.arguments.get("tool_choice"), ToolChoice) and choice.forced

    @property
    def max_tokens(self) -> int | None:
        limit: int | None = self.arguments.get("max_tokens")
        return limit


SCENARIOS: dict[str, dict[str, Any]] = {
    "no options": {},
    "hardly any tokens": {"max_tokens": 16},
    "1024 tokens": {"max_tokens": 1024},
    "a few tokens": {"max_tokens": 3000},
    "tools": {"tools": (SEARCH,)},
    "a forced tool": {"tools": (SEARCH,), "tool_choice": ToolChoice.tool("search")},
    "any tool": {"tools": (SEARCH,), "tool_choice": ToolChoice("required")},
    "sampling": {"temperature": 0.5, "top_p": 0.5, "top_k": 5},
}


class Rules(Protocol):
    """What a wire's module of rules provides.

    refusal: a pattern of the ConfigurationError that is the right answer; None where the request must be built.
    faults: every rule of the model's row that the built request breaks, in words.
    strength: the native value as a number that must not fall while the level rises; None: nothing is sent.
    """

    def refusal(self, wish: Wish) -> str | None: ...
    def faults(self, wish: Wish, plan: Plan) -> Iterator[str]: ...
    def strength(self, plan: Plan) -> int | None: ...


def nearest(level: ThinkingLevel, levels: tuple[ThinkingLevel, ...]) -> ThinkingLevel | None:
    """The one rule of the ladder, said once more: the nearest of the set, ties upward, OFF only for OFF."""
    if level in levels:
        return level
    others = sorted((other for other in levels if other is not OFF), key=LADDER.index)
    if level is OFF or not others:
        return others[0] if others else None
    distances = {other: abs(LADDER.index(other) - LADDER.index(level)) for other in others}
    return max((other for other in others if distances[other] == min(distances.values())), key=LADDER.index)


def changes(plan: Plan, path: str, asked: object, given: object) -> Iterator[str]:
    """A value that is not sent as it was asked has one notice that tells both; one that is has none."""
    told = [notice for notice in plan.notices if notice.path == path]
    if asked is None or given == asked:
        if told:
            yield f"a notice tells of a change of {path} that is none"
    elif len(told) != 1:
        yield f"no notice, or more than one, tells what became of {path}"
    elif told[0].detail.get("asked", asked) != asked or told[0].detail.get("sent", given) != given:
        yield f"the notice for {path} tells something else than what is sent"


def common_faults(wish: Wish, plan: Plan) -> Iterator[str]:
    """What holds on every wire: the level is the nearest of the row's, and a notice tells every change."""
    control = wish.model.thinking
    levels = control.levels if control is not None and wish.model.reasoning is not False else ()
    asked, sent = wish.level, plan.level.sent
    if plan.level.asked is not asked:
        yield "the plan does not tell what was asked"
    if sent is not None and sent not in levels:
        yield "the level is not of the model's row"
    turned_off = sent is OFF and "tools" in wish.arguments  # the wire's own rules say where that is right
    if asked is None:
        if sent is not None and not turned_off:
            yield "a level is sent that nobody asked for"
        return
    if sent is not nearest(asked, levels) and not turned_off:
        yield f"{sent} is not the nearest level"
    told = [notice for notice in plan.notices if notice.detail.get("asked") == asked.value]
    never_thinks = wish.model.reasoning is False
    if sent is not asked and not told and not (asked is OFF and sent is None and never_thinks):
        yield "no notice tells that the level was changed"
