"""Request bodies fit the service model of the official SDK for AWS, member by member."""

from __future__ import annotations

from base64 import b64decode
from typing import Any

import pytest

from thinkaloud.content import Document, Image, Text, Thinking, ToolCall
from thinkaloud.levels import ThinkingLevel
from thinkaloud.messages import AssistantMessage, Origin, ToolResult, UserMessage
from thinkaloud.models.model import Model
from thinkaloud.protocols.anthropic.options import Adaptive, BetweenTools, Budget, Disabled
from thinkaloud.protocols.base import Call
from thinkaloud.protocols.bedrock.encode import encode
from thinkaloud.protocols.bedrock.options import BedrockOptions
from thinkaloud.structured import Output
from thinkaloud.tools import Tool, ToolChoice

SESSION = pytest.importorskip("botocore.session").get_session()
validate = pytest.importorskip("botocore.validate")

CLAUDE = "anthropic.claude-opus-5"
ELDER = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
NOVA = "amazon.nova-2-lite-v1:0"
PNG = "iVBORw0KGgo="
HISTORY = (
    UserMessage((Text("look"), Image(PNG, media_type="image/png"), Document("JVBERi0=", name="paper"))),
    AssistantMessage(
        (
            Thinking("a", signature="s"),
            Thinking.redacted_payload("cmVk"),
            Text("so"),
            ToolCall("tooluse_1", name="f", arguments_json='{"a":1}'),
        ),
        origin=Origin("bedrock-converse", "bedrock", CLAUDE),
    ),
    ToolResult("tooluse_1", (Text("r"), Image(PNG, media_type="image/png")), is_error=True),
    UserMessage("go on"),
)
TOOLS = (Tool("f", "d", strict=True),)

CALLS: dict[str, dict[str, Any]] = {
    "plain": {},
    "output": {"output_schema": Output(int).schema, "reasoning": ThinkingLevel.HIGH},
    "level": {"reasoning": ThinkingLevel.XHIGH, "system": "s", "cache": "1h", "stop": ("END",)},
    "off": {"reasoning": ThinkingLevel.OFF},
    "sampling": {"id": ELDER, "temperature": 0.5, "top_k": 5, "max_tokens": 100},
    "level of an elder": {"id": ELDER, "reasoning": ThinkingLevel.HIGH, "tools": TOOLS},
    "adaptive": {"options": BedrockOptions(thinking=Adaptive(), effort="max", display="omitted", on_stale="drop")},
    "budget": {"id": ELDER, "options": BedrockOptions(thinking=Budget(2048), betas=["a"])},
    "between": {"id": "anthropic.claude-sonnet-5-5", "options": BedrockOptions(thinking=BetweenTools())},
    "disabled": {"options": BedrockOptions(thinking=Disabled())},
    "forced": {"tools": TOOLS, "tool_choice": ToolChoice.tool("f")},
    "any tool, one at most": {"tools": TOOLS, "tool_choice": ToolChoice("required", parallel=False)},
    "nova": {"id": NOVA, "reasoning": ThinkingLevel.HIGH, "top_k": 5},
    "effort of a vendor": {"id": "openai.gpt-oss-120b-1:0", "options": BedrockOptions(effort="high")},
    "native": {
        "id": NOVA,
        "options": BedrockOptions(
            additional_fields={"topK": 1},
            response_fields=["/usage"],
            guardrail={"guardrailIdentifier": "g", "guardrailVersion": "1", "trace": "enabled"},
            service_tier="flex",
            latency="optimized",
            request_metadata={"team": "a"},
        ),
    },
}


def as_python(value: Any) -> Any:
    """The body as that SDK takes it: bytes where the wire has base64."""
    if isinstance(value, dict):
        return {
            name: b64decode(inner) if name in ("bytes", "redactedContent") else as_python(inner)
            for name, inner in value.items()
        }
    return [as_python(inner) for inner in value] if isinstance(value, list) else value


def written(name: str, *, stream: bool) -> dict[str, Any]:
    call = dict(CALLS[name])
    model = Model("bedrock", call.pop("id", CLAUDE))
    body: dict[str, Any] = encode(Call(model=model, messages=HISTORY, stream=stream, **call)).body
    return {"modelId": model.id, **as_python(body)}


def report(operation: str, body: dict[str, Any]) -> str:
    """What does not fit, and what the service does not know."""
    shape = SESSION.get_service_model("bedrock-runtime").operation_model(operation).input_shape
    unknown = ", ".join(sorted(set(body) - set(shape.members)))
    told: str = validate.ParamValidator().validate(body, shape).generate_report()
    return told + unknown


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(("operation", "stream"), [("ConverseStream", True), ("Converse", False)])
def test_bodies_fit_the_service_model(name: str, operation: str, stream: bool) -> None:
    assert report(operation, written(name, stream=stream)) == ""


def test_the_service_model_would_tell() -> None:
    body = written("plain", stream=True)
    assert "Unknown parameter in inferenceConfig" in report(
        "ConverseStream", {**body, "inferenceConfig": {"max_tokens": 5}}
    )
    assert "thinking" in report("ConverseStream", {**body, "thinking": {}})
