"""From a thinking level to the fields that say it: one small function for each shape, and the level sets as a table.

What is known of the model decides; else its family, by name; else its endpoint's dialect. The level is clamped by the
one rule of the ladder, and whatever differs from what was asked is told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen

from thinkaloud.jsontext import Json
from thinkaloud.levels import ThinkingLevel, clamp_level
from thinkaloud.models.model import ThinkingControl
from thinkaloud.notices import Notice
from thinkaloud.protocols.base import Call
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
    """Decide everything about thinking in a request."""
    options = call.options if isinstance(call.options, OpenAIChatOptions) else OpenAIChatOptions()
    control = control_of(call)
    if options.effort is not None or options.reasoning is not None:
        return _native(call, options)
    asked = call.reasoning
    default_on = control.default_on and call.model.reasoning is not False
    if asked is None:
        return Effort({}, None, default_on)
    sent = (
        None if call.model.reasoning is False or call.dialect.effort == "none" else clamp_level(asked, control.levels)
    )
    if sent is None:
        text = "the thinking of this model cannot be steered here; nothing was sent"
        ignored = Notice("level_ignored", text, "reasoning", {"asked": asked.value})
        return Effort({}, None, default_on, () if asked is OFF and not default_on else (ignored,))
    notices: tuple[Notice, ...] = ()
    if sent is not asked:
        text = f"this model has no level {asked.value!r}; {sent.value!r} was sent in its place"
        notices = (Notice("level_clamped", text, "reasoning", {"asked": asked.value, "sent": sent.value}),)
    fields = {} if control.mode == "always_on" else _SHAPES[call.dialect.effort](_Wish(call, control, asked, sent))
    return Effort(fields, sent, sent is not OFF, notices)


def _native(call: Call, options: OpenAIChatOptions) -> Effort:
    """The caller's own words, sent as they are."""
    fields: _Fields = {}
    if options.effort is not None:
        fields["reasoning_effort"] = options.effort
    reasoning = dict(options.reasoning or {})
    if reasoning:
        fields["reasoning"] = reasoning
    word = options.effort or reasoning.get("effort")
    off = word == "none" or reasoning.get("enabled") is False
    level = OFF if off else _LEVELS.get(word) if isinstance(word, str) else None
    notices: tuple[Notice, ...] = ()
    if call.reasoning is not None and call.reasoning is not level:
        text = "the options of the protocol say otherwise, and they win"
        notices = (Notice("level_overridden", text, "reasoning", {"asked": call.reasoning.value}),)
    return Effort(fields, level, not off, notices)


_LEVELS = {level.value: level for level in ThinkingLevel if level is not OFF}


# the shapes


@frozen
class _Wish:
    """A level that was asked for and the one to be sent, with what is known of the model."""

    call: Call
    control: ThinkingControl
    asked: ThinkingLevel
    sent: ThinkingLevel

    @property
    def on(self) -> bool:
        return self.sent is not OFF

    @property
    def toggles(self) -> bool:
        return self.control.mode == "toggle"

    @property
    def word(self) -> Json:
        """The native word of the level."""
        return self.control.native.get(self.sent, self.sent.value if self.on else "none")

    @property
    def model(self) -> str:
        return self.call.model.facts_id.lower()


def _reasoning_effort(wish: _Wish) -> _Fields:
    if wish.toggles:  # such models think unless they are told not to
        return {} if wish.on else {"reasoning_effort": "none"}
    return {"reasoning_effort": wish.word}


def _openrouter(wish: _Wish) -> _Fields:
    return {"reasoning": {"enabled": wish.on} if wish.toggles else {"effort": wish.word}}


def _deepseek(wish: _Wish) -> _Fields:
    """DeepSeek and Z.ai: a switch, and the effort beside it."""
    if not wish.on:
        return {"thinking": {"type": "disabled"}}
    switch: _Fields = {"thinking": {"type": "enabled"}}
    return switch if wish.toggles else {**switch, "reasoning_effort": wish.word}


def _moonshot(wish: _Wish) -> _Fields:
    if wish.toggles:
        return {"thinking": {"type": "enabled" if wish.on else "disabled"}}
    return {"reasoning_effort": wish.word}


# Tokens of thinking. `xhigh` has no bound but the model's own.
_QWEN_BUDGETS: Mapping[ThinkingLevel, int] = {MINIMAL: 1024, LOW: 2048, MEDIUM: 8192, HIGH: 16384}


def _qwen(wish: _Wish) -> _Fields:
    if wish.control.mode == "effort" and wish.on:
        return {"reasoning_effort": wish.word}
    if not wish.on:
        return {"enable_thinking": False}
    budget = wish.control.native.get(wish.sent, _QWEN_BUDGETS.get(wish.sent))
    if wish.toggles or budget is None:
        return {"enable_thinking": True}
    return {"enable_thinking": True, "thinking_budget": budget}


def _together(wish: _Wish) -> _Fields:
    if wish.on and not wish.toggles:
        return {"reasoning_effort": wish.word}
    return {"reasoning": {"enabled": wish.on}}


def _groq(wish: _Wish) -> _Fields:
    fields: _Fields = {"reasoning_effort": wish.word}
    if "gpt-oss" in wish.model:  # cannot be turned off, only hidden
        return {**fields, "include_reasoning": False} if wish.asked is OFF else fields
    return {**fields, "reasoning_format": "parsed"} if wish.on else fields


# Chat templates that call their switch otherwise than `enable_thinking`.
_THINKING_TEMPLATES = ("deepseek", "granite", "holo2")


def _template(wish: _Wish) -> _Fields:
    if not wish.toggles:
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

