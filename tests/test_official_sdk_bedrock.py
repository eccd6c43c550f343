"""The official SDK for AWS reads our server as it reads Bedrock: the oracle that the test kit's frames are honest.

Each scripted answer is read twice, by the SDK over HTTP and by our parser from the same bytes, and both must agree.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any
from urllib.parse import quote

import pytest

from thinkaloud.content import Opaque, Text, Thinking, ToolCall
from thinkaloud.errors import (
    ContextTooLong,
    InvalidRequest,
    NotFound,
    Overloaded,
    PermissionDenied,
    ProviderError,
    RateLimited,
    ServerError,
)
from thinkaloud.messages import AssistantMessage, StopReason
from thinkaloud.protocols.captured import parse
from thinkaloud.testing import Failure, Reply, Scripted, Server, serve_in_thread
from thinkaloud.testing.scripted import Answer
from thinkaloud.usage import Usage

SESSION = pytest.importorskip("botocore.session").get_session()
config = pytest.importorskip("botocore.config")
exceptions = pytest.importorskip("botocore.exceptions")

MODEL = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
ASK: list[Any] = [{"role": "user", "content": [{"text": "Why?"}]}]
SIGNATURE = "EqQBCkYIBRgCKkDw+/aZ09=="
PAYLOAD = "RXZBRkNrWUlBUkFC"
CALL = ToolCall("tooluse_01", name="add", arguments_json='{"a": 4, "deep": {"list": [1, 2.5, null]}, "s": "ß"}')
NO_ARGUMENTS = ToolCall("tooluse_02", name="now")
CITATION: dict[str, Any] = {"title": "T", "source": "s", "sourceContent": [{"text": "so"}]}
USE: dict[str, Any] = {"toolUseId": "t", "name": "nova_code_interpreter", "type": "server_tool_use", "input": {"q": 1}}
RESULT: dict[str, Any] = {"toolUseId": "t", "status": "success", "content": [{"json": {"n": 2}}]}

REPLIES = {
    "text": Reply("Because of the scattering. "),
    "signed thinking": Reply(
        [Thinking.signed("Hm, why?\nLight.", SIGNATURE), "So."],
        usage=Usage(input=1200, output=87, reasoning=40, cache_read=1000, cache_write=150, cache_write_1h=100),
    ),
    "withheld thinking": Reply([Thinking.signed("", SIGNATURE), "So."]),
    "unsigned thinking": Reply([Thinking("Hm, why?"), "So."]),
    "redacted between thinking": Reply(
        [Thinking.signed("a b", "c2ln"), Thinking.redacted_payload(PAYLOAD), Thinking.signed("c d", SIGNATURE), "So."]
    ),
    "calls": Reply([Thinking.signed("x", SIGNATURE), "I add.", CALL, NO_ARGUMENTS]),
    "call alone": Reply([CALL], chunk_size=1),
    "citations": Reply([Text("So.", citations=[CITATION])]),
    "server tool": Reply(
        [
            Opaque("bedrock-converse", kind="server_tool_use", data={"toolUse": USE}),
            Opaque("bedrock-converse", kind="toolResult", data={"toolResult": RESULT}),
            "So.",
        ]
    ),
    "length": Reply("So", stop=StopReason.LENGTH),
    "stop sequence": Reply("So", stop=StopReason.STOP_SEQUENCE, stop_detail={"stop_sequence": "END"}),
    "filtered": Reply(
        "So", stop=StopReason.CONTENT_FILTER, stop_detail={"trace": {"guardrail": {"modelOutput": ["x"]}}}
    ),
    "odd characters": Reply('größe \u2028 😀 \x1f \\ " end', chunk_size=2),
}


@contextmanager
def serving(script: Any) -> Iterator[tuple[Any, Server]]:
    """A server in a thread, and the SDK's client on it, without retries."""
    with serve_in_thread(script) as server:
        client = SESSION.create_client(
            "bedrock-runtime",
            region_name="us-east-1",
            aws_access_key_id="none",
            aws_secret_access_key="none",
            endpoint_url=server.base_url("bedrock-converse"),
            config=config.Config(retries={"total_max_attempts": 1}),
        )
        try:
            yield client, server
        finally:
            client.close()


