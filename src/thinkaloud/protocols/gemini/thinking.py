"""From what a call asks of thinking to `thinkingConfig`: a level or a budget, never both, and whether it is shown.

Native options win over the neutral level; the neutral level is clamped by the one rule of the ladder. Whatever differs
from what was asked is told in a notice.
"""

from __future__ import annotations

from attrs import define, field, frozen

from thinkaloud.errors import ConfigurationError
from thinkaloud.jsontext import Json
from thinkaloud.levels import ThinkingLevel, clamp_level
from thinkaloud.models.model import ThinkingControl
from thinkaloud.notices import Notice
from thinkaloud.protocols.base import Call
from thinkaloud.protocols.gemini.families import Family
from thinkaloud.protocols.gemini.options import GeminiOptions

# Tokens that an answer is left beside a budget, where there is room for so many.
_ANSWER_ROOM = 4096
# Of a level for which a budget model names no number.
_LARGEST_BUDGET = 24_576


@frozen
class ThinkingFields:
    """What thinking adds to a request.

    config: `thinkingConfig`; {} is not sent.
    level: the neutral level that it stands for; None: nothing was sent.
    """

    config: dict[str, Json]
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

    Raises ConfigurationError for options that the model is known to refuse.
    """
    draft = _Draft()
    control = family.control
    if control is None:
        _refuse_native(call, options)
    if control is not None and options.level is not None:
        _take_name(draft, options.level, call, family)
    elif control is not None and options.budget is not None:
        _take_budget(draft, options.budget, call, family)
    else:
        _take_level(draft, call, control)
    _take_display(draft, call, options, control)
    config: dict[str, Json] = {}
    if draft.shown is not None:
        config["includeThoughts"] = draft.shown
    if draft.budget is not None:
        config["thinkingBudget"] = draft.budget
    elif draft.name is not None:
        config["thinkingLevel"] = draft.name
    return ThinkingFields(config, draft.level, tuple(draft.notices))


# the neutral level


def _take_level(draft: _Draft, call: Call, control: ThinkingControl | None) -> None:
    asked = call.reasoning
    if asked is None:
        return
    if control is not None and control.mode == "always_on" and not control.levels:
        draft.shown = True if asked is not ThinkingLevel.OFF else None
    sent = None if control is None else clamp_level(asked, control.levels)
    if control is None or sent is None:
        if control is not None or asked is not ThinkingLevel.OFF:
            draft.notice("level_ignored", "this model has no thinking to be steered", "reasoning", asked=asked.value)
        return
    if sent is not asked:
        text = f"this model has no level {asked.value!r}, {sent.value!r} is sent in its place"
        draft.notice("level_clamped", text, "reasoning", asked=asked.value, sent=sent.value)
    draft.level = sent
    native = control.native.get(sent)
    if sent is ThinkingLevel.OFF:
        draft.budget = 0
    elif control.mode == "budget":
        draft.budget = _with_room(draft, native if isinstance(native, int) else _LARGEST_BUDGET, call, control)
    elif control.mode == "toggle":
        draft.budget = -1
    elif isinstance(native, int):
        draft.budget = native
    else:
        draft.name = native if native is not None else sent.value.upper()
    # Where off was asked for and cannot be, the least is as near as it gets, and nothing is shown of it.
    if asked is not ThinkingLevel.OFF:
        draft.shown = True


def _with_room(draft: _Draft, budget: int, call: Call, control: ThinkingControl) -> int:
    """The budget within its bounds; it gives way to the answer where the limit on both is small."""
    smallest = control.min_budget or 1
    budget = max(budget, smallest)
    budget = budget if control.max_budget is None else min(budget, control.max_budget)
    limit = call.max_tokens
    if limit is None or limit > budget:
        return budget
    shrunk = max(smallest, limit - min(_ANSWER_ROOM, limit // 2))
    if shrunk >= budget:
        return budget
    text = "lowered, so that the thinking leaves room for the answer"
    draft.notice("budget_lowered", text, "generationConfig.thinkingConfig", asked=budget, sent=shrunk)
    return shrunk


# native options


def _refuse_native(call: Call, options: GeminiOptions) -> None:
    for name in ("level", "budget", "include_thoughts"):
        value = getattr(options, name)
        if value is not None and value is not False:
            raise ConfigurationError(f"{name}={value!r}: {call.model.id} does not think and refuses it; leave it out")


def _take_name(draft: _Draft, name: str, call: Call, family: Family) -> None:
    control = family.control
    assert control is not None
    if family.known and name not in control.native.values():
        names = [repr(value) for value in control.native.values() if isinstance(value, str)]
        fix = f"use one of {', '.join(names)}" if names else "use budget=, which this model takes"
        raise ConfigurationError(f"level={name!r}: {call.model.id} does not take it; {fix}")
    draft.name = name
    draft.level = ThinkingLevel(name.lower())
    draft.shown = True


def _take_budget(draft: _Draft, budget: int, call: Call, family: Family) -> None:
    control = family.control
    assert control is not None
    if family.known and control.mode == "budget" and budget != -1:
        smallest, largest = control.min_budget or 0, control.max_budget or budget
        off = ThinkingLevel.OFF in control.levels
        if not (smallest <= budget <= largest or (budget == 0 and off)):
            fix = f"use {smallest} to {largest}, {'0 for none, ' if off else ''}or -1 for the model's choice"
            raise ConfigurationError(f"budget={budget}: {call.model.id} does not take it; {fix}")
    draft.budget = budget
    draft.shown = True if budget else None
    sizes = {level: size for level, size in control.native.items() if isinstance(size, int)}
    if budget == 0:
        draft.level = ThinkingLevel.OFF
    elif budget > 0 and sizes:
        thinking = [level for level, size in sizes.items() if 0 < size <= budget]
        draft.level = max(thinking, default=ThinkingLevel.MINIMAL)


# what is shown


def _take_display(draft: _Draft, call: Call, options: GeminiOptions, control: ThinkingControl | None) -> None:
    asked = options.include_thoughts
    if asked is None and call.display is not None:
        asked = call.display == "summarized"
    if asked is None:
        return
    if control is None or draft.budget == 0:
        if call.display is not None and options.include_thoughts is None:
            text = "no thinking is asked for, so none can be shown"
            draft.notice("display_ignored", text, "display", asked=call.display)
        return
    draft.shown = asked
