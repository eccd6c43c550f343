"""What each family of Claude models takes and refuses, by the longest matching prefix of its id.

These are facts for requests only. A model's own `ThinkingControl`, where it is known, wins over its family's.
"""

from __future__ import annotations

import re
from typing import Literal

from attrs import evolve, frozen

from thinkaloud.levels import ThinkingLevel
from thinkaloud.models.model import Model, ThinkingControl

_OFF, _MINIMAL, _LOW, _MEDIUM, _HIGH, _XHIGH, _MAX = ThinkingLevel

# Tokens of thinking for a level, where a model takes a budget. The numbers are ours: no provider names any.
BUDGETS = {_MINIMAL: 1024, _LOW: 2048, _MEDIUM: 8192, _HIGH: 16384, _XHIGH: 24576}
SMALLEST_BUDGET = 1024


@frozen(kw_only=True)
class Family:
    """How models of a family are asked.

    control: the thinking control, levels and the shape of "off" included.
    types: the values of `thinking.type` that are accepted; None: unknown.
    efforts: the values of `output_config.effort` that are accepted, () for none; None: unknown.
    off_effort_capped: without thinking, effort above "high" is refused.
    hides: thinking comes without its text unless it is asked for.
    sampling: whether temperature, top_p and top_k are accepted.
    forced_tools: whether a tool choice may force a call; thinking by a budget never goes with it, except where "free".
    interleaves: thinking between calls needs a beta header beside a budget.
    max_output: tokens; None: unknown.
    """

    control: ThinkingControl
    types: tuple[str, ...] | None = None
    efforts: tuple[str, ...] | None = None
    off_effort_capped: bool = False
    hides: bool = True
    sampling: Literal["refused", "without_thinking", "free"] = "refused"
    forced_tools: Literal["refused", "accepted", "free"] = "accepted"
    interleaves: bool = False
    max_output: int | None = 128_000


def _adaptive(*levels: ThinkingLevel, off: str | None = None, default_on: bool = True) -> ThinkingControl:
    native: dict[ThinkingLevel, str | int] = {level: level.value for level in levels}
    if off is not None:
        native[_OFF] = off
    return ThinkingControl(mode="adaptive", levels=tuple(sorted(native)), native=native, default_on=default_on)


def _budget(*, max_budget: int | None = None) -> ThinkingControl:
    native: dict[ThinkingLevel, str | int] = {_OFF: "disabled", **BUDGETS}
    return ThinkingControl(
        mode="budget", levels=tuple(native), native=native, min_budget=SMALLEST_BUDGET, max_budget=max_budget
    )


_ALL = (_LOW, _MEDIUM, _HIGH, _XHIGH, _MAX)
_NAMES = tuple(level.value for level in _ALL)
_NO_XHIGH = (_LOW, _MEDIUM, _HIGH, _MAX)

_ALWAYS_ON = Family(control=_adaptive(*_ALL), types=("adaptive",), efforts=_NAMES)
_OPUS_5 = Family(
    control=_adaptive(*_ALL, off="disabled"), types=("adaptive", "disabled"), efforts=_NAMES, off_effort_capped=True
)
_OPUS_4_7 = Family(
    control=_adaptive(*_ALL, off="disabled", default_on=False), types=("adaptive", "disabled"), efforts=_NAMES
)
_4_6 = Family(
    control=_adaptive(*_NO_XHIGH, off="disabled", default_on=False),
    types=("adaptive", "disabled", "enabled"),
    efforts=tuple(level.value for level in _NO_XHIGH),
    hides=False,
    sampling="without_thinking",
    interleaves=True,
)
_BUDGET = Family(
    control=_budget(),
    types=("enabled", "disabled"),
    efforts=(),
    hides=False,
    sampling="without_thinking",
    interleaves=True,
    max_output=64_000,
)
_WITHOUT_THINKING = Family(
    control=ThinkingControl(mode="budget"),
    types=("disabled",),
    efforts=(),
    hides=False,
    sampling="free",
    forced_tools="free",
    max_output=4096,
)

# Claude ids that no row knows: taken for the newest kind, and nothing is refused beforehand.
_NEWEST = Family(control=_adaptive(*_ALL, off="disabled"), forced_tools="refused", max_output=None)
# Other models behind a compatible server.
_FOREIGN = Family(control=_budget(), hides=False, sampling="free", forced_tools="free", max_output=None)

_FAMILIES = {
    "claude-fable-5-2": evolve(_ALWAYS_ON, forced_tools="refused"),
    "claude-mythos-5-2": evolve(_ALWAYS_ON, forced_tools="refused"),
    "claude-fable-5-1": evolve(_ALWAYS_ON, forced_tools="refused"),
    "claude-mythos-5-1": evolve(_ALWAYS_ON, forced_tools="refused"),
    "claude-opus-5-5": evolve(_ALWAYS_ON, forced_tools="refused"),
    "claude-sonnet-5-5": Family(
        control=_adaptive(*_ALL, off="between_tools"),
        types=("adaptive", "between_tools"),
        efforts=_NAMES,
        off_effort_capped=True,
        forced_tools="refused",
    ),
    "claude-haiku-5-5": _OPUS_5,
    "claude-opus-5": _OPUS_5,
    "claude-sonnet-5": evolve(_OPUS_5, off_effort_capped=False),
    "claude-fable-5": _ALWAYS_ON,
    "claude-mythos-5": _ALWAYS_ON,
    "claude-mythos-preview": evolve(
        _ALWAYS_ON, control=_adaptive(*_NO_XHIGH), types=("adaptive", "enabled"), efforts=_4_6.efforts
    ),
    "claude-opus-4-8": _OPUS_4_7,
    "claude-opus-4-7": _OPUS_4_7,
    "claude-opus-4-6": _4_6,
    "claude-sonnet-4-6": _4_6,
    "claude-opus-4-5": evolve(_BUDGET, efforts=("low", "medium", "high")),
    "claude-sonnet-4-5": _BUDGET,
    "claude-haiku-4-5": evolve(_BUDGET, interleaves=False),
    "claude-opus-4-1": evolve(_BUDGET, max_output=32_000),
    "claude-opus-4-0": evolve(_BUDGET, max_output=32_000),
    "claude-opus-4": evolve(_BUDGET, max_output=32_000),
    "claude-sonnet-4-0": _BUDGET,
    "claude-sonnet-4": _BUDGET,
    "claude-3-7-sonnet": evolve(_BUDGET, interleaves=False),
    "claude-3-5-sonnet": evolve(_WITHOUT_THINKING, max_output=8192),
    "claude-3-5-haiku": evolve(_WITHOUT_THINKING, max_output=8192),
    "claude-3": _WITHOUT_THINKING,
}
_LONGEST_FIRST = sorted(_FAMILIES, key=len, reverse=True)

# `claude-opus-5-7` is no Opus 5: one or two digits after the prefix are another version, more are a date.
_OTHER_VERSION = re.compile(r"-\d{1,2}(?!\d)")


def family_of(model: Model) -> Family:
    """The facts for a model, with its own control and output limit in place where they are known."""
    family = _by_id(model.facts_id)
    if family is _FOREIGN and model.thinking is not None and model.thinking.mode == "adaptive":
        family = _NEWEST  # only Claude thinks adaptively: a deployment under a name of its own
    return evolve(
        family,
        control=model.thinking or family.control,
        types=family.types if model.thinking is None else None,
        max_output=model.max_output or family.max_output,
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
