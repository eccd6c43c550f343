"""What each family of Claude models takes and refuses, by the longest matching prefix of its id.

These are facts for requests only: what the catalog does not tell, and a control for models that it does not know. A
model's own `ThinkingControl`, where it is known, wins over its family's.
"""

from __future__ import annotations

import re
from typing import Literal

from attrs import evolve, frozen

from thinkaloud.levels import ThinkingLevel
from thinkaloud.models.model import Model, ThinkingControl

_OFF, _MINIMAL, _LOW, _MEDIUM, _HIGH, _XHIGH, _MAX = ThinkingLevel

# Tokens of thinking for a level, where a model takes a budget and its facts name none. The numbers are ours: Anthropic
# names none.
BUDGETS = {_MINIMAL: 1024, _LOW: 2048, _MEDIUM: 10_000, _HIGH: 16_384, _XHIGH: 32_768}
SMALLEST_BUDGET = 1024


@frozen(kw_only=True)
class Family:
    """How models of a family are asked.

    control: the thinking control, in the shape of the catalog's facts.
    strict: the control is known well enough to refuse what is not in it; else the server judges.
    max_output: tokens; None: unknown.
    max_output_sure: nothing above `max_output` is sent.
    hides: thinking comes without its text unless it is asked for.
    sampling: whether temperature, top_p and top_k are accepted.
    forced_tools: whether a tool choice may force a call; thinking by a budget never goes with it, except where "free".
    interleaves: thinking between calls needs a beta header beside a budget.
    """

    control: ThinkingControl
    strict: bool = True
    max_output: int | None = 128_000
    max_output_sure: bool = True
    hides: bool = True
    sampling: Literal["refused", "without_thinking", "free"] = "refused"
    forced_tools: Literal["refused", "accepted", "free"] = "accepted"
    interleaves: bool = False

    @property
    def types(self) -> tuple[str, ...]:
        """The values of `thinking.type` that the control stands for."""
        control = self.control
        off = (str(control.native.get(_OFF, "disabled")),) if control.can_disable else ()
        match control.mode:
            case "adaptive":
                return ("adaptive", *off, *(("enabled",) if control.budget_accepted else ()))
            case "budget" | "toggle" if control.levels:
                return ("enabled", *off)
            case _:
                return off or ("disabled",)

    @property
    def efforts(self) -> tuple[str, ...]:
        """The values of `output_config.effort` that the control stands for."""
        control = self.control
        if control.mode in ("budget", "toggle"):
            return tuple(level.value for level in control.effort_levels)
        return tuple(effort_of(control, level) for level in control.levels if level is not _OFF)


def effort_of(control: ThinkingControl, level: ThinkingLevel) -> str:
    """The word of effort for a level of a control that is steered by one."""
    native = control.native.get(level)
    return native if isinstance(native, str) else level.value


def _adaptive(
    *levels: ThinkingLevel,
    off: str | None = None,
    default_on: bool = True,
    cap: ThinkingLevel | None = None,
    budget_accepted: bool = False,
) -> ThinkingControl:
    native: dict[ThinkingLevel, str | int] = {level: level.value for level in levels}
    if off is not None:
        native[_OFF] = off
    return ThinkingControl(
        mode="adaptive",
        levels=tuple(sorted(native)),
        native=native,
        default_on=default_on,
        budget_accepted=budget_accepted,
        effort_cap_when_off=cap,
    )


def _budget(max_budget: int | None = None, *, efforts: tuple[ThinkingLevel, ...] = ()) -> ThinkingControl:
    fitting = {level: budget for level, budget in BUDGETS.items() if budget <= (max_budget or budget)}
    native: dict[ThinkingLevel, str | int] = {_OFF: "disabled", **fitting}
    return ThinkingControl(
        mode="budget",
        levels=tuple(native),
        native=native,
        min_budget=SMALLEST_BUDGET,
        max_budget=max_budget,
        effort_levels=efforts,
    )


_ALL = (_LOW, _MEDIUM, _HIGH, _XHIGH, _MAX)
_NO_XHIGH = (_LOW, _MEDIUM, _HIGH, _MAX)

_ALWAYS_ON = Family(control=_adaptive(*_ALL))
_ALWAYS_ON_UNFORCED = evolve(_ALWAYS_ON, forced_tools="refused")
_OPUS_5 = Family(control=_adaptive(*_ALL, off="disabled", cap=_HIGH))
_OPUS_4_7 = Family(control=_adaptive(*_ALL, off="disabled", default_on=False))
_4_6 = Family(
    control=_adaptive(*_NO_XHIGH, off="disabled", default_on=False, budget_accepted=True),
    hides=False,
    sampling="without_thinking",
    interleaves=True,
)
_BUDGET = Family(control=_budget(63_999), hides=False, sampling="without_thinking", interleaves=True, max_output=64_000)
_BUDGET_32K = evolve(_BUDGET, control=_budget(31_999), max_output=32_000)
_WITHOUT_THINKING = Family(
    control=ThinkingControl(mode="budget"), hides=False, sampling="free", forced_tools="free", max_output=4096
)

