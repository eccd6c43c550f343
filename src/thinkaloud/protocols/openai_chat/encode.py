"""A call in the terms of chat completions: the request body, and a notice for all that differs from what was asked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256

from thinkaloud.jsontext import Json
from thinkaloud.levels import ThinkingLevel
from thinkaloud.notices import Notice
from thinkaloud.protocols.base import Call, Encoded
from thinkaloud.protocols.openai_chat.effort import effort
from thinkaloud.protocols.openai_chat.families import refuses_stop
from thinkaloud.protocols.openai_chat.options import OpenAIChatOptions
from thinkaloud.protocols.openai_chat.output import response_format
from thinkaloud.protocols.openai_chat.turns import turns
from thinkaloud.protocols.sendable import sendable
from thinkaloud.tools import ServerTool, Tool, ToolChoice

_PATH = "/chat/completions"

# Native options that go into the body under their own names.
_NATIVE = ("verbosity", "service_tier", "prompt_cache_key", "store", "metadata", "safety_identifier", "user")


def encode(call: Call) -> Encoded:
    """Write a call as a request. Only what the caller asked for is sent: strict servers refuse more."""
    options = call.options if isinstance(call.options, OpenAIChatOptions) else OpenAIChatOptions()
    thinking = effort(call)
    written, notices = turns(call.messages, call.dialect, model=call.model.facts_id, blank=_blank(call, thinking.level))
    notices = [*thinking.notices, *notices]
    body: dict[str, Json] = {"model": call.model.id, "messages": [*_system(call), *written]}
    if call.stream:
        body["stream"] = True
        if call.dialect.stream_usage is not None:
            body[call.dialect.stream_usage] = {"include_usage": True}
    if call.max_tokens is not None:
        body[call.dialect.max_tokens_field] = call.max_tokens
    if thinking.level is not ThinkingLevel.OFF and call.model.reasoning is not False:
        body |= call.dialect.thinking_fields
    body |= thinking.fields
    body |= _sampling(call, thinking.thinks, notices)
    body |= _tools(call, notices)
    body |= response_format(call.output_schema)
    body |= cache_fields(call, notices)
    for name in _NATIVE:
        value = getattr(options, name)
        if value is not None:
            body[name] = dict(value) if isinstance(value, Mapping) else value
    if call.display == "omitted":
        notices.append(Notice("display_ignored", "this protocol cannot leave thinking out of an answer", "display"))
    return Encoded(path=_PATH, body=sendable(body), level=thinking.level, notices=tuple(notices))


def _system(call: Call) -> list[Json]:
    return [{"role": call.dialect.system_role, "content": call.system}] if call.system else []


def _blank(call: Call, level: ThinkingLevel | None) -> str | None:
    """What stands for unknown thinking: nothing where the model does not think."""
    thinks = call.model.reasoning is not False and level is not ThinkingLevel.OFF
    return call.dialect.replay_blank if thinks else None


def _sampling(call: Call, thinks: bool, notices: list[Notice]) -> dict[str, Json]:
    asked: dict[str, Json] = {}
    for name in ("temperature", "top_p"):
        value = getattr(call, name)
        if value is not None and thinks and not call.dialect.samples_thinking:
            notices.append(Notice("sampling_dropped", "this provider refuses it while the model thinks", name))
        elif value is not None:
            asked[name] = value
    if call.top_k is not None and call.dialect.top_k:
        asked["top_k"] = call.top_k
    elif call.top_k is not None:
        notices.append(Notice("option_ignored", "this provider has no top_k", "top_k"))
    if call.seed is not None:
        asked[call.dialect.seed_field] = call.seed
    if call.stop and thinks and refuses_stop(call.model):
        notices.append(Notice("sampling_dropped", "this model refuses it while it thinks", "stop"))
    elif call.stop:
        asked["stop"] = list(call.stop)
    return asked


def _tools(call: Call, notices: list[Notice]) -> dict[str, Json]:
    choice = call.tool_choice
    if not call.tools:
        if choice is not None:
            notices.append(Notice("option_ignored", "there are no tools to choose from", "tool_choice"))
        return {}
    fields: dict[str, Json] = {"tools": [_tool(tool) for tool in call.tools]}
    if choice is not None:
        fields["tool_choice"] = _choice(choice)
        if choice.parallel is not None:
            fields["parallel_tool_calls"] = choice.parallel
    return fields


def _tool(tool: Tool | ServerTool) -> Json:
    if isinstance(tool, ServerTool):
        return dict(tool.data)
    function: dict[str, Json] = {"name": tool.name}
    if tool.description:
        function["description"] = tool.description
    function["parameters"] = dict(tool.schema)
    if tool.strict is not None:
        function["strict"] = tool.strict
    return {"type": "function", "function": function, **tool.extra}


def _choice(choice: ToolChoice) -> Json:
    return {"type": "function", "function": {"name": choice.name}} if choice.mode == "tool" else choice.mode


def cache_fields(call: Call, notices: list[Notice]) -> dict[str, Json]:
    """Caching works by itself on this protocol; a key only leads requests with one beginning to one cache."""
    if call.cache is None:
        return {}
    if call.cache == "1h":
        notices.append(Notice("cache_time_ignored", "the provider decides how long a cache lasts", "cache"))
    if not call.dialect.cache_key:
        return {}
    beginning = json.dumps([call.model.id, call.system, [_tool(tool) for tool in call.tools]], sort_keys=True)
    return {"prompt_cache_key": f"thinkaloud-{sha256(beginning.encode()).hexdigest()[:32]}"}
