"""What is known about one model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from attrs import field, frozen

from thinkaloud.levels import ThinkingLevel
from thinkaloud.models.dialect import Dialect


@frozen(kw_only=True)
class ThinkingControl:
    """How a model's thinking is steered.

    mode: "adaptive" (effort beside adaptive thinking), "budget" (tokens), "level" or "effort" (a word), "toggle" (on or
        off), "always_on" (no control).
    levels: the neutral levels that have a native value of their own.
    native: level to native value.
    min_budget, max_budget: bounds of a token budget.
    default_on: the model thinks when the request says nothing.
    """

    mode: Literal["adaptive", "budget", "level", "effort", "toggle", "always_on"]
    levels: tuple[ThinkingLevel, ...] = ()
    native: Mapping[ThinkingLevel, str | int] = field(factory=dict, hash=False)
    min_budget: int | None = None
    max_budget: int | None = None
    default_on: bool = False


@frozen
class Model:
    """A model at a provider, as plain data.

    provider: id of a row of the providers table, or a name of your own together with `base_url`.
    id: the model's id as it goes on the wire.
    protocol: wire protocol id; None takes the provider's.
    base_url: where the endpoint is; None takes the provider's.
    dialect: deviations of an OpenAI-compatible endpoint; None takes the provider's.
    reasoning: whether the model thinks; None: unknown.
    thinking: how its thinking is steered; None: unknown.
    max_output, context_window: tokens; None: unknown.
    base_model: the model whose facts apply, where `id` is a deployment's own name.
    """

    provider: str
    id: str
    protocol: str | None = field(default=None, kw_only=True)
    base_url: str | None = field(default=None, kw_only=True)
    dialect: Dialect | None = field(default=None, kw_only=True)
    reasoning: bool | None = field(default=None, kw_only=True)
    thinking: ThinkingControl | None = field(default=None, kw_only=True)
    max_output: int | None = field(default=None, kw_only=True)
    context_window: int | None = field(default=None, kw_only=True)
    base_model: str | None = field(default=None, kw_only=True)

    @property
    def facts_id(self) -> str:
        """The id to look up facts by."""
        return self.base_model or self.id