def asked(**more: Any) -> dict[str, Any]:
    return {"modelId": MODEL, "messages": ASK, "additionalModelResponseFieldPaths": ["/usage"], **more}


def ours(scripted: Scripted) -> AssistantMessage:
    """Our own reading of the bytes that the last request got."""
    answer = scripted.answer(scripted.requests[-1])
    assert isinstance(answer, Answer)
    return parse("bedrock-converse", answer.events)


def encoded(blob: bytes) -> str:
    """The SDK decodes payloads; our messages keep them as they came."""
    return b64encode(blob).decode()


def their_block(block: dict[str, Any]) -> tuple[Any, ...]:
    ((kind, value),) = block.items()
    match kind:
        case "text":
            return ("text", value, 0)
        case "citationsContent":
            return ("text", "".join(piece["text"] for piece in value["content"]), len(value["citations"]))
        case "reasoningContent" if "redactedContent" in value:
            return ("redacted", encoded(value["redactedContent"]))
        case "reasoningContent":
            return ("thinking", value["reasoningText"]["text"], value["reasoningText"].get("signature"))
        case "toolUse" if value.get("type") != "server_tool_use":
            return ("tool_call", value["toolUseId"], value["name"], value["input"])
        case _:
            return ("opaque", {kind: value})


def our_block(block: Any) -> tuple[Any, ...]:
    match block:
        case Thinking(redacted_data=str() as data):
            return ("redacted", data)
        case Thinking():
            return ("thinking", block.text, block.signature)
        case Text():
            return ("text", block.text, len(block.citations))
        case ToolCall():
            return ("tool_call", block.id, block.name, block.arguments)
        case _:
            return ("opaque", dict(block.data))


def their_usage(usage: dict[str, Any], fields: dict[str, Any]) -> Usage:
    read, written = usage.get("cacheReadInputTokens"), usage.get("cacheWriteInputTokens")
    hours = [entry["inputTokens"] for entry in usage.get("cacheDetails", ()) if entry["ttl"] == "1h"]
    return Usage(
        input=usage["inputTokens"] + (read or 0) + (written or 0),
        output=usage["outputTokens"],
        reasoning=fields.get("usage", {}).get("output_tokens_details", {}).get("thinking_tokens"),
        cache_read=read,
        cache_write=written,
        cache_write_1h=sum(hours) if hours else None,
    )


def folded(events: Any) -> dict[str, Any]:
    """The SDK's events as the answer that its whole form would be."""
    blocks: dict[int, dict[str, Any]] = {}
    inputs: dict[int, str] = {}
    answer: dict[str, Any] = {}
    for event in events:
        ((name, data),) = event.items()
        index = data.get("contentBlockIndex", 0)
        if name == "contentBlockStart":
            blocks[index] = data["start"]
            if "toolUse" in data["start"]:
                inputs[index] = ""
        elif name == "contentBlockDelta":
            extend(blocks.setdefault(index, {}), data["delta"], inputs, index)
        elif name in ("messageStop", "metadata"):
            answer |= data
    for index, text in inputs.items():
        blocks[index]["toolUse"]["input"] = json.loads(text or "{}")
    return {"output": {"message": {"content": list(blocks.values())}}, **answer}


def extend(block: dict[str, Any], delta: dict[str, Any], inputs: dict[int, str], index: int) -> None:
    match delta:
        case {"text": text}:
            block["text"] = block.get("text", "") + text
        case {"toolUse": {"input": piece}}:
            inputs[index] += piece
        case {"toolResult": results}:
            block["toolResult"]["content"] = results
        case {"citation": citation}:
            cited = block.setdefault(
                "citationsContent", {"content": [{"text": block.pop("text", "")}], "citations": []}
            )
            cited["citations"].append(citation)
        case {"reasoningContent": {"redactedContent": blob}}:
            block["reasoningContent"] = {"redactedContent": blob}
        case {"reasoningContent": piece}:
            content = block.setdefault("reasoningContent", {"reasoningText": {"text": ""}})["reasoningText"]
            for name, value in piece.items():
                content[name] = content.get(name, "") + value


