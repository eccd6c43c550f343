"""Writes a call as a request of Converse or ConverseStream, with a notice for everything that differs."""

from __future__ import annotations

from typing import Any

from attrs import evolve

from thinkaloud.content import ToolCall
from thinkaloud.errors import ConfigurationError
from thinkaloud.jsontext import Json
from thinkaloud.levels import ThinkingLevel
from thinkaloud.messages import AssistantMessage, ToolResult
from thinkaloud.notices import Notice
from thinkaloud.protocols.anthropic.choices import stop_sequences
from thinkaloud.protocols.anthropic.open_loop import PAUSED, may_think
from thinkaloud.protocols.base import Call, Encoded
from thinkaloud.protocols.bedrock.families import Family, family_of, is_hidden
from thinkaloud.protocols.bedrock.options import BedrockOptions
from thinkaloud.protocols.bedrock.output import output_config
from thinkaloud.protocols.bedrock.thinking import asked_of_claude, asked_of_vendor
from thinkaloud.protocols.bedrock.turns import turns
from thinkaloud.protocols.id_in_path import quoted
from thinkaloud.protocols.level_choice import overridden
from thinkaloud.protocols.sendable import sendable
from thinkaloud.tools import ServerTool, Tool

_STREAM_TYPE = "application/vnd.amazon.eventstream"

# What is asked of Claude's own answer, because Converse leaves it out: the tokens of thinking, and the stop sequence.
_USAGE = "/usage"
_STOP_SEQUENCE = {True: "/delta/stop_sequence", False: "/stop_sequence"}


def encode(call: Call) -> Encoded:
    """Write a call. Pure.

    Raises ConfigurationError for options of another protocol or another vendor, and blocks that have no form here.
    """
    options = _options(call.options)
    family = family_of(call.model)
    overruled: tuple[Notice, ...] = ()
    if options.own_steering:
        overruled = overridden(call.reasoning, None)
        call = evolve(call, reasoning=None)
    asked = asked_of_claude(call, options) if family.claude else asked_of_vendor(call, options, family)
    messages, left_out = turns(call.messages, family)
    notices = [*overruled, *asked.notices, *left_out]
    if family.claude and not may_think(asked.fields, messages):
        fields = {name: value for name, value in asked.fields.items() if name != "thinking"}
        asked = evolve(asked, fields=fields, level=ThinkingLevel.OFF)
        notices.append(PAUSED)
    point = _cache_point(call, family, notices)

    body: dict[str, Json] = {}
    if call.system and call.system.strip():
        body["system"] = [{"text": call.system}, *point]
    if point and messages and messages[-1]["role"] == "user":
        messages[-1]["content"] = [*_blocks(messages[-1]), *point]
    body["messages"] = messages
    inference = dict(asked.inference)
    if stop := stop_sequences(call, notices):
        inference["stopSequences"] = stop
    if inference:
        body["inferenceConfig"] = inference
    fields = {**asked.fields, **_tools(call, asked.choice, family, point, body, notices)}
    fields |= options.additional_fields or {}
    if fields:
        body["additionalModelRequestFields"] = fields
    if paths := _response_fields(call, options, family):
        body["additionalModelResponseFieldPaths"] = paths
    if call.seed is not None:
        notices.append(Notice("option_ignored", "this API has no seed", "seed"))
    body |= output_config(call.output_schema)
    body |= _native(options)

    path = f"/model/{quoted(call.model.id)}/{'converse-stream' if call.stream else 'converse'}"
    headers = {"accept": _STREAM_TYPE} if call.stream else {}
    return Encoded(path, sendable(body), headers, level=asked.level, notices=tuple(notices))


def _options(options: Any) -> BedrockOptions:
    if options is None:
        return BedrockOptions()
    if isinstance(options, BedrockOptions):
        return options
    raise ConfigurationError(f"options is a {type(options).__name__}; bedrock-converse takes BedrockOptions(...)")


def _blocks(turn: dict[str, Json]) -> list[Json]:
    content = turn["content"]
    return list(content) if isinstance(content, list) else []


