"""What each family of models takes on the Responses API, by the beginning of its id.

What is known of a model decides; else its family; else what its endpoint takes on chat completions, since the words of
the two protocols are the same.
"""

from __future__ import annotations

import re

from attrs import evolve

from thinkaloud.levels import ThinkingLevel
from thinkaloud.models.dialect import Dialect
from thinkaloud.models.model import Model, ThinkingControl
from thinkaloud.protocols.openai_chat.families import OPENAI_HOSTS
from thinkaloud.protocols.openai_chat.families import thinking_control as control_on_chat

OFF, MINIMAL, LOW, MEDIUM, HIGH, XHIGH, MAX = ThinkingLevel


def thinking_control(model: Model, dialect: Dialect) -> ThinkingControl | None:
    """How the model is steered on this protocol; None: it does not think."""
    if model.reasoning is False:
        return None
    if model.thinking is not None:
        return model.thinking
    family = openai_family(model.facts_id)
    if family is None:
        return control_on_chat(model, dialect)
    if family is _NEVER:
        return evolve(_NEVER, default_on=True) if model.reasoning else None
    if model.provider != "openai" and MAX in family.levels:
        # Nobody else is known to take the highest level.
        return evolve(family, levels=tuple(level for level in family.levels if level is not MAX))
    return family


def openai_family(id: str) -> ThinkingControl | None:
    """What a model of OpenAI's takes on this protocol, by its id; None for a model of others."""
    return next((control for pattern, control in _FAMILIES if pattern.match(_bare(id))), None)


def refused_options(model: Model) -> dict[str, tuple[str, ...]]:
    """The values of native options that a model of OpenAI's is known to refuse, by the name of the option."""
    if model.provider not in OPENAI_HOSTS:
        return {}
    id = _bare(model.facts_id)
    return {name: values for name, values, pattern in _REFUSED if pattern.match(id)}


def _bare(id: str) -> str:
    return id.lower().rpartition("/")[2].removeprefix("openai.")


# Option, values, and the models that refuse them, in OpenAI's own words of each parameter.
_REFUSED: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = tuple(
    (name, values, re.compile(pattern))
    for name, values, pattern in (
        ("summary", ("concise",), r"o\d|gpt-5(-|$)"),
        ("context", ("all_turns",), r"o\d|gpt-5(-|$|\.[1-3])"),
        ("mode", ("standard", "pro"), r"o\d|gpt-5(-|$|\.[1-5])"),
    )
)


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
        (r"gpt-\d", _words(OFF, LOW, MEDIUM, HIGH, XHIGH, MAX)),
    )
)
