"""What only chat completions know, as options of a call. They win over the neutral arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

from attrs import Attribute, field, frozen

from thinkaloud.errors import ConfigurationError
from thinkaloud.jsontext import Json

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max", "default"]
Verbosity = Literal["low", "medium", "high"]

_METADATA_PAIRS, _METADATA_KEY, _METADATA_VALUE = 16, 64, 512
_IDENTIFIER = 128

_Check = Callable[[Any, "Attribute[Any]", Any], None]


def _one_of(choices: Any) -> _Check:
    allowed = get_args(choices)

    def check(instance: Any, attribute: Attribute[Any], value: Any) -> None:
        if value is not None and value not in allowed:
            raise ConfigurationError(f"{attribute.name}={value!r}: use one of {', '.join(map(repr, allowed))}, or None")

    return check


def _text(longest: int | None = None) -> _Check:
    def check(instance: Any, attribute: Attribute[Any], value: Any) -> None:
        if value is None:
            return
        if not isinstance(value, str) or not value:
            raise ConfigurationError(f"{attribute.name}={value!r}: give a text that is not empty, or None")
        if longest is not None and len(value) > longest:
            raise ConfigurationError(f"{attribute.name} has {len(value)} characters: give at most {longest}")

    return check


def _flag(instance: Any, attribute: Attribute[Any], value: Any) -> None:
    if value is not None and not isinstance(value, bool):
        raise ConfigurationError(f"{attribute.name}={value!r}: use True, False or None")


def _object(instance: Any, attribute: Attribute[Any], value: Any) -> None:
    if value is not None and not (isinstance(value, Mapping) and all(isinstance(name, str) for name in value)):
        raise ConfigurationError(f"{attribute.name}={value!r}: give a mapping with string keys, or None")


def _metadata(instance: Any, attribute: Attribute[Any], value: Any) -> None:
    _object(instance, attribute, value)
    if value is None:
        return
    if len(value) > _METADATA_PAIRS:
        raise ConfigurationError(f"metadata has {len(value)} pairs: give at most {_METADATA_PAIRS}")
    for name, text in value.items():
        if len(name) > _METADATA_KEY or not isinstance(text, str) or len(text) > _METADATA_VALUE:
            raise ConfigurationError(
                f"metadata[{name!r}]: give keys of at most {_METADATA_KEY} characters, "
                f"and values that are texts of at most {_METADATA_VALUE}"
            )


@frozen(kw_only=True)
class OpenAIChatOptions:
    """Options of the protocol `openai-chat`. None leaves a field to the neutral argument or to the provider.

    effort: `reasoning_effort`, sent as it is; "default" is a word of Groq.
    reasoning: the whole `reasoning` object of OpenRouter and its kin, such as {"max_tokens": 2000}.
    verbosity: "low", "medium" or "high".
    service_tier: as the provider names it.
    prompt_cache_key: routes requests with the same beginning to the same cache.
    store: keep the completion at the provider.
    metadata: at most 16 pairs of texts, kept with a stored completion.
    safety_identifier: names your user for abuse tracking, at most 128 characters.
    user: the older field for it.

    Raises ConfigurationError for values that cannot work, and for `effort` beside `reasoning`.
    """

    effort: Effort | None = field(default=None, validator=_one_of(Effort))
    reasoning: Mapping[str, Json] | None = field(default=None, validator=_object, hash=False)
    verbosity: Verbosity | None = field(default=None, validator=_one_of(Verbosity))
    service_tier: str | None = field(default=None, validator=_text())
    prompt_cache_key: str | None = field(default=None, validator=_text())
    store: bool | None = field(default=None, validator=_flag)
    metadata: Mapping[str, str] | None = field(default=None, validator=_metadata, hash=False)
    safety_identifier: str | None = field(default=None, validator=_text(_IDENTIFIER))
    user: str | None = field(default=None, validator=_text())

    def __attrs_post_init__(self) -> None:
        if self.effort is not None and self.reasoning is not None:
            raise ConfigurationError("effort and reasoning say the same thing: give one of them")
        if self.reasoning is not None and {"effort", "max_tokens"} <= self.reasoning.keys():
            raise ConfigurationError("reasoning has both effort and max_tokens: give one of them")
