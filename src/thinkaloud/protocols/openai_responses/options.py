"""What only the Responses API knows, as options of a call. They win over the neutral arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from attrs import field, frozen

from thinkaloud.checked import items_of
from thinkaloud.errors import ConfigurationError, shown
from thinkaloud.jsontext import Json
from thinkaloud.protocols.option_checks import count, flag, mapping, metadata, one_of, text

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
Summary = Literal["auto", "concise", "detailed", "none"]
Context = Literal["auto", "current_turn", "all_turns"]
Mode = Literal["standard", "pro"]
Verbosity = Literal["low", "medium", "high"]
Truncation = Literal["disabled", "auto"]

_IDENTIFIER = 128


def _as_names(value: Iterable[str] | None) -> tuple[str, ...] | None:
    if value is None:
        return None
    names = (value,) if isinstance(value, str) else items_of("include", value)
    for name in names:
        if not isinstance(name, str) or not name:
            raise ConfigurationError(f"include has {shown(name)}: give names such as 'message.output_text.logprobs'")
    return names


def _as_objects(value: Any) -> tuple[Mapping[str, Json], ...] | None:
    if value is None:
        return None
    objects: tuple[Any, ...] = (value,) if isinstance(value, Mapping) else items_of("context_management", value)
    for entry in objects:
        if not isinstance(entry, Mapping):
            raise ConfigurationError(f"context_management has {shown(entry)}: give mappings with a 'type'")
    return objects


@frozen(kw_only=True)
class OpenAIResponsesOptions:
    """Options of the protocol `openai-responses`. None leaves a field to the neutral argument or to the provider.

    effort: `reasoning.effort`, sent as it is.
    summary: `reasoning.summary`; "none" asks for no visible thinking.
    context: which turns' thinking the model sees again: "current_turn" or "all_turns" (GPT-5.4 and later).
    mode: "standard" or "pro" (GPT-5.6 and later).
    verbosity: `text.verbosity`.
    text_format: `text.format`, such as {"type": "json_schema", "name": ..., "schema": ..., "strict": True}.
    store: keep the answer at the provider. None is False, and the history is sent whole, with its encrypted thinking;
        but True where the call goes on from a stored answer.
    include: further names for `include`; the encrypted thinking is asked for by itself.
    previous_response_id, conversation: go on from what is stored at the provider; send only what is new.
    truncation: "auto" drops the oldest items where the history is too long.
    service_tier: as the provider names it.
    prompt_cache_key, prompt_cache_retention, prompt_cache_options: as the API takes them.
    max_tool_calls: the most calls of the provider's own tools.
    context_management: such as [{"type": "compaction", "compact_threshold": 200000}].
    metadata: at most 16 pairs of texts.
    safety_identifier: names your user for abuse tracking, at most 128 characters.
    user: the older field for it.

    Raises ConfigurationError for values that cannot work, and for values that contradict each other.
    """

    effort: Effort | None = field(default=None, validator=one_of(Effort))
    summary: Summary | None = field(default=None, validator=one_of(Summary))
    context: Context | None = field(default=None, validator=one_of(Context))
    mode: Mode | None = field(default=None, validator=one_of(Mode))
    verbosity: Verbosity | None = field(default=None, validator=one_of(Verbosity))
    text_format: Mapping[str, Json] | None = field(default=None, validator=mapping, hash=False)
    store: bool | None = field(default=None, validator=flag)
    include: tuple[str, ...] | None = field(default=None, converter=_as_names)
    previous_response_id: str | None = field(default=None, validator=text())
    conversation: str | None = field(default=None, validator=text())
    truncation: Truncation | None = field(default=None, validator=one_of(Truncation))
    service_tier: str | None = field(default=None, validator=text())
    prompt_cache_key: str | None = field(default=None, validator=text())
    prompt_cache_retention: str | None = field(default=None, validator=text())
    prompt_cache_options: Mapping[str, Json] | None = field(default=None, validator=mapping, hash=False)
    max_tool_calls: int | None = field(default=None, validator=count)
    context_management: tuple[Mapping[str, Json], ...] | None = field(default=None, converter=_as_objects, hash=False)
    metadata: Mapping[str, str] | None = field(default=None, validator=metadata, hash=False)
    safety_identifier: str | None = field(default=None, validator=text(_IDENTIFIER))
    user: str | None = field(default=None, validator=text())

    def __attrs_post_init__(self) -> None:
        if self.previous_response_id is not None and self.conversation is not None:
            raise ConfigurationError("previous_response_id and conversation exclude each other: give one of them")
        if self.conversation is not None and self.store is False:
            raise ConfigurationError("store=False does not go with conversation, which is stored: leave one out")
        if self.effort == "none" and self.summary not in (None, "none"):
            raise ConfigurationError(f"summary={self.summary!r} does not go with effort='none': leave one out")
