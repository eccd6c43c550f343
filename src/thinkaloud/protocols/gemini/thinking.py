"""From what a call asks of thinking to `thinkingConfig`: a level or a budget, never both, and whether it is shown.

Native options win over the neutral level; the neutral level is clamped by the one rule of the ladder. Whatever differs
from what was asked is told in a notice.
"""

from __future__ import annotations

from typing import TypeGuard

from attrs import define, field, frozen

from thinkaloud.errors import ConfigurationError
from thinkaloud.jsontext import Json
from thinkaloud.levels import ThinkingLevel
from thinkaloud.models.model import ThinkingControl
from thinkaloud.notices import Notice
from thinkaloud.protocols.base import Call
from thinkaloud.protocols.gemini.families import Family
from thinkaloud.protocols.gemini.options import GeminiOptions
from thinkaloud.protocols.level_choice import level_to_send, overridden

# Tokens that an answer is left beside a budget, where there is room for so many.
_ANSWER_ROOM = 4096
# Of a level for which a budget model names no number.
_LARGEST_BUDGET = 24_576


@frozen
class ThinkingFields:
    """What thinking adds to a request.

    config: `thinkingConfig`; {} is not sent.
    max_tokens: the output limit, with room for the thinking; None: the server's own.
    level: the neutral level that it stands for; None: nothing was sent.
    """

    config: dict[str, Json]
    max_tokens: int | None
    level: ThinkingLevel | None
    notices: tuple[Notice, ...]


@define
class _Draft:
    """The request's thinking while it is decided. shown: None leaves it to the server, which shows nothing."""

    budget: int | None = None
    name: str | None = None
    level: ThinkingLevel | None = None
    shown: bool | None = None
    notices: list[Notice] = field(factory=list)

    def notice(self, code: str, text: str, path: str, **detail: Json) -> None:
        self.notices.append(Notice(code, text, path, detail))


def thinking_fields(call: Call, options: GeminiOptions, family: Family) -> ThinkingFields:
    """Decide everything about thinking in a request. Pure.

    Raises ConfigurationError for options that the model is known to refuse, and for an output limit without room for
    the smallest budget.
    """
    draft = _Draft()
    control = family.control
    if control is None and family.known:
        _refuse_native(call, options)
    if options.level is not None:
        _take_name(draft, options.level, call, family)
    elif options.budget is not None:
        _take_budget(draft, options.budget, call, family)
    else:
        _take_level(draft, call, control)
    if options.level is not None or options.budget is not None:
        draft.notices += overridden(call.reasoning, draft.level)
    _take_display(draft, call, options, control)
    max_tokens = _max_tokens(draft, call, family)
    config: dict[str, Json] = {}
    if draft.shown is not None:
        config["includeThoughts"] = draft.shown
    if draft.budget is not None:
        config["thinkingBudget"] = draft.budget
    elif draft.name is not None:
        config["thinkingLevel"] = draft.name
    return ThinkingFields(config, max_tokens, draft.level, tuple(draft.notices))


# the neutral level


def _take_level(draft: _Draft, call: Call, control: ThinkingControl | None) -> None:
    asked = call.reasoning
    chosen = level_to_send(asked, control)
    draft.notices += chosen.notices
    # Where off was asked for and cannot be, the least is as near as it gets, and nothing is shown of it.
    visible = control is not None and asked not in (None, ThinkingLevel.OFF)
    if visible and control is not None and (chosen.level is not None or control.mode == "always_on"):
        draft.shown = True
    draft.level = sent = chosen.level
    if sent is None or control is None:
        return
    native = control.native.get(sent)
    if sent is ThinkingLevel.OFF:
        draft.budget = 0
    elif control.mode == "budget":
        draft.budget = _within(native if _is_tokens(native) else _LARGEST_BUDGET, control)
    elif control.mode == "toggle":
        draft.budget = -1 if control.dynamic_budget is None else control.dynamic_budget
    elif _is_tokens(native):
        draft.budget = native
    else:
        draft.name = native if isinstance(native, str) else sent.value.upper()


