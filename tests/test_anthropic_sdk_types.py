"""Request bodies fit the types of the official SDK, field by field."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from thinkaloud.content import Document, Image, Text, Thinking, ToolCall
from thinkaloud.levels import ThinkingLevel
from thinkaloud.messages import AssistantMessage, Origin, ToolResult, UserMessage
from thinkaloud.models.model import Model
from thinkaloud.protocols.anthropic.encode import encode
from thinkaloud.protocols.anthropic.options import Adaptive, AnthropicOptions, BetweenTools, Budget, Disabled
from thinkaloud.protocols.base import Call
from thinkaloud.structured import Output
from thinkaloud.tools import Tool, ToolChoice

pytest.importorskip("anthropic", reason="the official anthropic SDK is not installed")
pydantic = pytest.importorskip("pydantic")

HISTORY = (
    UserMessage(
        (
            Text("look"),
            Image("aWE=", media_type="image/png"),
            Image.from_url("https://example.org/a.png"),
            Document("aWE="),
            Document.from_text("plain", name="notes"),
            Document.from_url("https://example.org/a.pdf"),
            Document(extra={"content": [{"type": "text", "text": "a"}]}),
        )
    ),
    AssistantMessage(
        (
            Thinking("a", signature="s"),
            Thinking("", signature="t"),
            Thinking.redacted_payload("cmVk"),
            Text("so"),
            ToolCall("toolu_1", name="f", arguments_json='{"a":1}'),
        ),
        origin=Origin("anthropic-messages", "anthropic", "claude-opus-5"),
    ),
    ToolResult("toolu_1", (Text("r"), Image("aWE=", media_type="image/png")), is_error=True),
    UserMessage("go on"),
)

CALLS: dict[str, dict[str, Any]] = {
    "plain": {},
    "output": {"output_schema": Output(int).schema, "reasoning": ThinkingLevel.HIGH},
    "adaptive": {"reasoning": ThinkingLevel.XHIGH, "system": "s", "cache": "1h", "stop": ("END",)},
    "off": {"reasoning": ThinkingLevel.OFF},
    "budget": {"id": "claude-sonnet-4-5", "options": AnthropicOptions(thinking=Budget(2048), display="omitted")},
    "an elder's level": {
        "id": "claude-opus-4-5",
        "reasoning": ThinkingLevel.HIGH,
        "options": AnthropicOptions(effort="low"),
    },
    "native adaptive": {"options": AnthropicOptions(thinking=Adaptive(), effort="xhigh", display="omitted")},
    "native off": {"options": AnthropicOptions(thinking=Disabled(), effort="high")},
    "between": {"id": "claude-sonnet-5-5", "options": AnthropicOptions(thinking=BetweenTools(), effort="max")},
    "tools": {"tools": (Tool("f", "d", strict=True),), "tool_choice": ToolChoice.tool("f", parallel=False)},
    "native": {
        "options": AnthropicOptions(
            metadata={"user_id": "u"}, service_tier="auto", speed="fast", inference_geo="us", container="c"
        )
    },
}


def consumed(value: Any) -> Any:
    """Walk through a validated value: the SDK's iterables are checked only when they are read."""
    if isinstance(value, str | bytes):
        return value
    if isinstance(value, Mapping):
        return {name: consumed(item) for name, item in value.items()}
    if isinstance(value, Iterable):
        return [consumed(item) for item in value]
    return value


BETA_CALLS: dict[str, dict[str, Any]] = {
    **CALLS,
    "updates": {"reasoning": ThinkingLevel.HIGH, "options": AnthropicOptions(display="updates")},
    "stale": {"id": "claude-opus-5-5", "options": AnthropicOptions(on_stale="drop", betas=["files-api-2025-04-14"])},
    "stale, error": {"id": "claude-opus-5-5", "options": AnthropicOptions(on_stale="error", thinking=Adaptive())},
    "context": {"options": AnthropicOptions(context_management={"edits": [{"type": "clear_tool_uses_20250919"}]})},
    "container": {"options": AnthropicOptions(container={"id": "c", "skills": []})},
}


@pytest.mark.parametrize("name", BETA_CALLS)
def test_bodies_of_betas_fit_the_official_types(name: str) -> None:
    from anthropic.types.beta.message_create_params import MessageCreateParamsStreaming

    fields = dict(BETA_CALLS[name])
    model = Model("anthropic", fields.pop("id", "claude-opus-5"))
    body = encode(Call(model=model, messages=HISTORY, **fields)).body
    adapter = pydantic.TypeAdapter(MessageCreateParamsStreaming)
    assert consumed(adapter.validate_python(body)) == body


@pytest.mark.parametrize("name", CALLS)
def test_bodies_fit_the_official_types(name: str) -> None:
    from anthropic.types.message_create_params import MessageCreateParamsStreaming

    fields = dict(CALLS[name])
    model = Model("anthropic", fields.pop("id", "claude-opus-5"))
    body = encode(Call(model=model, messages=HISTORY, **fields)).body
    adapter = pydantic.TypeAdapter(MessageCreateParamsStreaming)  # the iterables need it until they are read
    assert consumed(adapter.validate_python(body)) == body  # what the types do not know would be missing
