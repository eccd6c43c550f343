"""How each family of models is steered on chat completions, where nothing better is known of a model.

What is known of the model decides; else its family, by name; else its endpoint's dialect. All three are of one shape.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from attrs import evolve

from thinkaloud.levels import ThinkingLevel
from thinkaloud.models.dialect import Dialect
from thinkaloud.models.model import Model, ThinkingControl

OFF, MINIMAL, LOW, MEDIUM, HIGH, XHIGH, MAX = ThinkingLevel

# Who serves OpenAI's own models by OpenAI's own rules.
OPENAI_HOSTS = frozenset({"openai", "azure"})
_OPENAI_IDS = re.compile(r"(gpt-\d|o\d|chatgpt-|chat-latest)")
_NO_STOP = re.compile(r"o[3-9]|gpt-[5-9]")

# How an endpoint is steered where the family of the model is not known either. The others take words.
_MODES: dict[str, Any] = {"zai": "toggle", "template": "toggle", "together": "toggle", "qwen": "budget"}


def is_openai(model: Model) -> bool:
    """Whether a model is OpenAI's own, at a host that keeps OpenAI's rules."""
    return model.provider in OPENAI_HOSTS and _OPENAI_IDS.match(model.facts_id.lower()) is not None


def refuses_stop(model: Model) -> bool:
    """Whether a model takes no stop texts while it thinks (in the words of OpenAI and xAI)."""
    if model.provider == "xai":
        return True
    return is_openai(model) and _NO_STOP.match(model.facts_id.lower()) is not None


def thinking_control(model: Model, dialect: Dialect) -> ThinkingControl | None:
    """How the model is steered on this protocol; None: it does not think."""
    if model.reasoning is False:
        return None
    control = model.thinking
    if control is None:
        control = _of_family(model.facts_id.lower(), dialect)
    if control is _NEVER:
        return _ALWAYS if model.reasoning else None
    if dialect.effort == "none":
        return evolve(control, levels=())
    if is_openai(model) and MAX in control.levels:
        # The highest effort is a thing of Responses; chat refuses it (seen at OpenAI).
        return evolve(control, levels=tuple(level for level in control.levels if level is not MAX))
    return control


def _of_family(id: str, dialect: Dialect) -> ThinkingControl:
    shape = dialect.effort
    for shapes, pattern, control in _FAMILIES:
        if (not shapes or shape in shapes) and pattern.search(id):
            return control
    return ThinkingControl(mode=_MODES.get(shape, "effort"), levels=dialect.levels)


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
    _row("reasoning_effort", r"^gpt-\d", _words(OFF, LOW, MEDIUM, HIGH, XHIGH)),
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
