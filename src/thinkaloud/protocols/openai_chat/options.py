"""What only chat completions know, as options of a call. They win over the neutral arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from attrs import field, frozen

from thinkaloud.errors import ConfigurationError
from thinkaloud.jsontext import Json
from thinkaloud.protocols.option_checks import flag, mapping, metadata, one_of, text

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max", "default"]
Verbosity = Literal["low", "medium", "high"]

_IDENTIFIER = 128


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

    effort: Effort | None = field(default=None, validator=one_of(Effort))
    reasoning: Mapping[str, Json] | None = field(default=None, validator=mapping, hash=False)
    verbosity: Verbosity | None = field(default=None, validator=one_of(Verbosity))
    service_tier: str | None = field(default=None, validator=text())
    prompt_cache_key: str | None = field(default=None, validator=text())
    store: bool | None = field(default=None, validator=flag)
    metadata: Mapping[str, str] | None = field(default=None, validator=metadata, hash=False)
    safety_identifier: str | None = field(default=None, validator=text(_IDENTIFIER))
    user: str | None = field(default=None, validator=text())

    def __attrs_post_init__(self) -> None:
        if self.effort is not None and self.reasoning is not None:
            raise ConfigurationError("effort and reasoning say the same thing: give one of them")
        if self.reasoning is not None and {"effort", "max_tokens"} <= self.reasoning.keys():
            raise ConfigurationError("reasoning has both effort and max_tokens: give one of them")
