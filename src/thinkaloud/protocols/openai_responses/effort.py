"""From what a call asks of thinking to the `reasoning` object: how much, and whether a summary of it is shown.

Native options win over the neutral level; the neutral level is clamped by the one rule of the ladder. Whatever differs
from what was asked is told in a notice.
"""

from __future__ import annotations

from attrs import frozen

from thinkaloud.errors import ConfigurationError
from thinkaloud.jsontext import Json
from thinkaloud.levels import ThinkingLevel
from thinkaloud.models.model import ThinkingControl
from thinkaloud.notices import Notice
from thinkaloud.protocols.base import Call
from thinkaloud.protocols.level_choice import is_settled, level_to_send, overridden, turned_off
from thinkaloud.protocols.openai_chat.clashes import forced_call
from thinkaloud.protocols.openai_chat.effort import native_word
from thinkaloud.protocols.openai_chat.families import OPENAI_HOSTS
from thinkaloud.protocols.openai_responses.families import openai_family, refused_options, thinking_control
from thinkaloud.protocols.openai_responses.options import OpenAIResponsesOptions

OFF = ThinkingLevel.OFF


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


@frozen
class _Wish:
    """What is asked of the model. visible: as long as nothing else is said, thinking is to be seen."""

    word: str | None
    level: ThinkingLevel | None
    thinks: bool
    visible: bool
    notices: tuple[Notice, ...] = ()


def reasoning(call: Call, options: OpenAIResponsesOptions) -> Reasoning:
    """Decide everything about thinking in a request. Pure.

    Raises ConfigurationError for native options that the model is known to refuse, and for a forced call that does not
    go with thinking that cannot be turned off.
    """
    control = thinking_control(call.model, call.dialect)
    _refuse_native(call, options, control)
    wish = _neutral(call, control) if options.effort is None else _native(call, options.effort)
    notices = list(wish.notices)
    fields: dict[str, Json] = {}
    if wish.word is not None:
        fields["effort"] = wish.word
    summary = _summary(call, options, wish, notices)
    if summary is not None:
        fields["summary"] = summary
    for name in ("context", "mode"):
        if getattr(options, name) is not None:
            fields[name] = getattr(options, name)
    return Reasoning(fields, wish.level, wish.thinks, control is not None, tuple(notices))


# the neutral level


def _neutral(call: Call, control: ThinkingControl | None) -> _Wish:
    chosen = level_to_send(call.reasoning, control)
    if chosen.level is None or control is None:
        wish = _Wish(None, None, control is not None and control.default_on, False, chosen.notices)
    else:
        thinks = chosen.level is not OFF
        # Where off was asked for and cannot be, the least effort is as near as it gets, and nothing is shown of it.
        visible = thinks and call.reasoning is not OFF
        wish = _Wish(native_word(control, chosen.level), chosen.level, thinks, visible, chosen.notices)
    clash = forced_call(call)
    if control is None or clash is None or not clash.refused or not wish.thinks:
        return wish
    if control.can_disable:
        return _Wish(native_word(control, OFF), OFF, False, False, (turned_off(call.reasoning, clash.why),))
    if call.reasoning is not None and is_settled(call.model, "levels", "can_disable", "mode"):
        raise ConfigurationError(f"{clash.why}, and it cannot be turned off; {clash.fix}")
    return wish


# native options


def _native(call: Call, word: str) -> _Wish:
    """The caller's own word, sent as it is."""
    level = OFF if word == "none" else ThinkingLevel(word)
    on = level is not OFF
    if on and (clash := forced_call(call)) is not None and clash.refused:
        raise ConfigurationError(f"effort={word!r}: {clash.why}; {clash.fix}, or effort='none'")
    return _Wish(word, level, on, on, overridden(call.reasoning, level))


def _refuse_native(call: Call, options: OpenAIResponsesOptions, control: ThinkingControl | None) -> None:
    """Of OpenAI's models all words are known; of others only those that a level stands for."""
    model = call.model
    if model.provider not in OPENAI_HOSTS or openai_family(model.facts_id) is None:
        return
    if control is None:
        for name in ("effort", "summary", "context", "mode"):
            value = getattr(options, name)
            if value is not None and (name, value) != ("summary", "none"):
                raise ConfigurationError(f"{name}={value!r}: {model.id} does not think and refuses it; leave it out")
        return
    for name, values in refused_options(model).items():
        if (value := getattr(options, name)) in values:
            raise ConfigurationError(f"{name}={value!r}: {model.id} does not take it; use another, or leave it out")
    stated = model.thinking is not None and is_settled(model, "levels", "mode", "native")
    words = [native_word(control, level) for level in control.levels]
    # Whether Azure takes the highest effort is not known.
    if options.effort is None or not stated or options.effort in words or (model.provider, options.effort) == _OPEN:
        return
    use = ", ".join(map(repr, words)) or "none at all"
    raise ConfigurationError(f"effort={options.effort!r}: {model.id} does not take it; use {use}")


_OPEN = ("azure", "max")


# what is shown


def _summary(call: Call, options: OpenAIResponsesOptions, wish: _Wish, notices: list[Notice]) -> str | None:
    if options.summary is not None:
        if options.summary != "none" and wish.level is OFF:
            text = "no thinking is asked for, so none can be shown"
            notices.append(Notice("display_ignored", text, "options.summary", {"asked": options.summary}))
            return None
        return None if options.summary == "none" else options.summary
    if call.display == "omitted":
        return None
    if call.display == "summarized" and not wish.thinks:
        text = "no thinking is asked for, so none can be shown"
        notices.append(Notice("display_ignored", text, "display", {"asked": call.display}))
        return None
    return "auto" if wish.visible or call.display == "summarized" else None