def agrees(answer: dict[str, Any], mine: AssistantMessage) -> None:
    assert [our_block(block) for block in mine.content] == [
        their_block(block) for block in answer["output"]["message"]["content"]
    ]
    assert mine.raw_stop_reason == answer["stopReason"]
    fields = answer.get("additionalModelResponseFields") or {}
    assert mine.usage == their_usage(answer["usage"], fields)
    sequence = fields.get("stop_sequence") or fields.get("delta", {}).get("stop_sequence")
    assert (mine.stop_detail or {}).get("stop_sequence") == sequence
    assert (mine.stop_detail or {}).get("trace") == answer.get("trace")


@pytest.mark.parametrize("name", REPLIES)
def test_the_sdk_reads_streams_as_we_do(name: str) -> None:
    scripted = Scripted([REPLIES[name]], repeat_last=True)
    with serving(scripted) as (client, _):
        answer = folded(client.converse_stream(**asked())["stream"])
    agrees(answer, ours(scripted))


@pytest.mark.parametrize("name", REPLIES)
def test_the_sdk_reads_whole_answers_as_we_do(name: str) -> None:
    scripted = Scripted([REPLIES[name]], repeat_last=True)
    with serving(scripted) as (client, _):
        answer = client.converse(**asked())
    agrees(answer, ours(scripted))
    assert answer["ResponseMetadata"]["RequestId"] == "req_scripted_1"


def test_the_sdk_sees_the_deltas_that_were_scripted() -> None:
    with serving([Reply([Thinking.signed("Hm, why?", "c2ln"), "So it is."])]) as (client, _):
        events = list(client.converse_stream(**asked())["stream"])
    deltas = [event["contentBlockDelta"]["delta"] for event in events if "contentBlockDelta" in event]
    assert deltas == [
        {"reasoningContent": {"text": "Hm,"}},
        {"reasoningContent": {"text": " why?"}},
        {"reasoningContent": {"signature": "c2ln"}},
        {"text": "So"},
        {"text": " it"},
        {"text": " is."},
    ]
    assert [name for event in events for name in event][-2:] == ["messageStop", "metadata"]


@pytest.mark.parametrize(
    "model", [MODEL, "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123"]
)
def test_the_sdk_asks_at_the_address_that_we_ask_at(model: str) -> None:
    with serving(["Hi"]) as (client, server):
        client.converse(**asked(modelId=model))
        assert server.requests[-1].path == f"/model/{quote(model, safe='')}/converse"


ERRORS: dict[type[ProviderError], str] = {
    InvalidRequest: "ValidationException",
    ContextTooLong: "ValidationException",
    PermissionDenied: "AccessDeniedException",
    NotFound: "ResourceNotFoundException",
    RateLimited: "ThrottlingException",
    ServerError: "InternalServerException",
    Overloaded: "ServiceUnavailableException",
}


@pytest.mark.parametrize("kind", ERRORS)
def test_a_failure_is_the_matching_exception_of_the_sdk(kind: type[ProviderError]) -> None:
    with serving([Failure(kind, "it is so")]) as (client, _), pytest.raises(exceptions.ClientError) as caught:
        client.converse(**asked())
    assert type(caught.value).__name__ == ERRORS[kind]
    assert caught.value.response["Error"]["Message"] == "it is so"
    assert caught.value.response["ResponseMetadata"]["RequestId"] == "req_scripted_1"


@pytest.mark.parametrize("kind", [RateLimited, Overloaded, ServerError, InvalidRequest, PermissionDenied])
def test_an_error_within_a_stream_reaches_the_sdk(kind: type[ProviderError]) -> None:
    with (
        serving([Reply("So it is", error=Failure(kind, "busy"))]) as (client, _),
        closing(client.converse_stream(**asked())["stream"]) as stream,
        pytest.raises(exceptions.EventStreamError, match="busy") as caught,
    ):
        list(stream)
    name = ERRORS[kind]
    assert caught.value.response["Error"]["Code"].lower() == name.lower()
