"""What each vendor's models at Bedrock take and refuse, by the longest matching prefix of their ids.

Claude's own facts are those of the Messages API; only what Converse adds is here. Each vendor has another field for
effort, and an unknown one is refused: a model that no row knows is sent none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from attrs import evolve, frozen

from thinkaloud.jsontext import Json
from thinkaloud.levels import ThinkingLevel
from thinkaloud.models.bedrock_ids import bare_id, is_claude
from thinkaloud.models.model import Model, ThinkingControl

_OFF, _MINIMAL, _LOW, _MEDIUM, _HIGH, _XHIGH, _MAX = ThinkingLevel

Fields = Callable[[str], dict[str, Json]]
Effort = Literal["reasoning_effort", "reasoning_config", "reasoning", "nova"]


def _nova_effort(word: str) -> dict[str, Json]:
    if word == "disabled":
        return {"reasoningConfig": {"type": "disabled"}}
    return {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": word}}


# Where a vendor's word for effort goes in the model's own fields.
_EFFORTS: dict[Effort, Fields] = {
    "reasoning_effort": lambda word: {"reasoning_effort": word},
    "reasoning_config": lambda word: {"reasoning_config": word},
    "reasoning": lambda word: {"reasoning": {"effort": word}},
    "nova": _nova_effort,
}
# The same, as a model's own facts name the place.
_PLACES: dict[str, Effort] = {
    "additionalModelRequestFields.reasoning_effort": "reasoning_effort",
    "additionalModelRequestFields.reasoning_config": "reasoning_config",
    "additionalModelRequestFields.reasoning.effort": "reasoning",
    "additionalModelRequestFields.reasoningConfig.maxReasoningEffort": "nova",
}


@frozen(kw_only=True)
class Family:
    """How models of a family are asked.

    claude: asked as the Messages API asks.
    control: the levels and their words; None: nothing is known to steer thinking.
    effort: where the word goes; None: nowhere.
    sampling: temperature and top_p are accepted.
    top_k: where it goes among the model's own fields; None: the model has none.
    cache: cache points are accepted; "points" without a time of their own.
    results_alone: a turn with results of tools holds nothing else.
    status: a result may say that it is an error.
    full_at_high: at the highest effort the output limit and sampling are refused.
    """

    claude: bool = False
    control: ThinkingControl | None = None
    effort: Effort | None = None
    sampling: bool = True
    top_k: Literal["top_k", "nova"] | None = None
    cache: Literal["no", "points", "timed"] = "no"
    results_alone: bool = False
    status: bool = True
    full_at_high: bool = False

    def effort_fields(self, word: str) -> dict[str, Json]:
        """The model's own fields for a word of effort; {} where there are none."""
        return {} if self.effort is None else _EFFORTS[self.effort](word)

    def top_k_fields(self, top_k: int) -> dict[str, Json]:
        """The model's own fields for top_k; {} where there are none."""
        if self.top_k is None:
            return {}
        return {"top_k": top_k} if self.top_k == "top_k" else {"inferenceConfig": {"topK": top_k}}


def _control(*levels: ThinkingLevel, off: str | None = None, default_on: bool = True) -> ThinkingControl:
    native: dict[ThinkingLevel, str | int] = {level: level.value for level in levels}
    if off is not None:
        native[_OFF] = off
    return ThinkingControl(mode="effort", levels=tuple(sorted(native)), native=native, default_on=default_on)


_ALWAYS = ThinkingControl(mode="always_on", default_on=True)
_UNKNOWN = Family()

_CLAUDE = Family(claude=True, top_k="top_k", cache="timed")
_NOVA = Family(top_k="nova", cache="points")
_GPT = Family(control=_control(_LOW, _MEDIUM, _HIGH, _XHIGH, off="none"), effort="reasoning", sampling=False)
_GPT_ALWAYS = evolve(_GPT, control=_control(_LOW, _MEDIUM, _HIGH, _XHIGH))
_GROK = Family(control=_control(_LOW, _MEDIUM, _HIGH, _XHIGH), effort="reasoning")
# Of their words only the highest makes them reason.
_ON_OR_OFF = _control(_HIGH, off="none", default_on=False)
_PLAIN_RESULTS = Family(results_alone=True)

_FAMILIES = {
    "amazon.nova": _NOVA,
    "amazon.nova-2": evolve(
        _NOVA,
        control=_control(_LOW, _MEDIUM, _HIGH, off="disabled", default_on=False),
        effort="nova",
        full_at_high=True,
    ),
    "deepseek.r1": Family(control=_ALWAYS),
    "deepseek.v3": Family(control=_ON_OR_OFF, effort="reasoning_effort"),
    "meta.llama": _PLAIN_RESULTS,
    "minimax.": Family(control=_ALWAYS),
    "mistral.": _PLAIN_RESULTS,
    "moonshot.kimi": Family(control=_control(_LOW, _MEDIUM, _HIGH), effort="reasoning_effort"),
    "moonshotai.kimi": Family(control=_control(_LOW, _MEDIUM, _HIGH), effort="reasoning_effort"),
    "openai.gpt-5": _GPT,
    "openai.gpt-6": _GPT,
    "openai.gpt-6-astra": _GPT_ALWAYS,
    "openai.gpt-6.1-sol": _GPT_ALWAYS,
    "openai.gpt-6.2": _GPT_ALWAYS,
    "openai.gpt-oss": Family(control=_control(_LOW, _MEDIUM, _HIGH), effort="reasoning_effort"),
    "qwen.qwen3": Family(control=_ON_OR_OFF, effort="reasoning_config"),
    "qwen.qwen3-coder": _UNKNOWN,
    "writer.": evolve(_PLAIN_RESULTS, status=False),
    "xai.grok": _GROK,
    "xai.grok-4.6": evolve(_GROK, sampling=False),
    "xai.grok-4.7": evolve(_GROK, sampling=False),
    "zai.glm": Family(control=_ON_OR_OFF, effort="reasoning_effort"),
    "zai.glm-5.3": Family(control=_control(_LOW, _MEDIUM, _HIGH, _XHIGH, _MAX), effort="reasoning_effort"),
}
_LONGEST_FIRST = sorted(_FAMILIES, key=len, reverse=True)


def family_of(model: Model) -> Family:
    """The facts for a model: its own control where it is known, and the place where it says that its words go."""
    id = model.facts_id
    if is_claude(id):
        return _CLAUDE
    bare = bare_id(id)
    family = next((_FAMILIES[prefix] for prefix in _LONGEST_FIRST if bare.startswith(prefix)), _UNKNOWN)
    own = model.thinking
    if family is _UNKNOWN and own is not None and own.mode in ("adaptive", "budget"):
        return _CLAUDE  # only Claude thinks so here: a deployment under a name of its own
    effort = family.effort if own is None or own.param is None else _PLACES.get(own.param, family.effort)
    return evolve(family, control=own or family.control, effort=effort)


def is_hidden(model: Model) -> bool:
    """Whether the id tells nothing of the model: an ARN of one's own."""
    return not bare_id(model.facts_id)
