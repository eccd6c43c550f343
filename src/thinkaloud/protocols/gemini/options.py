"""What only Gemini knows, as options of a call. They win over the neutral arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

from attrs import Attribute, field, frozen

from thinkaloud.errors import ConfigurationError, shown
from thinkaloud.jsontext import Json
from thinkaloud.protocols.option_checks import flag, mapping, one_of, text

GeminiLevel = Literal["MINIMAL", "LOW", "MEDIUM", "HIGH", "XHIGH"]
ServiceTier = Literal["standard", "flex", "priority"]

# Members of `generationConfig` that have an argument or an option of their own.
_OWN_FIELDS = {
    "thinkingConfig": "level, budget and include_thoughts",
    "maxOutputTokens": "max_tokens",
    "stopSequences": "stop",
}


def _budget(instance: Any, attribute: Attribute[Any], value: Any) -> None:
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < -1):
        raise ConfigurationError(
            f"budget={shown(value)}: give tokens, 0 for no thinking, -1 for the model's choice, or None"
        )


def _as_level(value: Any) -> Any:
    return value.upper() if isinstance(value, str) else value


def _as_settings(value: Any) -> Any:
    if isinstance(value, Mapping) or not isinstance(value, Iterable) or isinstance(value, str):
        raise ConfigurationError(f"safety_settings={shown(value)}: give a list of objects with category and threshold")
    return tuple(value)


def _settings(instance: Any, attribute: Attribute[Any], value: Any) -> None:
    for entry in value:
        if not isinstance(entry, Mapping):
            raise ConfigurationError(f"safety_settings has {shown(entry)}: give objects with category and threshold")


def _generation(instance: Any, attribute: Attribute[Any], value: Any) -> None:
    mapping(instance, attribute, value)
    for name in value or ():
        if name in _OWN_FIELDS:
            raise ConfigurationError(f"generation_config has {name!r}: use {_OWN_FIELDS[name]} for it")


@frozen(kw_only=True)
class GeminiOptions:
    """Options of the protocol `gemini`. None leaves a field to the neutral argument or to the provider.

    include_thoughts: return summaries of the thinking.
    level: "MINIMAL" to "XHIGH", in any case; for Gemini 3 and newer.
    budget: tokens of thinking, 0 for none, -1 for as many as the model likes; for Gemini 2.5. Never with `level`.
    safety_settings: such as [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_ONLY_HIGH"}].
    cached_content: name of a cache, which then holds system text, tools and tool choice in place of the request.
    service_tier: "standard", "flex" or "priority" (Developer API).
    labels: for billing (Vertex AI).
    call_ids: send ids of calls and results; None: to the Developer API, not to Vertex AI.
    stream_arguments: stream the arguments of calls (Vertex AI).
    server_tool_parts: have the parts of server-run tools in the answer; None: where they stand beside functions.
    continuation_token: goes on with an answer that paused, without its last message in the history. A history that ends
        with a paused answer goes on by itself.
    generation_config: further members of `generationConfig`, sent as they are.

    Raises ConfigurationError for values that cannot work, and for values that contradict each other.
    """

    include_thoughts: bool | None = field(default=None, validator=flag)
    level: GeminiLevel | str | None = field(default=None, converter=_as_level, validator=one_of(GeminiLevel))
    budget: int | None = field(default=None, validator=_budget)
    safety_settings: tuple[Mapping[str, Json], ...] = field(
        default=(), converter=_as_settings, validator=_settings, hash=False
    )
    cached_content: str | None = field(default=None, validator=text())
    service_tier: ServiceTier | None = field(default=None, validator=one_of(ServiceTier))
    labels: Mapping[str, str] | None = field(default=None, validator=mapping, hash=False)
    call_ids: bool | None = field(default=None, validator=flag)
    stream_arguments: bool | None = field(default=None, validator=flag)
    server_tool_parts: bool | None = field(default=None, validator=flag)
    continuation_token: str | None = field(default=None, validator=text(), repr=False)
    generation_config: Mapping[str, Json] | None = field(default=None, validator=_generation, hash=False)

    def __attrs_post_init__(self) -> None:
        if self.level is not None and self.budget is not None:
            raise ConfigurationError("level and budget are two ways to say one thing: leave one of them out")
        if self.budget == 0 and self.include_thoughts:
            raise ConfigurationError("include_thoughts=True does not go with budget=0: leave one of them out")


LEVELS: tuple[str, ...] = get_args(GeminiLevel)
