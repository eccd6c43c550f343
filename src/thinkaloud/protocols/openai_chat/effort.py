"""From what a call asks of thinking to the fields that say it: one small function for each shape of endpoint.

Native options win over the neutral level; the neutral level is clamped by the one rule of the ladder, and gives way to
what does not go with thinking. Whatever differs from what was asked is told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import evolve, frozen

from thinkaloud.errors import ConfigurationError, UnsupportedOption
from thinkaloud.jsontext import Json
from thinkaloud.levels import ThinkingLevel
from thinkaloud.models.model import ThinkingControl
from thinkaloud.notices import Notice
from thinkaloud.protocols.base import Call
from thinkaloud.protocols.level_choice import is_settled, level_to_send, overridden, turned_off
from thinkaloud.protocols.openai_chat.clashes import Clash, forced_call, functions
from thinkaloud.protocols.openai_chat.families import OPENAI_HOSTS, is_openai, thinking_control
from thinkaloud.protocols.openai_chat.options import OpenAIChatOptions

OFF, MINIMAL, LOW, MEDIUM, HIGH, XHIGH, MAX = ThinkingLevel

_Fields = dict[str, Json]


@frozen
class Effort:
    """How a call asks for thinking.

    fields: what goes into the body.
    level: the neutral level that was sent; None: nothing was.
    thinks: the model will think, as far as is known.
    """

    fields: _Fields
    level: ThinkingLevel | None
    thinks: bool
    notices: tuple[Notice, ...] = ()


def effort(call: Call) -> Effort:
    """Decide everything about thinking in a request. Pure.

    Raises ConfigurationError for native options that the model is known to refuse, and for a call whose other parts do
    not go with thinking that cannot be turned off.
    """
    options = call.options if isinstance(call.options, OpenAIChatOptions) else OpenAIChatOptions()
    _refuse_foreign(call, options)
    control = thinking_control(call.model, call.dialect)
    clash = forced_call(call) or functions(call)
    asked = _native(call, options, control, clash) if options.says_thinking else _neutral(call, control, clash)
    return evolve(asked, fields={**_beside(call, options, control, asked.level), **asked.fields})


def _refuse_foreign(call: Call, options: OpenAIChatOptions) -> None:
    """OpenAI and Azure refuse fields that they do not know."""
    if call.model.provider not in OPENAI_HOSTS:
        return
    for name in ("reasoning", "thinking", "reasoning_format"):
        if getattr(options, name) is not None:
            raise UnsupportedOption(f"{name}: {call.model.provider} does not know it; use effort instead")


def _beside(
    call: Call, options: OpenAIChatOptions, control: ThinkingControl | None, level: ThinkingLevel | None
) -> _Fields:
    """What an endpoint needs besides, so that thinking comes and stays apart from the text."""
    fields: _Fields = {}
    if control is not None and level is not OFF:
        fields.update(call.dialect.thinking_fields)
    if options.reasoning_format is not None:
        fields["reasoning_format"] = options.reasoning_format
    return fields


# the neutral level


def _neutral(call: Call, control: ThinkingControl | None, clash: Clash | None) -> Effort:
    """The level that was asked for, clamped; it gives way to what does not go with thinking.

    Where nothing was asked of thinking, or too little is known to refuse the call, the endpoint is asked.
    """
    chosen = level_to_send(call.reasoning, control)
    thinks = control is not None and (control.default_on if chosen.level is None else chosen.level is not OFF)
    asked = Effort(_fields(call, control, chosen.level), chosen.level, thinks, chosen.notices)
    if not thinks or control is None or clash is None:
        return asked
    if control.can_disable:
        return Effort(_fields(call, control, OFF), OFF, False, (turned_off(call.reasoning, clash.why),))
    if not clash.refused:
        return evolve(asked, notices=(*asked.notices, _left_out(clash)))
    if call.reasoning is not None and is_settled(call.model, "levels", "can_disable", "mode"):
        raise ConfigurationError(f"{clash.why}, and it cannot be turned off; {clash.fix}")
    return asked


def _fields(call: Call, control: ThinkingControl | None, level: ThinkingLevel | None) -> _Fields:
    if control is None or level is None:
        return {}
    return _SHAPES[call.dialect.effort](_Wish(call, control, level))


# native options


def _native(call: Call, options: OpenAIChatOptions, control: ThinkingControl | None, clash: Clash | None) -> Effort:
    """The caller's own words, sent as they are."""
    switch = dict(options.thinking or {})
    reasoning = dict(options.reasoning or {})
    if options.effort is not None:
        _refuse_effort(call, options.effort, control)
    word = options.effort or reasoning.get("effort")
    off = word == "none" or reasoning.get("enabled") is False or switch.get("type") == "disabled"
    if options.switches_alone and not off and call.reasoning not in (None, OFF):
        beside = level_to_send(call.reasoning, control)  # a switch leaves open how much
        fields, level, notices = _fields(call, control, beside.level), beside.level, beside.notices
    else:
        fields, level = {}, OFF if off else _LEVELS.get(word) if isinstance(word, str) else None
        notices = overridden(call.reasoning, level)
    if options.effort is not None:
        fields["reasoning_effort"] = options.effort
    if options.budget is not None:
        fields |= _budget(call, options.budget)
    fields |= {name: value for name, value in (("thinking", switch), ("reasoning", reasoning)) if value}
    if off or clash is None:
        return Effort(fields, level, not off, notices)
    if clash.refused:
        raise ConfigurationError(f"options: {clash.why}; {clash.fix}, or turn thinking off")
    return Effort(fields, level, True, (*notices, _left_out(clash)))


