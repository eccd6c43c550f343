"""What only Converse knows, as options of a call. They win over the neutral arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from attrs import Attribute, field, frozen
from attrs.converters import optional

from thinkaloud.checked import items_of
from thinkaloud.errors import ConfigurationError, shown
from thinkaloud.jsontext import Json
from thinkaloud.protocols.anthropic.options import (
    Adaptive,
    AnthropicOptions,
    BetweenTools,
    Budget,
    Disabled,
    OnStale,
    ThinkingMode,
)
from thinkaloud.protocols.option_checks import mapping, one_of, text

BedrockDisplay = Literal["summarized", "omitted"]
BedrockServiceTier = Literal["priority", "default", "flex", "reserved"]
Latency = Literal["standard", "optimized"]

_MOST_PATHS = 10

# Fields of the models' own that steer thinking, and the options that stand for them.
_EFFORTS = frozenset({"output_config", "reasoning_effort", "reasoning_config", "reasoning", "reasoningConfig"})
_SAME_FIELDS = {"thinking": frozenset({"thinking"}), "display": frozenset({"thinking"}), "effort": _EFFORTS}
_STEERING = frozenset({"thinking", *_EFFORTS})


def _as_texts(value: str | Iterable[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else items_of("betas or response_fields", value)


def _pointers(instance: Any, attribute: Attribute[Any], value: tuple[str, ...] | None) -> None:
    paths = value or ()
    if len(paths) > _MOST_PATHS or any(not isinstance(path, str) or not path.startswith("/") for path in paths):
        raise ConfigurationError(
            f'{attribute.name}={shown(value)}: give at most {_MOST_PATHS} JSON pointers such as "/usage", or None'
        )


@frozen(kw_only=True)
class BedrockOptions:
    """Options of the protocol `bedrock-converse`. None leaves a field to the neutral argument or to the provider.

    For Claude
      thinking: how the model thinks: `Adaptive()`, `Budget(tokens)`, `BetweenTools()` or `Disabled()`.
      display: "summarized" or "omitted" thinking.
      on_stale: what becomes of thinking whose conversation was edited since: "send" it and let the server judge by its
        own default, as where nothing is said, or ask the server for an "error", or to "drop" it.
      betas: names of betas; those that other options need are added by themselves.

    For every model
      effort: the vendor's own word for effort, such as "high".
      additional_fields: fields of the model's own request (`additionalModelRequestFields`); they win over ours.
      response_fields: JSON pointers to fields of the model's own answer; they come in the message's `stop_detail`.
      guardrail: such as {"guardrailIdentifier": "...", "guardrailVersion": "1", "trace": "enabled"}.
      service_tier: "priority", "default", "flex" or "reserved".
      latency: "standard" or "optimized".
      request_metadata: texts by name, for the logs of invocations.

    Raises ConfigurationError for values that cannot work, and for values that contradict each other.
    """

    thinking: ThinkingMode | None = None
    effort: str | None = field(default=None, validator=text(16))
    display: BedrockDisplay | None = field(default=None, validator=one_of(BedrockDisplay))
    on_stale: OnStale | None = None
    betas: tuple[str, ...] = field(default=(), converter=_as_texts)
    additional_fields: Mapping[str, Json] | None = field(default=None, validator=mapping, hash=False)
    response_fields: tuple[str, ...] | None = field(default=None, converter=optional(_as_texts), validator=_pointers)
    guardrail: Mapping[str, Json] | None = field(default=None, validator=mapping, hash=False)
    service_tier: BedrockServiceTier | None = field(default=None, validator=one_of(BedrockServiceTier))
    latency: Latency | None = field(default=None, validator=one_of(Latency))
    request_metadata: Mapping[str, str] | None = field(default=None, validator=mapping, hash=False)

    def __attrs_post_init__(self) -> None:
        # Claude's own checks, whatever model it turns out to be.
        AnthropicOptions(thinking=self.thinking, display=self.display, on_stale=self.on_stale, betas=self.betas)
        for option, names in _SAME_FIELDS.items():
            if getattr(self, option) is not None and (twice := names & self.own_steering):
                raise ConfigurationError(
                    f"additional_fields has {min(twice)!r}, and {option} is given too: leave one of them out"
                )
        for name in ("guardrailIdentifier", "guardrailVersion"):
            if self.guardrail is not None and name not in self.guardrail:
                raise ConfigurationError(f"guardrail has no {name!r}: give it, or leave guardrail out")

    @property
    def own_steering(self) -> frozenset[str]:
        """The fields among `additional_fields` that steer thinking: nothing else is sent for it then."""
        return _STEERING.intersection(self.additional_fields or ())

    def for_claude(self) -> AnthropicOptions:
        """The part that steers Claude's thinking. Raises ConfigurationError for an effort that Claude does not know."""
        return AnthropicOptions(
            thinking=self.thinking,
            effort=self.effort,  # type: ignore[arg-type]  # checked there
            display=self.display,
            on_stale=self.on_stale,
            betas=self.betas,
        )


__all__ = ["Adaptive", "BedrockOptions", "BetweenTools", "Budget", "Disabled"]
