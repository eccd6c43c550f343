"""The official Gemini SDK reads our server as it reads Google: the oracle that the test kit's bytes are honest.

Each scripted answer is read twice, by the SDK over HTTP and by our parser from the same bytes, and both must agree.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

import pytest

from thinkaloud.content import Opaque, Text, Thinking, ToolCall
from thinkaloud.errors import (
    AuthenticationError,
    ContextTooLong,
    InvalidRequest,
    NotFound,
    Overloaded,
    PermissionDenied,
    ProviderError,
    QuotaExceeded,
    RateLimited,
    ServerError,
)
from thinkaloud.messages import AssistantMessage, StopReason
from thinkaloud.protocols.captured import parse
from thinkaloud.testing import Failure, Reply, Scripted, Server, serve, serve_in_thread
from thinkaloud.testing.scripted import Answer
from thinkaloud.usage import Usage

genai = pytest.importorskip("google.genai")
genai_errors = pytest.importorskip("google.genai.errors")

SIGNATURE = "EqQBCkYIBRgCKkDw+/aZ0w=="
MODEL = "gemini-3.5-flash"
CALL = ToolCall("c1", name="add", arguments_json='{"a":4,"deep":{"list":[1,2.5,null]},"s":"ß"}', signature=SIGNATURE)
NOW = ToolCall("c2", name="now", arguments_json="{}")
CODE: dict[str, Any] = {"executableCode": {"language": "PYTHON", "code": "2+2"}, "thoughtSignature": SIGNATURE}

ANSWERS = {
    "text": Reply("Because of the scattering. ", id="r1"),
    "thinking and a signed text": Reply(
        [Thinking("Hm, why?\nLight."), Text("So it is.", signature=SIGNATURE)],
        id="r1",
        usage=Usage(input=1200, output=87, reasoning=40, cache_read=1000),
    ),
    "a signature of its own": Reply([Thinking("Hm."), Text("", signature=SIGNATURE)], id="r1"),
    "parallel calls": Reply([Thinking("x"), "I add.", CALL, NOW], id="r1"),
    "call alone": Reply([CALL], id="r1"),
    "code": Reply([Opaque("gemini", kind="executableCode", data=CODE), "So."], id="r1"),
    "length": Reply("So", stop=StopReason.LENGTH, id="r1"),
    "filter": Reply([], stop=StopReason.CONTENT_FILTER, id="r1"),
    "odd characters": Reply('größe \u2028 😀 \\ " end', id="r1", chunk_size=2),
}


def ours(scripted: Scripted) -> AssistantMessage:
    """Our own reading of the bytes that the last request got."""
    answer = scripted.answer(scripted.requests[-1])
    assert isinstance(answer, Answer)
    return parse("gemini", answer.events)


def client(server: Server) -> Any:
    """The SDK's client, pointed to our server."""
    options = genai.types.HttpOptions(base_url=server.url, api_version="v1beta")
    return genai.Client(api_key="none", vertexai=False, http_options=options)


def signature(part: Any) -> str | None:
    return base64.b64encode(part.thought_signature).decode() if part.thought_signature else None


def told(chunks: Iterable[Any]) -> dict[str, Any]:
    """What the SDK has read: its parts joined by kind, and the last of all else."""
    found: dict[str, Any] = {"thinking": "", "text": "", "calls": [], "others": [], "signatures": []}
    for chunk in chunks:
        for part in (chunk.candidates[0].content.parts if chunk.candidates[0].content else None) or ():
            found["signatures"] += [signature(part)] if part.thought_signature else []
            if part.function_call:
                call = part.function_call
                found["calls"].append((call.id, call.name, call.args or {}))
            elif part.text is not None:
                found["thinking" if part.thought else "text"] += part.text
            else:
                found["others"] += [name for name in ("executable_code",) if getattr(part, name)]
        usage = chunk.usage_metadata
        found["usage"] = (
            usage.prompt_token_count,
            usage.candidates_token_count,
            usage.thoughts_token_count,
            usage.cached_content_token_count,
        )
        reason = chunk.candidates[0].finish_reason
        found["end"] = (reason and reason.value, chunk.response_id, chunk.model_version)
    return found


def our_signature(block: Any) -> str | None:
    found = block.data.get("thoughtSignature") if isinstance(block, Opaque) else block.signature
    assert found is None or isinstance(found, str)
    return found


def we_told(message: AssistantMessage) -> dict[str, Any]:
    """Our message in the same form."""
    usage = message.usage
    return {
        "thinking": "".join(block.text for block in message.thinking_blocks),
        "text": message.text,
        "calls": [(call.id, call.name, call.arguments) for call in message.tool_calls],
        "others": ["executable_code" for block in message.content if isinstance(block, Opaque)],
        "signatures": [found for block in message.content if (found := our_signature(block))],
        "usage": (usage.input, (usage.output or 0) - (usage.reasoning or 0), usage.reasoning, usage.cache_read),
        "end": (message.raw_stop_reason, message.response_id, message.origin.model),
    }


@pytest.mark.parametrize("name", ANSWERS)
def test_the_sync_client_reads_streams_and_whole_answers_as_we_do(name: str) -> None:
    scripted = Scripted([ANSWERS[name]], repeat_last=True)
    with serve_in_thread(scripted) as server:
        sdk = client(server)
        assert told(sdk.models.generate_content_stream(model=MODEL, contents="Why?")) == we_told(ours(scripted))
        assert told([sdk.models.generate_content(model=MODEL, contents="Why?")]) == we_told(ours(scripted))
        sdk.close()


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # the SDK knows no other
@pytest.mark.parametrize("name", ANSWERS)
async def test_the_async_client_reads_streams_as_we_do(name: str) -> None:
    scripted = Scripted([ANSWERS[name]], repeat_last=True)
    async with serve(scripted) as server:
        sdk = client(server).aio
        chunks = [chunk async for chunk in await sdk.models.generate_content_stream(model=MODEL, contents="Why?")]
        assert told(chunks) == we_told(ours(scripted))


ERRORS: dict[type[ProviderError], tuple[str, int]] = {
    InvalidRequest: ("ClientError", 400),
    ContextTooLong: ("ClientError", 400),
    AuthenticationError: ("ClientError", 401),
    PermissionDenied: ("ClientError", 403),
    NotFound: ("ClientError", 404),
    RateLimited: ("ClientError", 429),
    QuotaExceeded: ("ClientError", 429),
    ServerError: ("ServerError", 500),
    Overloaded: ("ServerError", 503),
}


@pytest.mark.parametrize("kind", ERRORS)
def test_a_failure_is_the_matching_exception_of_the_sdk(kind: type[ProviderError]) -> None:
    with serve_in_thread([Failure(kind, "it is so")]) as server:
        sdk = client(server)
        with pytest.raises(genai_errors.APIError) as caught:
            sdk.models.generate_content(model=MODEL, contents="Why?")
        assert (type(caught.value).__name__, caught.value.code) == ERRORS[kind]
        assert caught.value.message == "it is so"
        sdk.close()


def test_an_error_within_a_stream_reaches_the_sdk() -> None:
    with serve_in_thread([Reply("So it is", error=Failure(Overloaded, "busy"))]) as server:
        sdk = client(server)
        chunks = sdk.models.generate_content_stream(model=MODEL, contents="Why?")
        assert [next(chunks).text for _ in range(3)] == ["So", " it", " is"]
        with pytest.raises(genai_errors.APIError, match="busy"):
            next(chunks)
        sdk.close()