# Claude ids that no row knows: taken for the newest kind, and nothing is refused beforehand.
_NEWEST = Family(control=_adaptive(*_ALL, off="disabled"), strict=False, max_output=None)
# Other models behind a compatible server.
_FOREIGN = Family(control=_budget(), strict=False, hides=False, sampling="free", forced_tools="free", max_output=None)

_FAMILIES = {
    "claude-fable-5-2": _ALWAYS_ON_UNFORCED,
    "claude-mythos-5-2": _ALWAYS_ON_UNFORCED,
    "claude-fable-5-1": _ALWAYS_ON_UNFORCED,
    "claude-mythos-5-1": _ALWAYS_ON_UNFORCED,
    "claude-opus-5-5": _ALWAYS_ON_UNFORCED,
    "claude-sonnet-5-5": Family(control=_adaptive(*_ALL, off="between_tools", cap=_HIGH), forced_tools="refused"),
    "claude-haiku-5-5": _OPUS_5,
    "claude-opus-5": _OPUS_5,
    "claude-sonnet-5": Family(control=_adaptive(*_ALL, off="disabled")),
    "claude-fable-5": _ALWAYS_ON,
    "claude-mythos-5": _ALWAYS_ON,
    "claude-mythos-preview": evolve(_ALWAYS_ON, control=_adaptive(*_NO_XHIGH, budget_accepted=True)),
    "claude-opus-4-8": _OPUS_4_7,
    "claude-opus-4-7": _OPUS_4_7,
    "claude-opus-4-6": _4_6,
    "claude-sonnet-4-6": _4_6,
    "claude-opus-4-5": evolve(_BUDGET, control=_budget(63_999, efforts=(_LOW, _MEDIUM, _HIGH))),
    "claude-sonnet-4-5": _BUDGET,
    "claude-haiku-4-5": evolve(_BUDGET, interleaves=False),
    "claude-opus-4-1": _BUDGET_32K,
    "claude-opus-4-0": _BUDGET_32K,
    "claude-opus-4": _BUDGET_32K,
    "claude-sonnet-4-0": _BUDGET,
    "claude-sonnet-4": _BUDGET,
    "claude-3-7-sonnet": evolve(_BUDGET, interleaves=False),
    "claude-3-5-sonnet": evolve(_WITHOUT_THINKING, max_output=8192),
    "claude-3-5-haiku": evolve(_WITHOUT_THINKING, max_output=8192),
    "claude-3": _WITHOUT_THINKING,
}
# Providers that have nothing but Claude behind this protocol, often under a deployment's own name.
_CLAUDE_ALONE = frozenset({"azure-anthropic", "google-vertex"})

_LONGEST_FIRST = sorted(_FAMILIES, key=len, reverse=True)

# `claude-opus-5-7` is no Opus 5: one or two digits after the prefix are another version, more are a date.
_OTHER_VERSION = re.compile(r"-\d{1,2}(?!\d)")


def family_of(model: Model) -> Family:
    """The facts for a model: its own where they are known, else its family's.

    Facts that are not settled refuse nothing.
    """
    family = _by_id(model.facts_id)
    adaptive = model.thinking is not None and model.thinking.mode == "adaptive"
    if family is _FOREIGN and (adaptive or model.provider in _CLAUDE_ALONE):
        family = _NEWEST  # only Claude thinks adaptively: a deployment under a name of its own
    known = family.strict or model.thinking is not None
    limited = model.max_output is not None or family.strict
    return evolve(
        family,
        control=_WITHOUT_THINKING.control if model.reasoning is False else model.thinking or family.control,
        strict=known and not any(name.split(".")[0] in ("thinking", "reasoning") for name in model.unsure),
        max_output=model.max_output or family.max_output,
        max_output_sure=limited and "max_output" not in model.unsure,
    )


def _by_id(id: str) -> Family:
    # Hosts dress ids: `us.anthropic.claude-...-v1:0`, `anthropic/claude-opus-4.5`, `claude-...@20250929`.
    _, claude, rest = id.partition("claude-")
    if not claude:
        return _FOREIGN
    bare = claude + rest.replace(".", "-").replace("@", "-")
    for prefix in _LONGEST_FIRST:
        if bare.startswith(prefix):
            after = bare[len(prefix) :]
            if not after or (after[0] in "-:" and not _OTHER_VERSION.match(after)):
                return _FAMILIES[prefix]
    return _NEWEST
