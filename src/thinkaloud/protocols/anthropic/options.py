"""What only the Messages API knows, as options of a call. They win over the neutral arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from attrs import field, frozen

from thinkaloud.checked import items_of, whole_number
from thinkaloud.errors import ConfigurationError, shown
from thinkaloud.jsontext import Json
from thinkaloud.protocols.anthropic.families import SMALLEST_BUDGET
from thinkaloud.protocols.option_checks import one_of

Effort = Literal["low", "medium", "high", "xhigh", "max"]
AnthropicDisplay = Literal["summarized", "omitted", "updates"]
OnStale = Literal["send", "error", "drop"]
ServiceTier = Literal["auto", "standard_only"]
Speed = Literal["standard", "fast"]


@frozen
class Adaptive:
    """The model decides when and how much it thinks."""


def _enough_tokens(instance: object, attribute: object, value: int) -> None:
    whole_number("Budget.tokens", value, least=SMALLEST_BUDGET)


@frozen
class Budget:
    """Thinking up to a number of tokens, 1024 or more."""

    tokens: int = field(validator=_enough_tokens)


@frozen
class BetweenTools:
    """No thinking before the answer, only short updates between tool calls (Claude Sonnet 5.5)."""


@frozen
class Disabled:
    """No thinking."""


ThinkingMode = Adaptive | Budget | BetweenTools | Disabled


def _of_type(*types: type, wanted: str) -> Any:
    def check(instance: object, attribute: Any, value: object) -> None:
        if value is not None and not isinstance(value, types):
            raise ConfigurationError(f"{attribute.name}={shown(value)}: give {wanted}, or None")

    return check


def _fits_a_header(text: str) -> bool:
    return bool(text.strip()) and text.isascii() and text.isprintable()


def _version(instance: object, attribute: Any, value: object) -> None:
    if value is not None and not (isinstance(value, str) and _fits_a_header(value)):
        raise ConfigurationError(f'{attribute.name}={shown(value)}: give a version such as "2023-06-01", or None')


def _as_betas(value: Iterable[str]) -> tuple[str, ...]:
    betas = (value,) if isinstance(value, str) else items_of("betas", value)
    for beta in betas:
        if not isinstance(beta, str) or not _fits_a_header(beta) or "," in beta:
            raise ConfigurationError(f"betas has {shown(beta)}: give names of betas, each as a string of its own")
    return betas


@frozen(kw_only=True)
class AnthropicOptions:
    """Options of the protocol `anthropic-messages`. None leaves a field to the neutral argument or to the provider.

    thinking: how the model thinks: `Adaptive()`, `Budget(tokens)`, `BetweenTools()` or `Disabled()`.
    effort: "low" to "max", over the whole answer.
    display: "summarized" or "omitted" thinking, or only progress "updates".
    on_stale: what becomes of thinking whose conversation was edited since: "send" it and let the server judge, as where
        nothing is said, or ask the server for an "error", or to "drop" it.
    betas: names for the `anthropic-beta` header; those that other options need are added by themselves.
    api_version: the `anthropic-version` header; "2023-06-01" where nothing is said.
    metadata: such as {"user_id": "..."}.
    service_tier, speed, inference_geo, container, context_management: as the API takes them.

    Raises ConfigurationError for values that cannot work, and for values that contradict each other.
    """

    thinking: ThinkingMode | None = field(
        default=None,
        validator=_of_type(
            Adaptive, Budget, BetweenTools, Disabled, wanted="Adaptive(), Budget(tokens), BetweenTools() or Disabled()"
        ),
    )
    effort: Effort | None = field(default=None, validator=one_of(Effort))
    display: AnthropicDisplay | None = field(default=None, validator=one_of(AnthropicDisplay))
    on_stale: OnStale | None = field(default=None, validator=one_of(OnStale))
    betas: tuple[str, ...] = field(default=(), converter=_as_betas)
    api_version: str | None = field(default=None, validator=_version)
    metadata: Mapping[str, Json] | None = field(
        default=None, validator=_of_type(Mapping, wanted='a mapping such as {"user_id": "..."}'), hash=False
    )
    service_tier: ServiceTier | None = field(default=None, validator=one_of(ServiceTier))
    speed: Speed | None = field(default=None, validator=one_of(Speed))
    inference_geo: str | None = field(default=None, validator=_of_type(str, wanted='a region such as "us"'))
    container: str | Mapping[str, Json] | None = field(
        default=None, validator=_of_type(str, Mapping, wanted="the id of a container, or a mapping"), hash=False
    )
    context_management: Mapping[str, Json] | None = field(
        default=None, validator=_of_type(Mapping, wanted='a mapping such as {"edits": [...]}'), hash=False
    )

    def __attrs_post_init__(self) -> None:
        if isinstance(self.thinking, Disabled | BetweenTools):
            for name, value in (("display", self.display), ("on_stale", self.on_stale)):
                if value is not None and value != "send":
                    mode = type(self.thinking).__name__
                    raise ConfigurationError(
                        f"{name}={shown(value)} does not go with thinking={mode}(): leave one of them out"
                    )
