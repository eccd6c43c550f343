"""Request bodies for Gemini fit the types of the official SDK, field by field."""

from __future__ import annotations

from typing import Any

import pytest

from thinkaloud.content import Document, Image, Text, Thinking, ToolCall
from thinkaloud.levels import ThinkingLevel
from thinkaloud.messages import AssistantMessage, Origin, ToolResult, UserMessage
from thinkaloud.models.model import Model
from thinkaloud.protocols.base import Call
from thinkaloud.protocols.gemini.encode import encode
from thinkaloud.protocols.gemini.options import LEVELS, GeminiOptions
from thinkaloud.structured import Output
from thinkaloud.tools import ServerTool, Tool, ToolChoice

pytest.importorskip("google.genai", reason="the official google-genai SDK is not installed")

FLASH_2_5 = "gemini-2.5-flash"
TOOLS = (Tool("f", "d", {"type": "object", "properties": {"a": {"type": "integer"}}}),)


def history(provider: str) -> tuple[Any, ...]:
    return (
        UserMessage((Text("look"), Image("aWE=", media_type="image/png"), Document("JVBERi0=", name="paper"))),
        AssistantMessage(
            (
                Thinking("a", signature="c2ln"),
                Text("so"),
                ToolCall("call_1", name="f", arguments_json='{"a":1}', signature="c2ln"),
            ),
            origin=Origin("gemini", provider, "gemini-3.5-flash"),
        ),
        ToolResult("call_1", (Text("r"), Image("aWE=", media_type="image/png"))),
        UserMessage("go on"),
    )


CALLS: dict[str, dict[str, Any]] = {
    "plain": {},
    "output": {"output_schema": Output(int).schema, "reasoning": ThinkingLevel.HIGH},
    "level": {"reasoning": ThinkingLevel.HIGH, "system": "s", "max_tokens": 100, "stop": ("END",)},
    "off": {"id": FLASH_2_5, "reasoning": ThinkingLevel.OFF, "temperature": 0.5, "top_p": 0.5, "top_k": 5, "seed": 5},
    "budget of a level": {"id": FLASH_2_5, "reasoning": ThinkingLevel.HIGH, "max_tokens": 100},
    "tools": {"tools": TOOLS, "tool_choice": ToolChoice.tool("f")},
    "any tool": {"tools": TOOLS, "tool_choice": ToolChoice("required"), "reasoning": ThinkingLevel.LOW},
    "server tools": {"tools": (*TOOLS, ServerTool({"googleSearch": {}}))},
    **{f"native {word}": {"id": "tunedModels/m", "options": GeminiOptions(level=word)} for word in LEVELS},
    **{f"budget {tokens}": {"id": FLASH_2_5, "options": GeminiOptions(budget=tokens)} for tokens in (-1, 0, 1, 24_576)},
    "hidden": {"reasoning": ThinkingLevel.LOW, "options": GeminiOptions(include_thoughts=False)},
    "shown": {"options": GeminiOptions(include_thoughts=True)},
    "native": {
        "options": GeminiOptions(
            safety_settings=[{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_ONLY_HIGH"}],
            cached_content="cachedContents/a",
            service_tier="flex",
            call_ids=True,
            continuation_token="dG9rZW4=",
            generation_config={"responseMimeType": "application/json", "mediaResolution": "MEDIA_RESOLUTION_LOW"},
        )
    },
    "native tools": {"tools": TOOLS, "options": GeminiOptions(server_tool_parts=True)},
    "native at Vertex": {
        "provider": "google-vertex",
        "tools": TOOLS,
        "options": GeminiOptions(labels={"team": "a"}, stream_arguments=True),
    },
}


def plain(value: Any) -> Any:
    """A value of the SDK as JSON, in the names of the wire."""
    return value.model_dump(mode="json", by_alias=True, exclude_none=True)


@pytest.mark.parametrize("name", CALLS)
def test_bodies_fit_the_official_types(name: str) -> None:
    from google.genai import types

    fields = dict(CALLS[name])
    provider = fields.pop("provider", "google")
    model = Model(provider, fields.pop("id", "gemini-3.5-flash"))
    body: dict[str, Any] = encode(Call(model=model, messages=history(provider), **fields)).body
    contents = [types.Content.model_validate(content) for content in body.pop("contents")]
    assert all(part.model_fields_set for content in contents for part in content.parts or ())
    config = {**body.pop("generationConfig", {}), **body}
    assert plain(types.GenerateContentConfig.model_validate(config)) == config  # which refuses what it does not know
