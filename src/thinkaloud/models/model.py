"""What is known about one model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from attrs import field, frozen

from thinkaloud.checked import Check, each, instance_of, one_of, optional, whole_number
from thinkaloud.levels import ThinkingLevel
from thinkaloud.models.dialect import Dialect
from thinkaloud.models.prices import Prices

InputKind = Literal["text", "image", "pdf", "audio", "video"]
ThinkingMode = Literal["adaptive", "budget", "level", "effort", "toggle", "always_on"]


def _whole(least: int) -> Check:
    def check(owner: Any, attribute: Any, value: Any) -> None:
        whole_number(f"{type(owner).__name__}.{attribute.name}", value, least=least, or_none=True)

    return check


_text = instance_of(str)
_opt_text = optional(_text)
_flag = instance_of(bool)
_tuple = instance_of(tuple)
_level = instance_of(ThinkingLevel)
_levels = [_tuple, each(_level)]


@frozen(kw_only=True)
class ThinkingControl:
    """How a model's thinking is steered.

    mode: "adaptive" (the model decides, an effort word steers it), "budget" (tokens), "level" or "effort" (a word),
        "toggle" (on or off; HIGH stands for on), "always_on" (it thinks, and no control is known).
    levels: the neutral levels that have a native value of their own, in order; OFF only where thinking can really be
        turned off.
    native: level to native value: a word, a budget in tokens, or on and off.
    default_on: the model thinks when the request says nothing.
    min_budget, max_budget: bounds of a token budget.
    dynamic_budget: the budget that lets the model choose.
    budget_accepted: a model steered by effort still takes a token budget.
    effort_levels: the levels whose effort word a model steered by budget also takes.
    effort_cap_when_off: the highest effort that is taken while thinking is off; None: no cap.
    param, off_param: where the native value goes in the request, and where the one of OFF goes, in words.
    """

    mode: ThinkingMode = field(validator=one_of(*get_args(ThinkingMode)))
    levels: tuple[ThinkingLevel, ...] = field(default=(), validator=_levels)
    native: Mapping[ThinkingLevel, str | int | bool] = field(factory=dict, validator=instance_of(Mapping), hash=False)
    default_on: bool = field(default=False, validator=_flag)
    min_budget: int | None = field(default=None, validator=_whole(0))
    max_budget: int | None = field(default=None, validator=_whole(0))
    dynamic_budget: int | None = field(default=None, validator=_whole(-1))
    budget_accepted: bool = field(default=False, validator=_flag)
    effort_levels: tuple[ThinkingLevel, ...] = field(default=(), validator=_levels)
    effort_cap_when_off: ThinkingLevel | None = field(default=None, validator=optional(_level))
    param: str | None = field(default=None, validator=_opt_text)
    off_param: str | None = field(default=None, validator=_opt_text)

    @property
    def can_disable(self) -> bool:
        """Thinking can be turned off."""
        return ThinkingLevel.OFF in self.levels


@frozen
class Model:
    """A model at a provider, as plain data.

    provider: id of a row of the providers table, or a name of your own together with `base_url`.
    id: the model's id as it goes on the wire.
    protocol: wire protocol id; None takes the catalog's, else the provider's.
    base_url: where the endpoint is; None takes the provider's.
    dialect: deviations of an OpenAI-compatible endpoint; None takes the provider's.
    base_model: the model whose facts apply, where `id` is a deployment's own name.

    Facts; None: unknown, or taken from the catalog.
    name: the name that people know it by.
    reasoning: whether the model thinks.
    thinking: how its thinking is steered.
    input: what it takes.
    max_output, context_window: tokens.
    prices: what its tokens cost.
    unsure: names of facts that are not settled: they shape a request, and never refuse one.
    """

    provider: str = field(validator=_text)
    id: str = field(validator=_text)
    protocol: str | None = field(default=None, validator=_opt_text, kw_only=True)
    base_url: str | None = field(default=None, validator=_opt_text, kw_only=True)
    dialect: Dialect | None = field(default=None, validator=optional(instance_of(Dialect)), kw_only=True)
    base_model: str | None = field(default=None, validator=_opt_text, kw_only=True)
    name: str | None = field(default=None, validator=_opt_text, kw_only=True)
    reasoning: bool | None = field(default=None, validator=optional(_flag), kw_only=True)
    thinking: ThinkingControl | None = field(
        default=None, validator=optional(instance_of(ThinkingControl)), kw_only=True
    )
    input: tuple[InputKind, ...] | None = field(default=None, validator=optional(_tuple), kw_only=True)
    max_output: int | None = field(default=None, validator=_whole(1), kw_only=True)
    context_window: int | None = field(default=None, validator=_whole(1), kw_only=True)
    prices: Prices | None = field(default=None, validator=optional(instance_of(Prices)), kw_only=True)
    unsure: tuple[str, ...] = field(default=(), validator=[_tuple, each(_text)], kw_only=True)

    @property
    def facts_id(self) -> str:
        """The id to look up facts by."""
        return self.base_model or self.id
