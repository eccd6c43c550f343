"""From a thinking level to the `reasoning` object: the level sets as a table, and the one rule of the ladder.

What is known of the model decides; else its family, by name; else what the endpoint takes on chat completions, since
the words of the two protocols are the same.
"""

from __future__ import annotations

import re

from attrs import evolve, frozen

from thinkaloud.jsontext import Json
from thinkaloud.levels import ThinkingLevel, clamp_level
from thinkaloud.models.model import ThinkingControl
from thinkaloud.notices import Notice
from thinkaloud.protocols.base import Call
from thinkaloud.protocols.openai_chat.effort import control_of as control_on_chat
from thinkaloud.protocols.openai_responses.options import OpenAIResponsesOptions

OFF, MINIMAL, LOW, MEDIUM, HIGH, XHIGH, MAX = ThinkingLevel


@frozen
class Reasoning:
    """How a call asks for thinking.

    fields: the `reasoning` object; {} sends none.
    level: the neutral level that was sent; None: nothing was.
    thinks: the model will think, as far as is known.
    capable: the model can think, as far as is known: others refuse everything about it.
    """

    fields: dict[str, Json]
    level: ThinkingLevel | None
    thinks: bool
    capable: bool
    notices: tuple[Notice, ...]


def reasoning(call: Call, options: OpenAIResponsesOptions) -> Reasoning:
    """Decide everything about thinking in a request. Pure."""
    control = control_of(call)
    capable = control != _NEVER if call.model.reasoning is None else call.model.reasoning
    default_on = capable and control.default_on
    notices: list[Notice] = []
    fields: dict[str, Json] = {}
    level: ThinkingLevel | None = None
    thinks = default_on
    visible = False
    if options.effort is not None:
        level = OFF if options.effort == "none" else ThinkingLevel(options.effort)
        fields["effort"] = options.effort
        thinks = visible = level is not OFF
        if call.reasoning is not None and call.reasoning is not level:
            text = "the options of the protocol say otherwise, and they win"
            notices.append(Notice("level_overridden", text, "reasoning", {"asked": call.reasoning.value}))
    elif call.reasoning is not None:
        asked = call.reasoning
        level = clamp_level(asked, control.levels) if capable else None
        if level is None and (asked is not OFF or default_on):
            text = "the thinking of this model cannot be steered here; nothing was sent"
            notices.append(Notice("level_ignored", text, "reasoning", {"asked": asked.value}))
        elif level is not None:
            if level is not asked:
                text = f"this model has no level {asked.value!r}; {level.value!r} was sent in its place"
                notices.append(Notice("level_clamped", text, "reasoning", {"asked": asked.value, "sent": level.value}))
            if control.mode != "always_on":
                fields["effort"] = control.native.get(level, "none" if level is OFF else level.value)
            thinks = level is not OFF
            # Where off was asked for and cannot be, the least effort is as near as it gets, and nothing is shown of it.
            visible = thinks and asked is not OFF
    summary = _summary(call, options, notices, thinks=thinks, visible=visible)
    if summary is not None:
        fields["summary"] = summary
    for name in ("context", "mode"):
        if getattr(options, name) is not None:
            fields[name] = getattr(options, name)
    return Reasoning(fields, level, thinks, capable, tuple(notices))


def _summary(
    call: Call, options: OpenAIResponsesOptions, notices: list[Notice], *, thinks: bool, visible: bool
) -> str | None:
    if options.summary is not None:
        return None if options.summary == "none" else options.summary
    if call.display == "omitted":
        return None
    if call.display == "summarized" and not thinks:
        text = "no thinking is asked for, so none can be shown"
        notices.append(Notice("display_ignored", text, "display", {"asked": call.display}))
        return None
    return "auto" if visible or call.display == "summarized" else None


def control_of(call: Call) -> ThinkingControl:
    """How the model is steered: as known of it, else as of its family, else as of its endpoint."""
    if call.model.thinking is not None:
        return call.model.thinking
    family = openai_family(call.model.facts_id)
    if family is None:
        return control_on_chat(call)
    if call.model.provider != "openai" and MAX in family.levels:
        # Nobody else is known to take the highest level.
        return evolve(family, levels=tuple(level for level in family.levels if level is not MAX))
    return family


def openai_family(id: str) -> ThinkingControl | None:
    """What a model of OpenAI's takes on this protocol, by its id; None for a model of others."""
    id = id.lower().rpartition("/")[2].removeprefix("openai.")
    return next((control for pattern, control in _FAMILIES if pattern.match(id)), None)


def _words(*levels: ThinkingLevel, on: bool = True) -> ThinkingControl:
    return ThinkingControl(mode="effort", levels=levels, default_on=on)


_NEVER = ThinkingControl(mode="always_on")  # nothing to steer, because it does not think

# Pattern of the start of an id, and what it takes; the first match wins.
_FAMILIES: tuple[tuple[re.Pattern[str], ThinkingControl], ...] = tuple(
    (re.compile(pattern), control)
    for pattern, control in (
        (r"gpt-(3|4|5-chat)|chatgpt-", _NEVER),
        (r"gpt-5\.\d-chat", _words(MEDIUM)),
        (r"o\d", _words(LOW, MEDIUM, HIGH)),
        (r"gpt-5-pro", _words(HIGH)),
        (r"gpt-5\.1-codex-max", _words(LOW, MEDIUM, HIGH, XHIGH)),
        (r"gpt-5(\.1)?-codex", _words(LOW, MEDIUM, HIGH)),
        (r"gpt-5\.\d-pro", _words(MEDIUM, HIGH, XHIGH)),
        (r"gpt-5(-|$)", _words(MINIMAL, LOW, MEDIUM, HIGH)),
        (r"gpt-5\.1", _words(OFF, LOW, MEDIUM, HIGH, on=False)),
        (r"gpt-5\.[2-4]", _words(OFF, LOW, MEDIUM, HIGH, XHIGH, on=False)),
        (r"gpt-5\.5", _words(OFF, LOW, MEDIUM, HIGH, XHIGH)),
        (r"gpt-6-astra|gpt-6\.1-sol|gpt-6\.2|gpt-.*-(law|cyber|rosalind)", _words(LOW, MEDIUM, HIGH, XHIGH, MAX)),
        (r"gpt-[56]", _words(OFF, LOW, MEDIUM, HIGH, XHIGH, MAX)),
    )
)