def _left_out(clash: Clash) -> Notice:
    return Notice("thinking_left_out", f"the endpoint answers without thinking: {clash.why}", "reasoning")


_LEVELS = {level.value: level for level in ThinkingLevel if level is not OFF}


def _refuse_effort(call: Call, word: str, control: ThinkingControl | None) -> None:
    """Of OpenAI's models all words are known; of others only those that a level stands for."""
    if not is_openai(call.model):
        return
    if control is None:
        raise ConfigurationError(f"effort={word!r}: {call.model.id} does not think and refuses it; leave it out")
    stated = call.model.thinking is not None and is_settled(call.model, "levels", "mode", "native")
    words = [native_word(control, level) for level in control.levels]
    if stated and word not in words:
        use = ", ".join(map(repr, words)) or "none at all"
        raise ConfigurationError(f"effort={word!r}: {call.model.id} does not take it here; use {use}")


def _budget(call: Call, tokens: int) -> _Fields:
    shape = _BUDGETS.get(call.dialect.effort)
    if shape is None or call.model.provider == "sglang":
        raise UnsupportedOption(f"budget={tokens}: this endpoint takes no tokens of thinking; use effort instead")
    return shape(tokens)


_BUDGETS: dict[str, Callable[[int], _Fields]] = {
    "openrouter": lambda tokens: {"reasoning": {"max_tokens": tokens}},
    "qwen": lambda tokens: {"enable_thinking": True, "thinking_budget": tokens},
    "template": lambda tokens: {"thinking_token_budget": tokens},
}


# the shapes

# Fields of a request whose words chat completions and Responses share; what stands elsewhere is no word for them.
_WORDS = ("reasoning_effort", "reasoning.effort")


def native_word(control: ThinkingControl, level: ThinkingLevel) -> str:
    """The word of effort for a level: the model's own, where it is known for this field."""
    place = control.off_param if level is OFF else control.param
    native = control.native.get(level)
    if isinstance(native, str) and (place is None or place.startswith(_WORDS)):
        return native
    return "none" if level is OFF else level.value


@frozen
class _Wish:
    """The level to be sent, with what is known of the model."""

    call: Call
    control: ThinkingControl
    sent: ThinkingLevel

    @property
    def on(self) -> bool:
        return self.sent is not OFF

    @property
    def switches(self) -> bool:
        """There is a switch, and nothing to say how much."""
        return self.control.mode in ("toggle", "always_on")

    @property
    def word(self) -> Json:
        return native_word(self.control, self.sent)

    @property
    def model(self) -> str:
        return self.call.model.facts_id.lower()


def _reasoning_effort(wish: _Wish) -> _Fields:
    """Switches are of this field too: Cerebras has put its `disable_reasoning` away (and is seen to take "none")."""
    if wish.switches and wish.on and wish.control.default_on:
        return {}
    return {"reasoning_effort": wish.word}


def _openrouter(wish: _Wish) -> _Fields:
    return {"reasoning": {"enabled": wish.on} if wish.switches else {"effort": wish.word}}


def _deepseek(wish: _Wish) -> _Fields:
    """DeepSeek and Z.ai: a switch, and the effort beside it."""
    if not wish.on:
        return {"thinking": {"type": "disabled"}}
    switch: _Fields = {"thinking": {"type": "enabled"}}
    return switch if wish.switches else {**switch, "reasoning_effort": wish.word}


def _moonshot(wish: _Wish) -> _Fields:
    if wish.switches or not wish.on:
        return {"thinking": {"type": "enabled" if wish.on else "disabled"}}
    return {"reasoning_effort": wish.word}


# Tokens of thinking. `xhigh` has no bound but the model's own.
_QWEN_BUDGETS: Mapping[ThinkingLevel, int] = {MINIMAL: 1024, LOW: 2048, MEDIUM: 8192, HIGH: 16384}


def _qwen(wish: _Wish) -> _Fields:
    """Tokens of thinking stand apart from `max_tokens` here, so they take no room from the answer."""
    if not wish.on:
        return {"enable_thinking": False}
    if wish.control.mode == "effort":
        return {"reasoning_effort": wish.word}
    native = wish.control.native.get(wish.sent)
    budget = native if isinstance(native, int) and not isinstance(native, bool) else _QWEN_BUDGETS.get(wish.sent)
    if wish.switches or budget is None:
        return {"enable_thinking": True}
    return {"enable_thinking": True, "thinking_budget": budget}


def _together(wish: _Wish) -> _Fields:
    if wish.on and not wish.switches:
        return {"reasoning_effort": wish.word}
    return {"reasoning": {"enabled": wish.on}}


def _groq(wish: _Wish) -> _Fields:
    fields: _Fields = {"reasoning_effort": wish.word}
    hidden = wish.call.reasoning is OFF and wish.on
    return {**fields, "include_reasoning": False} if hidden and "gpt-oss" in wish.model else fields


# Chat templates that call their switch otherwise than `enable_thinking`.
_THINKING_TEMPLATES = ("deepseek", "granite", "holo2")


def _template(wish: _Wish) -> _Fields:
    if not wish.switches:
        return {"reasoning_effort": wish.word}
    name = "thinking" if any(family in wish.model for family in _THINKING_TEMPLATES) else "enable_thinking"
    return {"chat_template_kwargs": {name: wish.on}}


_SHAPES: dict[str, Callable[[_Wish], _Fields]] = {
    "reasoning_effort": _reasoning_effort,
    "openrouter": _openrouter,
    "deepseek": _deepseek,
    "zai": _deepseek,
    "moonshot": _moonshot,
    "qwen": _qwen,
    "together": _together,
    "groq": _groq,
    "template": _template,
}
