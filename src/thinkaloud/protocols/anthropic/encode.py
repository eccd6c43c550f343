"""Writes a call as a request of the Messages API, with a notice for everything that differs from what was asked."""

from __future__ import annotations

from typing import Any

from thinkaloud.errors import ConfigurationError
from thinkaloud.jsontext import Json
from thinkaloud.levels import ThinkingLevel
from thinkaloud.notices import Notice
from thinkaloud.protocols.anthropic.choices import stop_sequences
from thinkaloud.protocols.anthropic.controls import controls
from thinkaloud.protocols.anthropic.families import family_of
from thinkaloud.protocols.anthropic.open_loop import PAUSED, may_think
from thinkaloud.protocols.anthropic.options import AnthropicOptions
from thinkaloud.protocols.anthropic.output import with_output
from thinkaloud.protocols.anthropic.turns import turns
from thinkaloud.protocols.base import Call, Encoded
from thinkaloud.protocols.sendable import sendable
from thinkaloud.tools import ServerTool, Tool

API_VERSION = "2023-06-01"
_WITHOUT_SAMPLING = ("2026-10-21",)

_CONTEXT_MANAGEMENT = "context-management-2025-06-27"

_CACHES: dict[str, dict[str, Json]] = {
    "auto": {"type": "ephemeral"},
    "1h": {"type": "ephemeral", "ttl": "1h"},
}
_NATIVE = ("metadata", "service_tier", "speed", "inference_geo", "container", "context_management")


def encode(call: Call) -> Encoded:
    """Write a call. Pure.

    `max_tokens` is always sent, as the API demands it: the caller's, else the model's own limit where it is known, else
    32,000 tokens (less where the model's family takes less), with room for the thinking budget.

    Raises ConfigurationError for options of another protocol, options that the model is known to refuse, blocks that
    have no form on this wire, and messages of which nothing is left to send.
    """
    options = _options(call.options)
    family = family_of(call.model)
    version = options.api_version or API_VERSION
    no_sampling = f"version {version} of the API" if version in _WITHOUT_SAMPLING else None
    steered = controls(call, options, family, no_sampling=no_sampling)
    messages, left_out = turns(call.messages)
    if not messages:
        raise ConfigurationError("messages: nothing is left to send; give a user message that is not blank")
    notices = [*steered.notices, *left_out]
    thinking, level = steered.thinking, steered.level
    if not may_think(thinking, messages):
        thinking, level = {name: value for name, value in thinking.items() if name != "thinking"}, ThinkingLevel.OFF
        notices.append(PAUSED)
    cache = None if call.cache is None else _CACHES[call.cache]

    body: dict[str, Json] = {"model": call.model.id, "max_tokens": steered.max_tokens}
    if call.system and call.system.strip():
        body["system"] = (
            call.system if cache is None else [{"type": "text", "text": call.system, "cache_control": cache}]
        )
    body["messages"] = messages
    if call.tools:
        body["tools"] = [_tool(tool) for tool in call.tools]
    if steered.tool_choice is not None:
        body["tool_choice"] = steered.tool_choice
    body |= with_output(thinking, call.output_schema)
    body |= steered.sampling
    if stop := stop_sequences(call, notices):
        body["stop_sequences"] = stop
    if call.seed is not None:
        notices.append(Notice("option_ignored", "this API has no seed", "seed"))
    if cache is not None:
        body["cache_control"] = cache
    for name in _NATIVE:
        if (value := getattr(options, name)) is not None:
            body[name] = value
    if call.stream:
        body["stream"] = True

    betas = list(steered.betas)
    if options.context_management is not None:
        betas.append(_CONTEXT_MANAGEMENT)
    headers = {"anthropic-version": version}
    if betas:
        headers["anthropic-beta"] = ",".join(dict.fromkeys(betas))
    return Encoded("/v1/messages", sendable(body), headers, level=level, notices=tuple(notices))


def _options(options: Any) -> AnthropicOptions:
    if options is None:
        return AnthropicOptions()
    if isinstance(options, AnthropicOptions):
        return options
    raise ConfigurationError(f"options is a {type(options).__name__}; anthropic-messages takes AnthropicOptions(...)")


def _tool(tool: Tool | ServerTool) -> dict[str, Json]:
    if isinstance(tool, ServerTool):
        return dict(tool.data)
    written: dict[str, Json] = {**tool.extra, "name": tool.name}
    if tool.description:
        written["description"] = tool.description
    written["input_schema"] = tool.schema
    if tool.strict is not None:
        written["strict"] = tool.strict
    return written
