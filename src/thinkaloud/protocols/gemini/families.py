"""What each family of models on this wire takes and refuses, by the longest matching prefix of its id.

These are facts for requests only, for what is not known of a model itself. Its own `ThinkingControl`, where it is
known, wins over its family's, and is of the same shape.
"""

from __future__ import annotations

import re

from attrs import evolve, frozen

from thinkaloud.levels import ThinkingLevel
from thinkaloud.models.dialect import Dialect
from thinkaloud.models.model import Model, ThinkingControl
from thinkaloud.protocols.level_choice import is_settled

_OFF, _MINIMAL, _LOW, _MEDIUM, _HIGH, _XHIGH, _MAX = ThinkingLevel


@frozen(kw_only=True)
class Family:
    """How models of a family are asked.

    control: how thinking is steered; None: the model cannot think, and refuses to be asked.
    known: the control is known well enough to refuse what is not in it; else the server judges.
    max_output: tokens; None: unknown.
    signs_calls: the first call of each turn must have a signature.
    result_media: results of tools may hold images and documents.
    joins_tools: server-run tools go together with functions.
    system: there is a place for system text.
    """

    control: ThinkingControl | None
    known: bool = True
    max_output: int | None = None
    signs_calls: bool = True
    result_media: bool = True
    joins_tools: bool = True
    system: bool = True


def _levels(*levels: ThinkingLevel) -> ThinkingControl:
    native: dict[ThinkingLevel, str | int] = {level: level.value.upper() for level in levels}
    return ThinkingControl(mode="level", levels=levels, native=native, default_on=True)


def _budgets(smallest: int, largest: int, *, off: bool = True, default_on: bool = True) -> ThinkingControl:
    native: dict[ThinkingLevel, str | int] = {_OFF: 0} if off else {}
    native |= {_MINIMAL: max(smallest, 128), _LOW: 2048, _MEDIUM: 8192, _HIGH: largest}
    return ThinkingControl(
        mode="budget",
        levels=tuple(native),
        native=native,
        min_budget=smallest,
        max_budget=largest,
        dynamic_budget=-1,
        default_on=default_on,
    )


_TO_HIGH = _levels(_LOW, _MEDIUM, _HIGH)
_NEWEST = Family(control=_TO_HIGH)
_WITH_MINIMAL = Family(control=_levels(_MINIMAL, _LOW, _MEDIUM, _HIGH))
_WITH_XHIGH = Family(control=_levels(_LOW, _MEDIUM, _HIGH, _XHIGH))
_IMAGE = Family(control=_levels(_MINIMAL, _HIGH), signs_calls=False)
_2_5 = Family(control=_budgets(1, 24_576), max_output=65_536, signs_calls=False, result_media=False, joins_tools=False)
_WITHOUT_THINKING = evolve(_2_5, control=None, max_output=None)
_GEMMA = evolve(_WITHOUT_THINKING, system=False)

# Names that tell nothing, such as those of deployments: levels go as they are asked, as far as this wire has words for
# them, and nothing is refused beforehand.
_AS_ASKED = evolve(
    _levels(_MINIMAL, _LOW, _MEDIUM, _HIGH, _XHIGH),
    levels=(_OFF, _MINIMAL, _LOW, _MEDIUM, _HIGH, _XHIGH),
    native={_OFF: 0} | {level: level.value.upper() for level in (_MINIMAL, _LOW, _MEDIUM, _HIGH, _XHIGH)},
)
_UNKNOWN = evolve(_NEWEST, control=_AS_ASKED, known=False, signs_calls=False)

_FAMILIES = {
    "gemini-4-neon": _WITH_XHIGH,
    "gemini-4-hydrogen": _WITH_XHIGH,
    "gemini-4-carbon": _NEWEST,
    "gemini-4-argon": _NEWEST,
    "gemini-3.8-flash": _NEWEST,
    "gemini-3.7-flash": _NEWEST,
    "gemini-3.6-flash": _WITH_MINIMAL,
    "gemini-3.5-flash": _WITH_MINIMAL,
    "gemini-3.1-flash-lite": _WITH_MINIMAL,
    "gemini-3.1-flash-lite-image": _IMAGE,
    "gemini-3.1-flash-image": _IMAGE,
    "gemini-3.1-pro": _NEWEST,
    "gemini-3-flash": _WITH_MINIMAL,
    "gemini-3-pro": Family(control=_levels(_LOW, _HIGH)),
    "gemini-3-pro-image": evolve(_NEWEST, signs_calls=False),
    "gemini-2.5-pro": evolve(_2_5, control=_budgets(128, 32_768, off=False)),
    "gemini-2.5-flash": _2_5,
    "gemini-2.5-flash-lite": evolve(_2_5, control=_budgets(512, 24_576, default_on=False)),
    "gemini-2.5-flash-image": _WITHOUT_THINKING,
    "gemini-2.5": _2_5,
    "gemini-2.0": _WITHOUT_THINKING,
    "gemini-1": _WITHOUT_THINKING,
    "gemini-flash-lite-latest": _WITH_MINIMAL,
    "gemini-flash-latest": _NEWEST,
    "gemini-pro-latest": _NEWEST,
    "gemini-robotics-er-2": _WITH_MINIMAL,
    "gemma-4": evolve(_GEMMA, control=_levels(_MINIMAL, _HIGH)),
    "gemma-": _GEMMA,
}
# Where Vertex AI takes more than the Developer API (seen at both).
_VERTEX = {
    "gemini-3.1-pro": evolve(
        _NEWEST,
        control=evolve(
            _TO_HIGH,
            levels=(_OFF, _LOW, _MEDIUM, _HIGH),
            native={_OFF: 0, _LOW: "LOW", _MEDIUM: "MEDIUM", _HIGH: "HIGH"},
        ),
    ),
    "gemini-3.1-flash-image": evolve(_WITH_MINIMAL, signs_calls=False),
}
_LONGEST_FIRST = sorted(_FAMILIES, key=len, reverse=True)
_GENERATION = re.compile(r"gemini-(\d+)")


def family_of(model: Model) -> Family:
    """The facts for a model, with its own in place where they are known."""
    family = _by_id(model.facts_id, model.provider)
    if model.thinking is not None:
        family = evolve(family, control=model.thinking, known=is_settled(model, "levels", "mode", *_BOUNDS))
    elif family.control is None and model.reasoning:
        family = evolve(family, control=_ALWAYS, known=False)
    if model.max_output is not None and "max_output" not in model.unsure:
        family = evolve(family, max_output=model.max_output)
    return (
        family if model.reasoning is not False else evolve(family, control=None, known="reasoning" not in model.unsure)
    )


_ALWAYS = ThinkingControl(mode="always_on", default_on=True)
_BOUNDS = ("budget", "min_budget", "max_budget")


def thinking_control(model: Model, dialect: Dialect) -> ThinkingControl | None:
    """How the model is steered on this protocol; None: it does not think."""
    return family_of(model).control


def _by_id(id: str, provider: str) -> Family:
    bare = id.rpartition("/")[2]
    for prefix in _LONGEST_FIRST:
        if bare.startswith(prefix):
            return _VERTEX.get(prefix, _FAMILIES[prefix]) if provider == "google-vertex" else _FAMILIES[prefix]
    generation = _GENERATION.match(bare)
    if generation and int(generation[1]) >= 3:
        return evolve(_NEWEST, known=False)
    return _UNKNOWN
