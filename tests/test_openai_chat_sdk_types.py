"""Request bodies for OpenAI's chat completions fit the types of the official SDK, field by field."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from thinkaloud.content import Document, Image, Text, ToolCall
from thinkaloud.levels import ThinkingLevel
from thinkaloud.messages import AssistantMessage, Origin, ToolResult, UserMessage
from thinkaloud.models.model import Model
from thinkaloud.models.providers import find_provider
from thinkaloud.protocols.base import Call
from thinkaloud.protocols.openai_chat.encode import encode
from thinkaloud.protocols.openai_chat.options import OpenAIChatOptions
from thinkaloud.structured import Output
from thinkaloud.tools import Tool, ToolChoice

pytest.importorskip("openai", reason="the official openai SDK is not installed")
pydantic = pytest.importorskip("pydantic")

HISTORY = (
    UserMessage((Text("look"), Image("aWE=", media_type="image/png"), Document("JVBERi0=", name="paper.pdf"))),
    AssistantMessage(
        (Text("so"), ToolCall("call_1", name="f", arguments_json='{"a":1}')),
        origin=Origin("openai-chat", "openai", "gpt-5.1"),
    ),
    ToolResult("call_1", (Text("r"),), is_error=True),
    UserMessage("go on"),
)
TOOLS = (Tool("f", "d", strict=True),)

CALLS: dict[str, dict[str, Any]] = {
    "plain": {},
    "output": {"output_schema": Output(int).schema, "reasoning": ThinkingLevel.HIGH},
    "level": {"reasoning": ThinkingLevel.HIGH, "system": "s", "cache": "auto", "max_tokens": 100},
    "off": {"reasoning": ThinkingLevel.OFF, "temperature": 0.5, "top_p": 0.5, "seed": 5, "stop": ("END",)},
    "highest": {"id": "gpt-5.5", "reasoning": ThinkingLevel.MAX},
    "tools": {"tools": TOOLS, "tool_choice": ToolChoice.tool("f", parallel=False)},
    "tools without thinking": {"id": "gpt-5.5", "reasoning": ThinkingLevel.HIGH, "tools": TOOLS},
    "any tool": {"tools": TOOLS, "tool_choice": ToolChoice("required")},
    **{
        f"effort {word}": {"id": "gpt-of-tomorrow", "options": OpenAIChatOptions(effort=word)}
        for word in ("none", "minimal", "low", "medium", "high", "xhigh", "max")
    },
    "native": {
        "options": OpenAIChatOptions(
            verbosity="low",
            service_tier="flex",
            prompt_cache_key="k",
            store=True,
            metadata={"a": "b"},
            safety_identifier="u",
            user="u",
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


@pytest.mark.parametrize("name", CALLS)
def test_bodies_fit_the_official_types(name: str) -> None:
    from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming

    fields = dict(CALLS[name])
    model = Model("openai", fields.pop("id", "gpt-5.1"), protocol="openai-chat")
    dialect = find_provider("openai").dialect
    body = encode(Call(model=model, messages=HISTORY, dialect=dialect, **fields)).body
    adapter = pydantic.TypeAdapter(CompletionCreateParamsStreaming)  # the iterables need it until they are read
    assert consumed(adapter.validate_python(body)) == body  # what the types do not know would be missing
