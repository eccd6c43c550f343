"""From what a call asks of thinking to the fields of the request: level, budget, effort, display and output limit.

Native options win over the neutral level, field by field; the neutral level is clamped by the one rule of the ladder.
Whatever differs from what was asked is told in a notice.
"""

from __future__ import annotations

from attrs import define, field, frozen

from thinkaloud.errors import ConfigurationError
from thinkaloud.jsontext import Json
from thinkaloud.levels import ThinkingLevel, clamp_level
from thinkaloud.models.model import ThinkingControl
from thinkaloud.notices import Notice
from thinkaloud.protocols.anthropic.families import BUDGETS, SMALLEST_BUDGET, Family
from thinkaloud.protocols.anthropic.options import Adaptive, AnthropicOptions, BetweenTools, Budget, Disabled
from thinkaloud.protocols.base import Call

# Tokens for an answer whose limit nobody gave and whose model's limit is not known.
DEFAULT_MAX_TOKENS = 32_000
# Tokens that an answer is left beside a budget, where there is room for so many.
_ANSWER_ROOM = 4096

_INTERLEAVED = "interleaved-thinking-2025-05-14"
_UPDATES = "thinking-display-updates-2026-08-18"
_BINDING = "thinking-binding-controls-2026-08-01"

_TYPES: dict[type, str] = {
    Adaptive: "adaptive",
    Budget: "enabled",
    BetweenTools: "between_tools",
    Disabled: "disabled",
}
_THINKS = ("adaptive", "enabled")
_ABOVE_HIGH = ("xhigh", "max")


@frozen
class ThinkingFields:
    """What thinking adds to a request.

    fields: `max_tokens`, `thinking` and `output_config`, each where needed.
    level: the neutral level that they stand for; None: nothing was sent.
    thinks: the model will think.
    budgeted: by a budget.
    """

    fields: dict[str, Json]
    level: ThinkingLevel | None
    thinks: bool
    budgeted: bool
    notices: tuple[Notice, ...]
    betas: tuple[str, ...]


@define
class _Draft:
    """The request's thinking while it is decided."""

    type: str | None = None
    budget: int | None = None
    effort: str | None = None
    display: str | None = None
    level: ThinkingLevel | None = None
    notices: list[Notice] = field(factory=list)
    betas: list[str] = field(factory=list)

    def notice(self, code: str, text: str, path: str, **detail: Json) -> None:
        self.notices.append(Notice(code, text, path, detail))


def thinking_fields(call: Call, options: AnthropicOptions, family: Family) -> ThinkingFields:
    """Decide everything about thinking in a request. Pure.

    Raises ConfigurationError for options that the model is known to refuse, and for an output limit without room for
    the smallest budget.
    """
    draft = _Draft()
    if options.thinking is None:
        _take_level(draft, call, family.control)
    else:
        _take_native(draft, call, options, family)
    _take_effort(draft, options, family)
    _take_display(draft, call, options, family)
    binding = _binding(draft, options, family.control)
    max_tokens = _max_tokens(draft, call, family)

    fields: dict[str, Json] = {"max_tokens": max_tokens}
    if draft.type is not None:
        thinking: dict[str, Json] = {"type": draft.type}
        if draft.budget is not None:
            thinking["budget_tokens"] = draft.budget
        if draft.display is not None:
            thinking["display"] = draft.display
        fields["thinking"] = {**thinking, **binding}
    if draft.effort is not None:
        fields["output_config"] = {"effort": draft.effort}
    if draft.budget is not None and call.tools and family.interleaves:
        draft.betas.append(_INTERLEAVED)
    return ThinkingFields(
        fields=fields,
        level=draft.level,
        thinks=draft.type in _THINKS or (draft.type is None and family.control.default_on),
        budgeted=draft.type == "enabled" and draft.budget is not None,
        notices=tuple(draft.notices),
        betas=tuple(draft.betas),
    )


# the neutral level


def _take_level(draft: _Draft, call: Call, control: ThinkingControl) -> None:
    asked = call.reasoning
    if asked is None:
        return
    sent = None if call.model.reasoning is False else clamp_level(asked, control.levels)
    if sent is None:
        if asked is not ThinkingLevel.OFF:
            draft.notice("level_ignored", "this model has no thinking to be steered", "reasoning", asked=asked.value)
        return
    if sent is not asked:
        text = f"this model has no level {asked.value!r}, {sent.value!r} is sent in its place"
        draft.notice("level_clamped", text, "reasoning", asked=asked.value, sent=sent.value)
    draft.level = sent
    native = control.native.get(sent)
    if sent is ThinkingLevel.OFF:
        draft.type = native if isinstance(native, str) else "disabled"
    elif control.mode == "budget":
        draft.type, draft.budget = "enabled", _within(native if isinstance(native, int) else _budget(sent), control)
    elif control.mode == "toggle":
        draft.type = "enabled"
    else:
        draft.effort = native if isinstance(native, str) else sent.value
        # Where off was asked for and cannot be, the least effort is as near as it gets, and nothing is shown of it.
        if control.mode == "adaptive" and asked is not ThinkingLevel.OFF:
            draft.type = "adaptive"


