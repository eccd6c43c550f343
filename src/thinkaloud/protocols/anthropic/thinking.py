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
from thinkaloud.models.signing import binds_prefix
from thinkaloud.notices import Notice
from thinkaloud.protocols.anthropic.families import BUDGETS, SMALLEST_BUDGET, Family, effort_of
from thinkaloud.protocols.anthropic.options import Adaptive, AnthropicOptions, BetweenTools, Budget, Disabled
from thinkaloud.protocols.base import Call
from thinkaloud.protocols.level_choice import level_to_send, overridden, turned_off

# Tokens for an answer whose limit nobody gave and whose model's limit is not known.
DEFAULT_MAX_TOKENS = 32_000
# Tokens that an answer is left beside a budget, where there is room for so many.
ANSWER_ROOM = 4096

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
_ON_STALE = {"error": "error", "drop": "drop_block"}


@frozen
class ThinkingFields:
    """What thinking adds to a request.

    max_tokens: the output limit.
    fields: `thinking` and `output_config`, each where needed.
    level: the neutral level that they stand for; None: nothing was sent.
    thinks: the model will think.
    """

    max_tokens: int
    fields: dict[str, Json]
    level: ThinkingLevel | None
    thinks: bool
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

    Raises ConfigurationError for options that the model is known to refuse, for a forced call beside a budget that was
    asked for natively or cannot be left out, and for an output limit without room for the smallest budget.
    """
    draft = _Draft()
    if options.thinking is None:
        _take_level(draft, call, family.control)
    else:
        _take_native(draft, call, options, family)
    _give_way_to_forced_call(draft, call, options, family)
    _take_effort(draft, call, options, family)
    _take_display(draft, call, options, family)
    binding = _binding(draft, call, options, family.control)
    max_tokens = _max_tokens(draft, call, options, family)

    fields: dict[str, Json] = {}
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
        max_tokens=max_tokens,
        fields=fields,
        level=draft.level,
        thinks=draft.type in _THINKS or (draft.type is None and family.control.default_on),
        notices=tuple(draft.notices),
        betas=tuple(draft.betas),
    )


# the neutral level


def _take_level(draft: _Draft, call: Call, control: ThinkingControl) -> None:
    chosen = level_to_send(call.reasoning, None if call.model.reasoning is False else control)
    draft.notices += chosen.notices
    if (sent := chosen.level) is None:
        return
    draft.level = sent
    native = control.native.get(sent)
    if sent is ThinkingLevel.OFF:
        draft.type = _off(control)
    elif control.mode == "budget":
        wished = native if isinstance(native, int) else BUDGETS.get(sent, max(BUDGETS.values()))
        draft.type, draft.budget = "enabled", _within(wished, control)
    elif control.mode == "toggle":
        draft.type = "enabled"
    else:
        draft.effort = effort_of(control, sent)
        # Where off was asked for and cannot be, the least effort is as near as it gets, and nothing is shown of it.
        if control.mode == "adaptive" and call.reasoning is not ThinkingLevel.OFF:
            draft.type = "adaptive"


def _off(control: ThinkingControl) -> str:
    native = control.native.get(ThinkingLevel.OFF)
    return native if isinstance(native, str) else "disabled"


def _within(budget: int, control: ThinkingControl) -> int:
    budget = max(budget, control.min_budget or SMALLEST_BUDGET)
    return budget if control.max_budget is None else min(budget, control.max_budget)


# native options


def _take_native(draft: _Draft, call: Call, options: AnthropicOptions, family: Family) -> None:
    mode = options.thinking
    draft.type = _TYPES[type(mode)]
    if family.strict and draft.type not in family.types:
        others = " or ".join(name.__name__ for name, type in _TYPES.items() if type in family.types)
        raise ConfigurationError(f"thinking={mode!r}: {call.model.id} does not take it; use {others}, or leave it out")
    asked = call.reasoning
    match mode:
        case Disabled() | BetweenTools():
            draft.level = ThinkingLevel.OFF
        case Budget(tokens=tokens):
            _refuse_out_of_bounds(tokens, call, family)
            draft.budget = tokens
            draft.level = _level_of_budget(tokens, family.control)
        case _ if asked in (None, ThinkingLevel.OFF):
            pass  # adaptive, with the effort that the model takes by itself
        case _ if options.effort is None and family.control.mode == "adaptive":
            neutral = _Draft()
            _take_level(neutral, call, family.control)
            draft.effort, draft.level = neutral.effort, neutral.level
            draft.notices += neutral.notices
            return
    _tell_override(draft, call, options, family.control)


def _tell_override(draft: _Draft, call: Call, options: AnthropicOptions, control: ThinkingControl) -> None:
    """Tell where native thinking is not what the neutral level asked for."""
    asked = call.reasoning
    if asked is None or (options.effort is not None and isinstance(options.thinking, Adaptive)):
        return  # effort speaks for itself
    if clamp_level(asked, control.levels) is not draft.level:
        draft.notices += overridden(asked, draft.level)


def _refuse_out_of_bounds(tokens: int, call: Call, family: Family) -> None:
    control = family.control
    least, most = control.min_budget or SMALLEST_BUDGET, control.max_budget
    if family.strict and control.mode == "budget" and (tokens < least or (most is not None and tokens > most)):
        bounds = f"from {least} to {most}" if most is not None else f"{least} or more"
        raise ConfigurationError(f"thinking=Budget({tokens}): {call.model.id} takes {bounds} tokens")


def _level_of_budget(tokens: int, control: ThinkingControl) -> ThinkingLevel:
    """The highest level whose budget is not above the tokens."""
    native = control.native if control.mode == "budget" else BUDGETS
    budgets = {level: budget for level, budget in native.items() if isinstance(budget, int)} or BUDGETS
    return max((level for level, budget in budgets.items() if budget <= tokens), default=min(budgets))


def _take_effort(draft: _Draft, call: Call, options: AnthropicOptions, family: Family) -> None:
    control = family.control
    if (effort := options.effort) is not None:
        if family.strict and effort not in family.efforts:
            use = ", ".join(map(repr, family.efforts))
            fix = f"use one of {use}" if use else "leave it out: the model has no effort"
            raise ConfigurationError(f"effort={effort!r} is not known to {call.model.id}; {fix}")
        draft.effort = effort
        if draft.type == "adaptive" or (draft.type is None and control.default_on):
            levels = (level for level in control.levels if effort_of(control, level) == effort)
            draft.level = next(levels, ThinkingLevel(effort))
            asked = call.reasoning
            if asked is not None and clamp_level(asked, control.levels) is not draft.level:
                draft.notices += overridden(asked, draft.level)
    cap = control.effort_cap_when_off
    if cap is not None and draft.type in ("disabled", "between_tools") and _above(draft.effort, cap):
        text = f"without thinking this model takes no effort above {cap.value!r}"
        draft.notice("effort_lowered", text, "options.effort", asked=draft.effort, sent=cap.value)
        draft.effort = cap.value


def _above(effort: str | None, cap: ThinkingLevel) -> bool:
    return effort is not None and ThinkingLevel(effort) > cap


# a choice of tools that thinking does not go with


def _give_way_to_forced_call(draft: _Draft, call: Call, options: AnthropicOptions, family: Family) -> None:
    """A forced call is refused beside a budget: turn a neutral level off for this call, and a native one down."""
    choice = call.tool_choice
    if choice is None or not (choice.forced and call.tools) or draft.type != "enabled" or family.forced_tools == "free":
        return
    why = f"tool_choice={choice.mode!r}: {call.model.id} takes no forced call while it thinks by a budget"
    if options.thinking is not None:
        raise ConfigurationError(f"{why}; use tool_choice='auto', or thinking=Disabled()")
    if not family.control.can_disable:
        raise ConfigurationError(f"{why}, and its thinking cannot be turned off; use tool_choice='auto'")
    draft.notices.append(turned_off(call.reasoning, "a forced call of a tool does not go with a budget"))
    draft.type, draft.budget, draft.level = _off(family.control), None, ThinkingLevel.OFF


# what is shown


def _take_display(draft: _Draft, call: Call, options: AnthropicOptions, family: Family) -> None:
    asked = options.display or call.display
    if options.display is not None and call.display is not None and options.display != call.display:
        text = "the display of the options wins"
        draft.notice("display_overridden", text, "display", asked=call.display, sent=options.display)
    if asked is not None and draft.type is None and family.control.mode == "adaptive" and family.control.default_on:
        draft.type = "adaptive"  # what the model does by itself, said in full, because the display hangs on it
    if draft.type in _THINKS:
        draft.display = asked or ("summarized" if family.hides else None)
    elif asked is not None:
        draft.notice("display_ignored", "no thinking is asked for, so none can be shown", "display", asked=asked)
    if draft.display == "updates":
        draft.betas.append(_UPDATES)


def _binding(draft: _Draft, call: Call, options: AnthropicOptions, control: ThinkingControl) -> dict[str, Json]:
    wished = options.on_stale
    if wished is None and call.drop_stale and binds_prefix(call.model.facts_id):
        wished = "drop"
    if wished is None or wished not in _ON_STALE:
        return {}
    if draft.type is None and control.mode == "adaptive" and control.default_on:
        draft.type = "adaptive"
    if draft.type != "adaptive":
        if options.on_stale is not None:
            text = "the server takes it only beside adaptive thinking"
            draft.notice("on_stale_ignored", text, "options.on_stale", asked=options.on_stale)
        return {}
    draft.betas.append(_BINDING)
    return {"block_binding": {"prefix_mismatch_behavior": _ON_STALE[wished]}}


# room for thinking and answer


def _max_tokens(draft: _Draft, call: Call, options: AnthropicOptions, family: Family) -> int:
    """The output limit, with room for the budget; the budget gives way where the limit cannot."""
    cap, asked = family.max_output, call.max_tokens
    sure_cap = cap if family.max_output_sure else None
    own = call.model.max_output if family.max_output_sure else None
    limit = asked or own or min(DEFAULT_MAX_TOKENS, cap or DEFAULT_MAX_TOKENS)
    if asked is not None and sure_cap is not None and asked > sure_cap:
        text = f"this model gives {sure_cap} tokens at most"
        draft.notice("max_tokens_lowered", text, "max_tokens", asked=asked, sent=sure_cap)
        limit = sure_cap
    if draft.budget is None:
        return limit
    room = min(limit, ANSWER_ROOM)
    raised = draft.budget + room
    if limit < raised and cap is not None and limit < min(raised, cap):
        sent = min(raised, cap)
        if asked is not None:
            text = "raised, so that the thinking leaves room for the answer"
            draft.notice("max_tokens_raised", text, "max_tokens", asked=asked, sent=sent)
        limit = sent
    floor = family.control.min_budget or SMALLEST_BUDGET
    if limit <= floor:
        off = "thinking=Disabled()" if options.thinking is not None else "reasoning='off'"
        raise ConfigurationError(f"max_tokens={limit} leaves no room for thinking: give at least {floor + 1}, or {off}")
    fitting = max(floor, limit - min(room, limit // 2))
    if draft.budget > fitting:
        text = "lowered, so that the thinking leaves room for the answer"
        draft.notice("budget_lowered", text, "thinking.budget_tokens", asked=draft.budget, sent=fitting)
        draft.budget = fitting
    return limit
