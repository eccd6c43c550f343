"""A call in the terms of the Responses API: the request body, and a notice for all that differs from what was asked."""

from __future__ import annotations

from typing import Any

from thinkaloud.errors import ConfigurationError
from thinkaloud.jsontext import Json
from thinkaloud.notices import Notice
from thinkaloud.protocols.base import Call, Encoded
from thinkaloud.protocols.openai_chat.encode import cache_fields
from thinkaloud.protocols.openai_responses.effort import Reasoning, reasoning
from thinkaloud.protocols.openai_responses.families import openai_family
from thinkaloud.protocols.openai_responses.options import OpenAIResponsesOptions
from thinkaloud.protocols.openai_responses.output import text_format
from thinkaloud.protocols.openai_responses.turns import turns
from thinkaloud.protocols.sendable import sendable
from thinkaloud.tools import ServerTool, Tool, ToolChoice

_PATH = "/responses"
_ENCRYPTED = "reasoning.encrypted_content"

# Native options that go into the body under their own names.
_NATIVE = (
    "previous_response_id",
    "conversation",
    "truncation",
    "service_tier",
    "prompt_cache_key",
    "prompt_cache_retention",
    "prompt_cache_options",
    "max_tool_calls",
    "context_management",
    "metadata",
    "safety_identifier",
    "user",
)


def encode(call: Call) -> Encoded:
    """Write a call. Pure.

    Nothing is kept at the provider unless the options say so: the history goes whole, with its encrypted thinking.

    Raises ConfigurationError for options of another protocol, and for blocks that have no form on this wire.
    """
    options = _options(call.options)
    thinking = reasoning(call, options)
    stored = _is_stored(options)
    items, left_out = turns(call, stored=stored)
    notices = [*thinking.notices, *left_out]
    body: dict[str, Json] = {"model": call.model.id}
    if call.system and call.system.strip():
        body["instructions"] = call.system
    body["input"] = items
    if call.stream:
        body["stream"] = True
    body["store"] = stored
    if include := _include(options, thinking, stored):
        body["include"] = include
    if thinking.fields:
        body["reasoning"] = thinking.fields
    if call.max_tokens is not None:
        body["max_output_tokens"] = call.max_tokens
    body.update(_sampling(call, thinking, notices))
    body.update(_tools(call, notices))
    if text := text_format(call.output_schema) | _text(options):
        body["text"] = text
    body.update(cache_fields(call, notices))
    for name in _NATIVE:
        value = getattr(options, name)
        if value is not None:
            body[name] = value
    return Encoded(_PATH, sendable(body), level=thinking.level, notices=tuple(notices))


def _options(options: Any) -> OpenAIResponsesOptions:
    if options is None:
        return OpenAIResponsesOptions()
    if isinstance(options, OpenAIResponsesOptions):
        return options
    raise ConfigurationError(
        f"options is a {type(options).__name__}; openai-responses takes OpenAIResponsesOptions(...)"
    )


def _is_stored(options: OpenAIResponsesOptions) -> bool:
    """Whether the answer is kept at the provider: on request, or because the call goes on from what is kept there."""
    if options.store is not None:
        return options.store
    return options.previous_response_id is not None or options.conversation is not None


def _include(options: OpenAIResponsesOptions, thinking: Reasoning, stored: bool) -> list[Json]:
    """Models that cannot think refuse to be asked for encrypted thinking; a stored answer needs none."""
    asked = [_ENCRYPTED] if thinking.capable and not stored else []
    return list(dict.fromkeys([*asked, *(options.include or ())]))


def _sampling(call: Call, thinking: Reasoning, notices: list[Notice]) -> dict[str, Json]:
    ours = openai_family(call.model.facts_id) is not None
    refused = thinking.thinks and (ours or not call.dialect.samples_thinking)
    asked: dict[str, Json] = {}
    for name in ("temperature", "top_p"):
        value = getattr(call, name)
        if value is not None and refused:
            notices.append(Notice("sampling_dropped", "this provider refuses it while the model thinks", name))
        elif value is not None:
            asked[name] = value
    lacking = [name for name in ("top_k", "seed", "stop") if getattr(call, name) not in (None, ())]
    notices += (Notice("option_ignored", f"this protocol has no {name}", name) for name in lacking)
    return asked


def _tools(call: Call, notices: list[Notice]) -> dict[str, Json]:
    choice = call.tool_choice
    if not call.tools:
        if choice is not None:
            notices.append(Notice("option_ignored", "there are no tools to choose from", "tool_choice"))
        return {}
    fields: dict[str, Json] = {"tools": [_tool(tool) for tool in call.tools]}
    if choice is not None:
        fields["tool_choice"] = _choice(choice, call)
        if choice.parallel is not None:
            fields["parallel_tool_calls"] = choice.parallel
    return fields


def _tool(tool: Tool | ServerTool) -> Json:
    if isinstance(tool, ServerTool):
        return dict(tool.data)
    written: dict[str, Json] = {"type": "function", "name": tool.name}
    if tool.description:
        written["description"] = tool.description
    # Left out, `strict` means true on this protocol.
    return {**written, "parameters": dict(tool.schema), "strict": tool.strict is True, **tool.extra}


def _choice(choice: ToolChoice, call: Call) -> Json:
    if choice.mode != "tool":
        return choice.mode
    own = (tool.data for tool in call.tools if isinstance(tool, ServerTool))
    custom = any(data.get("type") == "custom" and data.get("name") == choice.name for data in own)
    return {"type": "custom" if custom else "function", "name": choice.name}


def _text(options: OpenAIResponsesOptions) -> dict[str, Json]:
    text: dict[str, Json] = {}
    if options.text_format is not None:
        text["format"] = dict(options.text_format)
    if options.verbosity is not None:
        text["verbosity"] = options.verbosity
    return text