def _budget(level: ThinkingLevel) -> int:
    return BUDGETS.get(level, max(BUDGETS.values()))


def _within(budget: int, control: ThinkingControl) -> int:
    budget = max(budget, control.min_budget or SMALLEST_BUDGET)
    return budget if control.max_budget is None else min(budget, control.max_budget)


# native options


def _take_native(draft: _Draft, call: Call, options: AnthropicOptions, family: Family) -> None:
    mode = options.thinking
    draft.type = _TYPES[type(mode)]
    if family.types is not None and draft.type not in family.types:
        others = " or ".join(name.__name__ for name, type in _TYPES.items() if type in family.types)
        raise ConfigurationError(f"thinking={mode!r}: {call.model.id} does not take it; use {others}, or leave it out")
    match mode:
        case Disabled() | BetweenTools():
            draft.level = ThinkingLevel.OFF
        case Budget(tokens=tokens):
            draft.budget = tokens
            draft.level = max((level for level in BUDGETS if BUDGETS[level] <= tokens), default=ThinkingLevel.MINIMAL)
        case _:
            wished = call.reasoning not in (None, ThinkingLevel.OFF)
            if wished and options.effort is None and family.control.mode == "adaptive":
                neutral = _Draft()
                _take_level(neutral, call, family.control)
                draft.effort, draft.level = neutral.effort, neutral.level
                draft.notices += neutral.notices


def _take_effort(draft: _Draft, options: AnthropicOptions, family: Family) -> None:
    if options.effort is not None:
        if family.efforts is not None and options.effort not in family.efforts:
            use = ", ".join(map(repr, family.efforts))
            fix = f"use one of {use}" if use else "leave it out: the model has no effort"
            raise ConfigurationError(f"effort={options.effort!r} is not known to this model; {fix}")
        draft.effort = options.effort
        if draft.type == "adaptive" or (draft.type is None and family.control.default_on):
            draft.level = ThinkingLevel(options.effort)
    off = draft.type in ("disabled", "between_tools")
    if off and family.off_effort_capped and draft.effort in _ABOVE_HIGH:
        text = "without thinking this model takes no effort above 'high'"
        draft.notice("effort_lowered", text, "options.effort", asked=draft.effort, sent="high")
        draft.effort = "high"


# what is shown


def _take_display(draft: _Draft, call: Call, options: AnthropicOptions, family: Family) -> None:
    asked = options.display or call.display
    if asked is not None and draft.type is None and family.control.mode == "adaptive" and family.control.default_on:
        draft.type = "adaptive"  # what the model does by itself, said in full, because the display hangs on it
    if draft.type in _THINKS:
        draft.display = asked or ("summarized" if family.hides else None)
    elif asked is not None:
        draft.notice("display_ignored", "no thinking is asked for, so none can be shown", "display", asked=asked)
    if draft.display == "updates":
        draft.betas.append(_UPDATES)


def _binding(draft: _Draft, options: AnthropicOptions, control: ThinkingControl) -> dict[str, Json]:
    if options.prefix_mismatch is None:
        return {}
    if draft.type is None and control.mode == "adaptive" and control.default_on:
        draft.type = "adaptive"
    if draft.type != "adaptive":
        text = "the server takes it only beside adaptive thinking"
        draft.notice("prefix_mismatch_ignored", text, "options.prefix_mismatch")
        return {}
    draft.betas.append(_BINDING)
    return {"block_binding": {"prefix_mismatch_behavior": options.prefix_mismatch}}


# room for thinking and answer


def _max_tokens(draft: _Draft, call: Call, family: Family) -> int:
    """The output limit, with room for the budget; the budget gives way where the limit cannot."""
    cap = family.max_output
    default = call.model.max_output or min(DEFAULT_MAX_TOKENS, cap or DEFAULT_MAX_TOKENS)
    limit = call.max_tokens or default
    if draft.budget is None:
        return limit
    if limit <= draft.budget and cap is not None:
        room = call.max_tokens or _ANSWER_ROOM
        raised = max(limit, min(draft.budget + room, cap))
        if raised != limit and call.max_tokens is not None:
            text = "raised, so that the thinking leaves room for the answer"
            draft.notice("max_tokens_raised", text, "max_tokens", asked=limit, sent=raised)
        limit = raised
    if limit <= draft.budget:
        floor = family.control.min_budget or SMALLEST_BUDGET
        if limit <= floor:
            raise ConfigurationError(
                f"max_tokens={limit} leaves no room for thinking: give at least {floor + 1}, or reasoning='off'"
            )
        shrunk = max(floor, limit - min(_ANSWER_ROOM, limit // 2))
        text = "lowered, so that the thinking leaves room for the answer"
        draft.notice("budget_lowered", text, "thinking.budget_tokens", asked=draft.budget, sent=shrunk)
        draft.budget = shrunk
    return limit
