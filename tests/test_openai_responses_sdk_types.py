"""Request bodies for the Responses API fit the types of the official SDK, field by field."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from thinkaloud.content import Document, Image, Text, Thinking, ToolCall
from thinkaloud.levels import ThinkingLevel
from thinkaloud.messages import AssistantMessage, Origin, ToolResult, UserMessage
from thinkaloud.models.model import Model
from thinkaloud.models.providers import find_provider
from thinkaloud.protocols.base import Call
from thinkaloud.protocols.openai_responses.encode import encode
from thinkaloud.protocols.openai_responses.options import OpenAIResponsesOptions
from thinkaloud.structured import Output
from thinkaloud.tools import Tool, ToolChoice

pytest.importorskip("openai", reason="the official openai SDK is not installed")
pydantic = pytest.importorskip("pydantic")

HISTORY = (
    UserMessage((Text("look"), Image("aWE=", media_type="image/png"), Document("JVBERi0=", name="paper.pdf"))),
    AssistantMessage(
        (
            Thinking("a", signature="gAAA", extra={"id": "rs_1"}),
            Text("so"),
            ToolCall("call_1", name="f", arguments_json='{"a":1}'),
        ),
        origin=Origin("openai-responses", "openai", "gpt-5.6-sol"),
    ),
    ToolResult("call_1", (Text("r"),), is_error=True),
    UserMessage("go on"),
)
TOOLS = (Tool("f", "d", strict=True),)

CALLS: dict[str, dict[str, Any]] = {
    "plain": {},
    "output": {"output_schema": Output(int).schema, "reasoning": ThinkingLevel.HIGH},
    "level": {"reasoning": ThinkingLevel.MAX, "system": "s", "cache": "auto", "max_tokens": 100},
    "off": {"reasoning": ThinkingLevel.OFF, "temperature": 0.5, "top_p": 0.5},
    "tools": {"tools": TOOLS, "tool_choice": ToolChoice.tool("f", parallel=False)},
    "any tool": {"tools": TOOLS, "tool_choice": ToolChoice("required"), "reasoning": ThinkingLevel.LOW},
    "omitted": {"reasoning": ThinkingLevel.HIGH, "display": "omitted"},
    **{
        f"effort {word}": {"options": OpenAIResponsesOptions(effort=word)}
        for word in ("none", "minimal", "low", "medium", "high", "xhigh", "max")
    },
    **{
        f"summary {word}": {"options": OpenAIResponsesOptions(effort="high", summary=word)}
        for word in ("auto", "concise", "detailed", "none")
    },
    "how it thinks": {"options": OpenAIResponsesOptions(context="all_turns", mode="pro", verbosity="high")},
    "stored": {"options": OpenAIResponsesOptions(store=True, previous_response_id="resp_1")},
    "conversation": {"options": OpenAIResponsesOptions(conversation="conv_1")},
    "native": {
        "options": OpenAIResponsesOptions(
            text_format={"type": "json_schema", "name": "n", "schema": {"type": "object"}, "strict": True},
            include=("message.output_text.logprobs",),
            truncation="auto",
            service_tier="flex",
            prompt_cache_key="k",
            prompt_cache_retention="24h",
            prompt_cache_options={"mode": "explicit"},
            max_tool_calls=3,
            context_management=({"type": "compaction", "compact_threshold": 200_000},),
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


def stored(item: Any) -> Any:
    """An item of an answer as the types have it: with its id and status, which name what is stored, as ours is not."""
    if item.get("type") in ("reasoning", "message"):
        return {"id": "item_1", "status": "completed", **item}
    return item


@pytest.mark.parametrize("name", CALLS)
def test_bodies_fit_the_official_types(name: str) -> None:
    from openai.types.responses.response_create_params import ResponseCreateParamsStreaming

    model = Model("openai", "gpt-5.6-sol", protocol="openai-responses")
    dialect = find_provider("openai").dialect
    body: dict[str, Any] = encode(Call(model=model, messages=HISTORY, dialect=dialect, **CALLS[name])).body
    body["input"] = [stored(item) for item in body["input"]]
    adapter = pydantic.TypeAdapter(ResponseCreateParamsStreaming)  # the iterables need it until they are read
    assert consumed(adapter.validate_python(body)) == body  # what the types do not know would be missing
