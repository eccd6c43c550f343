"""Writes a call as a request of the Messages API, with a notice for everything that differs from what was asked."""

from __future__ import annotations

from typing import Any

from thinkaloud.errors import ConfigurationError
from thinkaloud.jsontext import Json
from thinkaloud.notices import Notice
from thinkaloud.protocols.anthropic.families import Family, family_of
from thinkaloud.protocols.anthropic.options import AnthropicOptions
from thinkaloud.protocols.anthropic.thinking import ThinkingFields, thinking_fields
from thinkaloud.protocols.anthropic.turns import turns
from thinkaloud.protocols.base import Call, Encoded
from thinkaloud.protocols.sendable import sendable
from thinkaloud.tools import ServerTool, Tool, ToolChoice

API_VERSION = "2023-06-01"
_WITHOUT_SAMPLING = ("2026-10-21",)

_CONTEXT_MANAGEMENT = "context-management-2025-06-27"

_CACHES: dict[str, dict[str, Json]] = {
    "auto": {"type": "ephemeral"},
    "1h": {"type": "ephemeral", "ttl": "1h"},
}
_CHOICES = {"auto": "auto", "none": "none", "required": "any", "tool": "tool"}
_NATIVE = ("metadata", "service_tier", "speed", "inference_geo", "container", "context_management")


def encode(call: Call) -> Encoded:
    """Write a call. Pure.

    `max_tokens` is always sent, as the API demands it: the caller's, else the model's own limit where it is known, else
    32,000 tokens (less where the model's family takes less), with room for the thinking budget.

    Raises ConfigurationError for options of another protocol, options that the model is known to refuse, and blocks
    that have no form on this wire.
    """
    options = _options(call.options)
    family = family_of(call.model)
    thinking = thinking_fields(call, options, family)
    messages, left_out = turns(call.messages)
    notices = [*thinking.notices, *left_out]
    cache = None if call.cache is None else _CACHES[call.cache]

    body: dict[str, Json] = {"model": call.model.id, "max_tokens": thinking.fields["max_tokens"]}
    if call.system and call.system.strip():
        body["system"] = (
            call.system if cache is None else [{"type": "text", "text": call.system, "cache_control": cache}]
        )
    body["messages"] = messages
    if call.tools:
        body["tools"] = [_tool(tool) for tool in call.tools]
    if call.tool_choice is not None:
        body.update(_tool_choice(call.tool_choice, call, family, thinking, notices))
    body.update(thinking.fields)
    body.update(_sampling(call, options, family, thinking, notices))
    if stop := _stop_sequences(call, notices):
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

    betas = [*options.betas, *thinking.betas]
    if options.context_management is not None:
        betas.append(_CONTEXT_MANAGEMENT)
    headers = {"anthropic-version": options.api_version or API_VERSION}
    if betas:
        headers["anthropic-beta"] = ",".join(dict.fromkeys(betas))
    return Encoded("/v1/messages", sendable(body), headers, level=thinking.level, notices=tuple(notices))


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


def _tool_choice(
    choice: ToolChoice, call: Call, family: Family, thinking: ThinkingFields, notices: list[Notice]
) -> dict[str, Json]:
    if not call.tools:
        if choice.forced:
            raise ConfigurationError(f"tool_choice={choice.mode!r} needs tools: give some, or leave it out")
        return {}
    mode = choice.mode
    if mode == "tool" and not choice.name:
        raise ConfigurationError('tool_choice mode "tool" needs the name of the tool: use ToolChoice.tool("name")')
    if choice.forced and family.forced_tools != "free":
        if family.forced_tools == "refused" or thinking.budgeted:
            why = "a thinking budget" if thinking.budgeted else "this model"
            notices.append(Notice("tool_choice_relaxed", f"{why} does not go with a forced call", "tool_choice"))
            mode = "auto"
        elif thinking.thinks:
            notices.append(Notice("thinking_suppressed", "a forced call comes without thinking", "tool_choice"))
    written: dict[str, Json] = {"type": _CHOICES[mode]}
    if mode == "tool":
        written["name"] = choice.name
    if choice.parallel is False and mode != "none":
        written["disable_parallel_tool_use"] = True
    return {"tool_choice": written}


def _sampling(
    call: Call, options: AnthropicOptions, family: Family, thinking: ThinkingFields, notices: list[Notice]
) -> dict[str, Json]:
    asked: dict[str, Json] = {
        name: value for name in ("temperature", "top_p", "top_k") if (value := getattr(call, name)) is not None
    }
    refused: dict[str, str] = {}
    if options.api_version in _WITHOUT_SAMPLING:
        refused = dict.fromkeys(asked, f"version {options.api_version} of the API does not take it")
    elif family.sampling == "refused":
        refused = dict.fromkeys(asked, "this model does not take it")
    elif family.sampling == "without_thinking":
        if thinking.thinks:
            refused = {
                name: "thinking does not go with it" for name, value in asked.items() if not _neutral(name, value)
            }
        elif "temperature" in asked and "top_p" in asked:
            refused = {"top_p": "this model does not take it beside temperature"}
    notices += (Notice("sampling_dropped", why, name) for name, why in refused.items())
    return {name: value for name, value in asked.items() if name not in refused}


def _neutral(name: str, value: Any) -> bool:
    """Whether thinking tolerates the value."""
    return (name == "temperature" and value == 1) or (name == "top_p" and 0.95 <= value <= 1)


def _stop_sequences(call: Call, notices: list[Notice]) -> list[Json]:
    sequences: list[Json] = [text for text in call.stop if text.strip()]
    if len(sequences) < len(call.stop):
        notices.append(Notice("stop_dropped", "stop sequences of white space alone are refused", "stop"))
    return sequences
