"""Writes a call as a request of generateContent, with a notice for everything that differs from what was asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from thinkaloud.errors import ConfigurationError
from thinkaloud.jsontext import Json
from thinkaloud.messages import AssistantMessage, Message, StopReason
from thinkaloud.notices import Notice
from thinkaloud.protocols.base import Call, Encoded
from thinkaloud.protocols.gemini.families import Family, family_of
from thinkaloud.protocols.gemini.options import GeminiOptions
from thinkaloud.protocols.gemini.output import output_fields
from thinkaloud.protocols.gemini.parse import PROTOCOL_ID
from thinkaloud.protocols.gemini.schema import gemini_schema, has_parameters
from thinkaloud.protocols.gemini.thinking import thinking_fields
from thinkaloud.protocols.gemini.turns import turns
from thinkaloud.protocols.id_in_path import quoted
from thinkaloud.protocols.sendable import sendable
from thinkaloud.tools import ServerTool, Tool

VERTEX = "google-vertex"

_MODES = {"auto": "AUTO", "none": "NONE", "required": "ANY", "tool": "ANY"}
_SAMPLING = {"temperature": "temperature", "top_p": "topP", "top_k": "topK", "seed": "seed"}


def encode(call: Call) -> Encoded:
    """Write a call. Pure.

    The path begins below the version (and below project and location on Vertex AI), which are part of the base URL.

    Raises ConfigurationError for options of another protocol, options that the model is known to refuse, and blocks
    that have no form on this wire.
    """
    options = _options(call.options)
    family = family_of(call.model)
    thinking = thinking_fields(call, options, family)
    on_vertex = call.model.provider == VERTEX
    history, token = _without_pause(call.messages, call.model.provider)
    call_ids = options.call_ids if options.call_ids is not None else not on_vertex
    written = turns(history, family=family, provider=call.model.provider, call_ids=call_ids)
    notices = [*thinking.notices, *written.notices]
    contents = written.contents

    body: dict[str, Json] = {}
    system = call.system if call.system and call.system.strip() else None
    if system is not None and not family.system:
        contents = _with_system(contents, system)
        notices.append(Notice("system_moved", "this model has no place for it: it stands first", "system"))
    elif system is not None:
        body["systemInstruction"] = {"parts": [{"text": system}]}
    body["contents"] = contents
    tools = _tools(call, notices)
    if tools:
        body["tools"] = tools
    if tool_config := _tool_config(call, options, family, on_vertex, notices):
        body["toolConfig"] = tool_config
    generation = _generation(call, options, thinking.max_tokens)
    if thinking.config:
        generation["thinkingConfig"] = thinking.config
    if generation:
        body["generationConfig"] = generation
    _take_native(body, options, token, notices)
    if call.cache == "1h":
        notices.append(Notice("option_ignored", "this API caches by itself, for a time of its own", "cache"))

    method = "streamGenerateContent?alt=sse" if call.stream else "generateContent"
    return Encoded(f"{_path(call.model.id)}:{method}", sendable(body), level=thinking.level, notices=tuple(notices))


def _options(options: Any) -> GeminiOptions:
    if options is None:
        return GeminiOptions()
    if isinstance(options, GeminiOptions):
        return options
    raise ConfigurationError(f"options is a {type(options).__name__}; gemini takes GeminiOptions(...)")


def _path(id: str) -> str:
    """An id with a slash is a path of its own, such as `tunedModels/abc`."""
    name = id if "/" in id else f"models/{id}"
    return "/" + quoted(name, safe="/@")


def _without_pause(messages: Sequence[Message], provider: str) -> tuple[Sequence[Message], str | None]:
    """The messages without the paused answer at their end, and the token that goes on with it.

    The server keeps what it has written of such an answer; the client sends what it has sent before.
    """
    end = len(messages)
    token: str | None = None
    while end and isinstance(message := messages[end - 1], AssistantMessage) and _is_paused(message, provider):
        if token is None:
            told = (message.stop_detail or {}).get("continuationToken")
            if not isinstance(told, str) or not told:
                break
            token = told
        end -= 1
    return messages[:end], token


def _is_paused(message: AssistantMessage, provider: str) -> bool:
    origin = message.origin
    return (
        message.stop_reason is StopReason.PAUSE and origin.protocol == PROTOCOL_ID and origin.provider in ("", provider)
    )


def _with_system(contents: list[Json], system: str) -> list[Json]:
    """System text before all else that the user says, for models without a place for it."""
    first = contents[0] if contents else None
    if isinstance(first, dict) and first["role"] == "user" and isinstance(parts := first["parts"], list):
        return [
            {**first, "parts": [{"text": system}, *(part for part in parts if part != {"text": ""})]},
            *contents[1:],
        ]
    return [{"role": "user", "parts": [{"text": system}]}, *contents]


# tools


def _tools(call: Call, notices: list[Notice]) -> list[Json]:
    functions: list[Json] = [_declaration(tool) for tool in call.tools if isinstance(tool, Tool)]
    tools: list[Json] = [{"functionDeclarations": functions}] if functions else []
    server_tools = [dict(tool.data) for tool in call.tools if isinstance(tool, ServerTool)]
    if server_tools and call.tool_choice is not None and call.tool_choice.mode == "none":
        text = "left out: the choice 'none' has no power over tools that the server runs"
        notices.append(Notice("server_tools_omitted", text, "tools"))
        return tools
    return [*tools, *server_tools]


def _declaration(tool: Tool) -> dict[str, Json]:
    written: dict[str, Json] = {**tool.extra, "name": tool.name}
    if tool.description:
        written["description"] = tool.description
    if "parameters" not in written and "parametersJsonSchema" not in written and has_parameters(tool.schema):
        written["parametersJsonSchema"] = gemini_schema(tool.schema)
    return written


def _tool_config(
    call: Call, options: GeminiOptions, family: Family, on_vertex: bool, notices: list[Notice]
) -> dict[str, Json]:
    functions = [tool for tool in call.tools if isinstance(tool, Tool)]
    server_tools = len(functions) < len(call.tools)
    config: dict[str, Json] = {}
    calling = _calling(call, functions, notices)
    if options.stream_arguments and not on_vertex and call.model.provider == "google":
        raise ConfigurationError("stream_arguments: only Vertex AI streams arguments; leave it out")
    if options.stream_arguments and call.stream and functions:
        calling["streamFunctionCallArguments"] = True
    if calling:
        config["functionCallingConfig"] = calling
    together = bool(functions) and server_tools and family.joins_tools and not on_vertex
    if together if options.server_tool_parts is None else options.server_tool_parts:
        config["includeServerSideToolInvocations"] = True
    return config


def _calling(call: Call, functions: list[Tool], notices: list[Notice]) -> dict[str, Json]:
    """`functionCallingConfig`, which is refused where there are no functions."""
    choice = call.tool_choice
    strict = any(tool.strict for tool in functions)
    if choice is not None and choice.parallel is False and functions:
        notices.append(Notice("option_ignored", "this API cannot be held to one call at a time", "tool_choice"))
    if not functions:
        if choice is not None and choice.forced:
            raise ConfigurationError(f"tool_choice={choice.mode!r} needs tools: give some, or leave it out")
        return {}
    if choice is None or choice.mode == "auto":
        if strict:
            return {"mode": "VALIDATED"}
        return {} if choice is None else {"mode": "AUTO"}
    if choice.mode == "tool":
        if not choice.name:
            raise ConfigurationError('tool_choice mode "tool" needs the name of the tool: use ToolChoice.tool("name")')
        return {"mode": "ANY", "allowedFunctionNames": [choice.name]}
    return {"mode": _MODES[choice.mode]}


# all else


def _generation(call: Call, options: GeminiOptions, max_tokens: int | None) -> dict[str, Json]:
    generation: dict[str, Json] = {
        wire: value for name, wire in _SAMPLING.items() if (value := getattr(call, name)) is not None
    }
    if max_tokens is not None:
        generation["maxOutputTokens"] = max_tokens
    if call.stop:
        generation["stopSequences"] = list(call.stop)
    return {**generation, **output_fields(call.output_schema), **(options.generation_config or {})}


def _take_native(body: dict[str, Json], options: GeminiOptions, token: str | None, notices: list[Notice]) -> None:
    if options.safety_settings:
        body["safetySettings"] = [dict(entry) for entry in options.safety_settings]
    if options.service_tier is not None:
        body["serviceTier"] = options.service_tier
    if options.labels is not None:
        body["labels"] = dict(options.labels)
    if (token := options.continuation_token or token) is not None:
        body["continuationToken"] = token
    if options.cached_content is not None:
        body["cachedContent"] = options.cached_content
        for name in ("systemInstruction", "tools", "toolConfig"):
            if body.pop(name, None) is not None:
                text = f"{name} is left out: the cache holds it, and the server refuses both"
                notices.append(Notice("held_by_cache", text, "options.cached_content"))