# How an endpoint is steered where the family of the model is not known either. The others take words.
_MODES: dict[str, Any] = {"zai": "toggle", "template": "toggle", "together": "toggle", "qwen": "budget"}


# the level sets


def control_of(call: Call) -> ThinkingControl:
    """How the model is steered: as known of it, else as of its family, else as of its endpoint."""
    if call.model.thinking is not None:
        return call.model.thinking
    shape, id = call.dialect.effort, call.model.facts_id.lower()
    for shapes, pattern, control in _FAMILIES:
        if (not shapes or shape in shapes) and pattern.search(id):
            return control
    return ThinkingControl(mode=_MODES.get(shape, "effort"), levels=call.dialect.levels)


def _words(
    *levels: ThinkingLevel, on: bool = True, native: Mapping[ThinkingLevel, str] | None = None
) -> ThinkingControl:
    return ThinkingControl(mode="effort", levels=levels, native=native or {}, default_on=on)


_SWITCH = ThinkingControl(mode="toggle", levels=(OFF, HIGH), default_on=True)
_ALWAYS = ThinkingControl(mode="always_on", default_on=True)
_NEVER = ThinkingControl(mode="always_on")  # nothing to steer, because it does not think

_Row = tuple[frozenset[str], re.Pattern[str], ThinkingControl]


def _row(shapes: str, pattern: str, control: ThinkingControl) -> _Row:
    return frozenset(shapes.split()), re.compile(pattern), control


# Shape of the dialect (none: any that takes words), pattern of the model's id, and what it takes. First match wins.
_FAMILIES: tuple[_Row, ...] = (
    _row("reasoning_effort groq together template", "gpt-oss", _words(LOW, MEDIUM, HIGH)),
    # OpenAI
    _row("reasoning_effort", r"^gpt-(3|4|5-chat)", _NEVER),
    _row("reasoning_effort", r"^gpt-5\.\d-chat", _words(MEDIUM)),
    _row("reasoning_effort", r"^o\d", _words(LOW, MEDIUM, HIGH)),
    _row("reasoning_effort", r"^gpt-5(-|$)", _words(MINIMAL, LOW, MEDIUM, HIGH)),
    _row("reasoning_effort", r"^gpt-5\.1", _words(OFF, LOW, MEDIUM, HIGH, on=False)),
    _row("reasoning_effort", r"^gpt-5\.[2-4]", _words(OFF, LOW, MEDIUM, HIGH, XHIGH, on=False)),
    _row("reasoning_effort", r"^gpt-6-astra|^gpt-6\.1-sol|^gpt-6\.2", _words(LOW, MEDIUM, HIGH, XHIGH)),
    _row("reasoning_effort", r"^gpt-[56]", _words(OFF, LOW, MEDIUM, HIGH, XHIGH)),
    # xAI
    _row("reasoning_effort", r"^grok-4\.7", _words(LOW, MEDIUM, HIGH, XHIGH)),
    _row("reasoning_effort", r"^grok-(4\.[56]|build-latest)", _words(LOW, MEDIUM, HIGH)),
    _row("reasoning_effort", r"^grok-3-mini", _words(OFF, LOW, HIGH)),
    _row("reasoning_effort", r"^grok-(4\.3|latest|3(-|$)|4-fast)", _words(OFF, LOW, MEDIUM, HIGH)),
    _row("reasoning_effort", r"^grok-(4\.20-multi)", _words(LOW, MEDIUM, HIGH)),
    _row("reasoning_effort", r"^grok-(4\.20|code|build)", _ALWAYS),
    # Mistral: the dated ones cannot be steered
    _row("reasoning_effort", r"^magistral-.*-250\d", _ALWAYS),
    # Cerebras, and others that serve these models under their own field
    _row("reasoning_effort", r"glm-?5[.-]3|kimi-k3", _words(LOW, HIGH, MAX)),
    _row("reasoning_effort", r"zai-glm-4\.7", _SWITCH),
    _row("reasoning_effort", r"qwen-3\.8", _words(OFF, LOW, MEDIUM, HIGH)),
    _row("reasoning_effort", r"minimax-m2", _words(LOW, MEDIUM, HIGH)),
    # Gemini's OpenAI endpoint
    _row("reasoning_effort", r"^gemini-(2\.5-pro|[3-9])", _words(MINIMAL, LOW, MEDIUM, HIGH)),
    _row("groq", r"qwen3\.8", _words(OFF, LOW, MEDIUM, HIGH)),
    _row("groq", r"qwen", _words(OFF, HIGH, native={HIGH: "default"})),
    _row("deepseek", r"reasoner|-r1", _ALWAYS),
    _row("deepseek", r"deepseek-chat", _NEVER),
    _row("deepseek", r"", _words(OFF, LOW, HIGH, MAX)),
    _row("zai", r"glm-5\.3", _words(LOW, HIGH, MAX)),
    _row("zai", r"glm-5\.2", _words(OFF, MINIMAL, LOW, MEDIUM, HIGH, XHIGH, MAX)),
    _row("moonshot", r"k2\.[56]", _SWITCH),
    _row("moonshot", r"k2\.7|thinking", _ALWAYS),
    _row("moonshot", r"moonshot-v1|kimi-k2", _NEVER),
    _row("moonshot", r"", _words(LOW, HIGH, MAX)),
    _row("together", r"glm-5\.3", _words(LOW, MEDIUM, HIGH, MAX)),
    _row("qwen", r"coder", _NEVER),
    _row("qwen", r"qwq|thinking|3\.8-max", ThinkingControl(mode="budget", levels=(MINIMAL, LOW, MEDIUM, HIGH, XHIGH))),
)