# caching


def _cache_point(call: Call, family: Family, notices: list[Notice]) -> list[Json]:
    """The block that marks the end of what is cached; nothing where a model has no caching."""
    if call.cache is None:
        return []
    if family.cache == "no":
        why = "name it with base_model=" if is_hidden(call.model) else "it has none that is known"
        notices.append(Notice("cache_ignored", f"caching depends on the model: {why}", "cache"))
        return []
    point: dict[str, Json] = {"type": "default"}
    if call.cache == "1h":
        if family.cache == "timed":
            point["ttl"] = "1h"
        else:
            notices.append(Notice("cache_time_ignored", "this model's caches have no time of their own", "cache"))
    return [{"cachePoint": point}]


# tools


def _tools(
    call: Call,
    choice: dict[str, Json] | None,
    family: Family,
    point: list[Json],
    body: dict[str, Json],
    notices: list[Notice],
) -> dict[str, Json]:
    """Put the tools into the body; give what their choice adds to the model's own fields."""
    tools = [_tool(tool) for tool in call.tools]
    if not tools:
        return _stand_ins(call, family, body, notices)
    kind = choice["type"] if choice is not None else None
    if kind == "none" and not family.claude:
        # There is no word for it. Tools that the history does not need are left out, and so cannot be called.
        if not _called_names(call):
            return {}
        notices.append(Notice("option_ignored", "this model cannot be kept from calling tools", "tool_choice"))
        choice = None
    if family.cache == "timed":
        tools += point
    config: dict[str, Json] = {"tools": tools}
    body["toolConfig"] = config
    if choice is None:
        return {}
    if kind == "none" or "disable_parallel_tool_use" in choice:
        return {"tool_choice": choice}  # Claude's own field: both at once are refused
    config["toolChoice"] = {"tool": {"name": choice["name"]}} if kind == "tool" else {str(kind): {}}
    return {}


def _tool(tool: Tool | ServerTool) -> Json:
    if isinstance(tool, ServerTool):
        return dict(tool.data)
    written: dict[str, Json] = {**tool.extra, "name": tool.name}
    if tool.description:
        written["description"] = tool.description
    written["inputSchema"] = {"json": tool.schema}
    if tool.strict is not None:
        written["strict"] = tool.strict
    return {"toolSpec": written}


def _stand_ins(call: Call, family: Family, body: dict[str, Json], notices: list[Notice]) -> dict[str, Json]:
    """A history with calls is refused without tools: declare those that were called, and forbid them where we can."""
    names = _called_names(call)
    if not names:
        return {}
    text = f"the history has calls, so their tools are declared: {', '.join(names)}"
    notices.append(Notice("tools_declared", text, "tools", {"names": names}))
    body["toolConfig"] = {"tools": [_tool(Tool(name)) for name in names]}
    return {"tool_choice": {"type": "none"}} if family.claude else {}


def _called_names(call: Call) -> list[str]:
    answers = [message for message in call.messages if isinstance(message, AssistantMessage)]
    calls = [block for message in answers for block in message.content if isinstance(block, ToolCall)]
    answered = {message.call_id for message in call.messages if isinstance(message, ToolResult)}
    return list(dict.fromkeys(block.name for block in calls if block.complete or block.id in answered))


# what only Converse knows


def _response_fields(call: Call, options: BedrockOptions, family: Family) -> list[Json]:
    if options.response_fields is not None:
        return list(options.response_fields)
    if not family.claude:
        return []
    return [_USAGE, _STOP_SEQUENCE[call.stream]] if call.stop else [_USAGE]


def _native(options: BedrockOptions) -> dict[str, Json]:
    native: dict[str, Json] = {}
    if options.guardrail is not None:
        native["guardrailConfig"] = dict(options.guardrail)
    if options.service_tier is not None:
        native["serviceTier"] = {"type": options.service_tier}
    if options.latency is not None:
        native["performanceConfig"] = {"latency": options.latency}
    if options.request_metadata is not None:
        native["requestMetadata"] = dict(options.request_metadata)
    return native
