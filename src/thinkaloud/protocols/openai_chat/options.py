"""What only chat completions know, as options of a call. They win over the neutral arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from attrs import field, frozen

from thinkaloud.errors import ConfigurationError
from thinkaloud.jsontext import Json
from thinkaloud.protocols.option_checks import count, flag, mapping, metadata, one_of, text

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max", "default"]
Verbosity = Literal["low", "medium", "high"]

_IDENTIFIER = 128


@frozen(kw_only=True)
class OpenAIChatOptions:
    """Options of the protocol `openai-chat`. None leaves a field to the neutral argument or to the provider.

    effort: `reasoning_effort`, sent as it is; "default" is a word of Groq.
    budget: tokens of thinking, where the endpoint takes them: OpenRouter and its kin, Alibaba's Qwen, and vLLM.
    reasoning: the whole `reasoning` object of OpenRouter and its kin, such as {"effort": "high", "exclude": True}.
    thinking: the whole `thinking` object of DeepSeek, Moonshot, Z.ai and Fireworks, such as {"type": "enabled"}; it
        goes beside `effort` or the neutral level.
    reasoning_format: `reasoning_format` of Groq, Cerebras and llama.cpp: "parsed" keeps thinking apart from the text.
    verbosity: "low", "medium" or "high".
    service_tier: as the provider names it.
    prompt_cache_key: routes requests with the same beginning to the same cache.
    store: keep the completion at the provider.
    metadata: at most 16 pairs of texts, kept with a stored completion.
    safety_identifier: names your user for abuse tracking, at most 128 characters.
    user: the older field for it.

    Raises ConfigurationError for values that cannot work, and for values that contradict each other.
    """

    effort: Effort | None = field(default=None, validator=one_of(Effort))
    budget: int | None = field(default=None, validator=count)
    reasoning: Mapping[str, Json] | None = field(default=None, validator=mapping, hash=False)
    thinking: Mapping[str, Json] | None = field(default=None, validator=mapping, hash=False)
    reasoning_format: str | None = field(default=None, validator=text())
    verbosity: Verbosity | None = field(default=None, validator=one_of(Verbosity))
    service_tier: str | None = field(default=None, validator=text())
    prompt_cache_key: str | None = field(default=None, validator=text())
    store: bool | None = field(default=None, validator=flag)
    metadata: Mapping[str, str] | None = field(default=None, validator=metadata, hash=False)
    safety_identifier: str | None = field(default=None, validator=text(_IDENTIFIER))
    user: str | None = field(default=None, validator=text())

    def __attrs_post_init__(self) -> None:
        given = [name for name in ("effort", "budget", "reasoning") if getattr(self, name) is not None]
        if len(given) > 1:
            raise ConfigurationError(f"{' and '.join(given)} say the same thing: give one of them")
        if self.reasoning is not None and {"effort", "max_tokens"} <= self.reasoning.keys():
            raise ConfigurationError("reasoning has both effort and max_tokens: give one of them")
        if self.reasoning is not None and self.thinking is not None:
            raise ConfigurationError("reasoning and thinking are words of two endpoints: give one of them")
        on = self.budget is not None or self.effort not in (None, "none")
        if self.thinking is not None and self.thinking.get("type") == "disabled" and on:
            name = "effort" if self.budget is None else "budget"
            raise ConfigurationError(f"{name} does not go with thinking, which is disabled: leave one of them out")

    @property
    def says_thinking(self) -> bool:
        """Whether these options say how the model is to think."""
        return any(value is not None for value in (self.effort, self.budget, self.reasoning, self.thinking))

    @property
    def switches_alone(self) -> bool:
        """Whether they leave open how much."""
        return self.thinking is not None and self.effort is None and self.budget is None