def _is_tokens(native: object) -> TypeGuard[int]:
    return isinstance(native, int) and not isinstance(native, bool)


def _within(budget: int, control: ThinkingControl) -> int:
    budget = max(budget, control.min_budget or 1)
    return budget if control.max_budget is None else min(budget, control.max_budget)


# room for thinking and answer


def _max_tokens(draft: _Draft, call: Call, family: Family) -> int | None:
    """The output limit, in which thinking counts, with room for the budget; the budget gives way where it cannot."""
    limit, cap = call.max_tokens, family.max_output
    if limit is None or draft.budget is None or draft.budget <= 0:
        return limit
    room = min(limit, _ANSWER_ROOM)
    raised = draft.budget + room
    raised = raised if cap is None else min(raised, cap)
    if cap is not None and raised > limit:
        text = "raised, so that the thinking leaves room for the answer"
        draft.notice("max_tokens_raised", text, "max_tokens", asked=limit, sent=raised)
        limit = raised
    floor = (family.control.min_budget if family.control is not None else None) or 1
    if limit <= floor:
        raise ConfigurationError(
            f"max_tokens={limit} leaves no room for thinking: give at least {floor + 1}, or leave it out"
        )
    fitting = max(floor, limit - min(room, limit // 2))
    if draft.budget > fitting:
        text = "lowered, so that the thinking leaves room for the answer"
        draft.notice("budget_lowered", text, "generationConfig.thinkingConfig", asked=draft.budget, sent=fitting)
        draft.budget = fitting
    return limit


# native options


def _refuse_native(call: Call, options: GeminiOptions) -> None:
    for name in ("level", "budget", "include_thoughts"):
        value = getattr(options, name)
        if value is not None and value is not False:
            raise ConfigurationError(f"{name}={value!r}: {call.model.id} does not think and refuses it; leave it out")


def _take_name(draft: _Draft, name: str, call: Call, family: Family) -> None:
    control = family.control
    if control is not None and family.known and name not in control.native.values():
        names = [repr(value) for value in control.native.values() if isinstance(value, str)]
        fix = f"use one of {', '.join(names)}" if names else "use budget=, which this model takes"
        raise ConfigurationError(f"level={name!r}: {call.model.id} does not take it; {fix}")
    draft.name = name
    draft.level = ThinkingLevel(name.lower())
    draft.shown = True


def _take_budget(draft: _Draft, budget: int, call: Call, family: Family) -> None:
    control = family.control
    sizes = {} if control is None else {level: size for level, size in control.native.items() if _is_tokens(size)}
    if control is not None and family.known and control.mode == "budget" and budget != -1:
        smallest, largest = control.min_budget or 0, control.max_budget or budget
        if not (smallest <= budget <= largest or (budget == 0 and control.can_disable)):
            zero = "0 for none, " if control.can_disable else ""
            fix = f"use {smallest} to {largest}, {zero}or -1 for the model's choice"
            raise ConfigurationError(f"budget={budget}: {call.model.id} does not take it; {fix}")
    draft.budget = budget
    draft.shown = True if budget else None
    if budget == 0:
        draft.level = ThinkingLevel.OFF
    elif budget > 0 and sizes:
        thinking = [level for level, size in sizes.items() if 0 < size <= budget]
        draft.level = max(thinking, default=ThinkingLevel.MINIMAL)


# what is shown


def _take_display(draft: _Draft, call: Call, options: GeminiOptions, control: ThinkingControl | None) -> None:
    asked = options.include_thoughts
    path = "options.include_thoughts"
    if asked is None and call.display is not None:
        asked, path = call.display == "summarized", "display"
    if asked is None:
        return
    if (control is None and options.include_thoughts is None) or draft.budget == 0:
        text = "no thinking is asked for, so none can be shown"
        draft.notice("display_ignored", text, path, asked=call.display if path == "display" else asked)
        return
    draft.shown = asked
