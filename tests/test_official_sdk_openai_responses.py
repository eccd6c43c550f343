"""The official SDK reads our Responses server as it reads its own provider, and as our parser reads the same bytes."""

from __future__ import annotations

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

openai = pytest.importorskip("openai")

# The SDK leaves generators of its own and of its HTTP library half read.
pytestmark = pytest.mark.filterwarnings(
    r"ignore:Async generator '(openai|httpx2?|httpcore2?)\..*' was garbage collected:ResourceWarning"
)

SEALED = "gAAAAABo+/xZ=="
CALL = ToolCall("call_01", name="add", arguments_json='{"a": 4, "deep": {"list": [1, 2.5, null]}, "s": "ß\\u00e4"}')
NO_ARGUMENTS = ToolCall("call_02", name="now", arguments_json="{}")
CUSTOM = ToolCall("call_03", name="sql", arguments_json="select 1", extra={"type": "custom"})
USAGE = Usage(input=1200, output=87, reasoning=40, cache_read=1000, cache_write=150)
CITATION: dict[str, Any] = {
    "type": "url_citation",
    "url": "https://a.b",
    "title": "T",
    "start_index": 0,
    "end_index": 2,
}
SEARCH: dict[str, Any] = {
    "type": "web_search_call",
    "id": "ws_1",
    "status": "completed",
    "action": {"type": "search", "query": "x"},
}


def reply(*content: Any, **how: Any) -> Reply:
    return Reply(content, id="resp_1", **how)


REPLIES = {
    "text": reply("Because of the scattering. "),
    "signed thinking": reply(Thinking.signed("Hm, why?\nLight.", SEALED), "So.", usage=USAGE),
    "withheld thinking": reply(Thinking.signed("", SEALED), "So."),
    "unsigned thinking": reply(Thinking("Hm."), "So."),
    "calls": reply(Thinking.signed("x", SEALED), "I add.", CALL, NO_ARGUMENTS, usage=USAGE),
    "call alone": reply(CALL, chunk_size=1),
    "custom call": reply(CUSTOM),
    "phases": reply(
        Text("First.", extra={"id": "msg_1", "phase": "commentary"}),
        Text("Then.", extra={"id": "msg_2", "phase": "final_answer"}),
    ),
    "a message in parts": reply(Text("One.", extra={"id": "msg_1"}), Text("Two.", extra={"id": "msg_1"})),
    "citations": reply(Text("So.", citations=[CITATION])),
    "search": reply(
        Thinking.signed("", "first"), Opaque("openai-responses", kind="web_search_call", data=SEARCH), "So."
    ),
    "length": reply("So", stop=StopReason.LENGTH),
    "content filter": reply("So", stop=StopReason.CONTENT_FILTER),
    "refusal": reply("I will not.", stop=StopReason.REFUSAL),
    "odd characters": reply('größe \u2028 😀 \x1f \\ " end', chunk_size=2),
}


def theirs(response: Any) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    for item in response.output:
        match item.type:
            case "reasoning":
                text = "\n\n".join(part.text for part in item.summary)
                found.append(("thinking", text, item.encrypted_content, item.id))
            case "message":
                for part in item.content:
                    text = part.refusal if part.type == "refusal" else part.text
                    found.append(("text", text, len(getattr(part, "annotations", ())), item.id, item.phase))
            case "function_call":
                found.append(("call", item.call_id, item.name, item.arguments, item.id))
            case "custom_tool_call":
                found.append(("call", item.call_id, item.name, item.input, item.id))
            case kind:
                found.append(("opaque", kind, item.id))
    return found


def mine(message: AssistantMessage) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    for block in message.content:
        match block:
            case Thinking():
                found.append(("thinking", block.text, block.signature, block.extra["id"]))
            case Text():
                phase = block.extra.get("phase")
                found.append(("text", block.text, len(block.citations), block.extra["id"], phase))
            case ToolCall():
                found.append(("call", block.id, block.name, block.arguments_json, block.extra["id"]))
            case Opaque():
                found.append(("opaque", block.kind, block.data["id"]))
    return found


def usage_of(response: Any) -> Usage:
    usage = response.usage
    read, written = usage.input_tokens_details, usage.output_tokens_details
    return Usage(
        input=usage.input_tokens,
        output=usage.output_tokens,
        reasoning=written.reasoning_tokens if written else None,
        cache_read=read.cached_tokens if read else None,
        cache_write=read.cache_write_tokens if read else None,
    )


def agrees(response: Any, scripted: Scripted) -> None:
    """The SDK's response is our own reading of the bytes that the last request got."""
    answer = scripted.answer(scripted.requests[-1])
    assert isinstance(answer, Answer)
    message = parse("openai-responses", answer.events)
    assert mine(message) == theirs(response)
    assert (message.response_id, message.origin.model) == (response.id, response.model)
    details = response.incomplete_details
    assert message.raw_stop_reason == (details.reason if details else response.status)
    assert message.usage == usage_of(response)


ASKED: dict[str, Any] = {"model": "gpt-5.5", "input": "Why?"}


def async_client(server: Server) -> Any:
    http_client = openai.DefaultAsyncHttpxClient(verify=False)
    return openai.AsyncOpenAI(api_key="none", base_url=server.base_url("openai-responses"), http_client=http_client)


def sync_client(server: Server, **options: Any) -> Any:
    http_client = openai.DefaultHttpxClient(verify=False)
    base_url = server.base_url("openai-responses")
    return openai.OpenAI(api_key="none", base_url=base_url, http_client=http_client, **options)


@pytest.mark.anyio
@pytest.mark.parametrize("name", REPLIES)
async def test_the_helper_of_the_sdk_reads_what_we_read(name: str) -> None:
    scripted = Scripted([REPLIES[name]], repeat_last=True)
    async with serve(scripted) as server, async_client(server) as client:
        async with client.responses.stream(**ASKED) as stream:
            last = [event async for event in stream][-1]
        agrees(last.response, scripted)


@pytest.mark.anyio
@pytest.mark.parametrize("name", REPLIES)
async def test_the_client_of_the_sdk_reads_whole_answers_as_we_do(name: str) -> None:
    scripted = Scripted([REPLIES[name]], repeat_last=True)
    async with serve(scripted) as server, async_client(server) as client:
        agrees(await client.responses.create(**ASKED), scripted)


@pytest.mark.anyio
async def test_the_client_of_the_sdk_sees_the_deltas_that_were_scripted() -> None:
    scripted = REPLIES["calls"]
    async with serve([scripted]) as server, async_client(server) as client:
        events = [event async for event in await client.responses.create(stream=True, **ASKED)]
    deltas = {kind: [event.delta for event in events if event.type == f"response.{kind}.delta"] for kind in KINDS}
    assert deltas["output_text"] == scripted.pieces("I add.")
    assert deltas["reasoning_summary_text"] == ["x"]
    assert "".join(deltas["function_call_arguments"]) == CALL.arguments_json + "{}"
    assert [event.sequence_number for event in events] == list(range(len(events)))


KINDS = ("output_text", "reasoning_summary_text", "function_call_arguments")


def test_the_sync_client_of_the_sdk_reads_what_we_read_streamed_and_whole() -> None:
    scripted = Scripted([REPLIES["calls"]], repeat_last=True)
    with serve_in_thread(scripted) as server, sync_client(server) as client:
        with client.responses.stream(**ASKED) as stream:
            streamed = stream.get_final_response()
        agrees(streamed, scripted)
        agrees(client.responses.create(**ASKED), scripted)


ERRORS: dict[type[ProviderError], str] = {
    InvalidRequest: "BadRequestError",
    ContextTooLong: "BadRequestError",
    AuthenticationError: "AuthenticationError",
    PermissionDenied: "PermissionDeniedError",
    NotFound: "NotFoundError",
    RateLimited: "RateLimitError",
    QuotaExceeded: "RateLimitError",
    ServerError: "InternalServerError",
    Overloaded: "InternalServerError",
}


@pytest.mark.parametrize("kind", ERRORS)
def test_a_failure_is_the_matching_exception_of_the_sdk(kind: type[ProviderError]) -> None:
    scripted = Scripted([Failure(kind, "it is so")], repeat_last=True)
    with serve_in_thread(scripted) as server, sync_client(server, max_retries=0) as client:
        with pytest.raises(openai.APIStatusError) as caught:
            client.responses.create(**ASKED)
        assert type(caught.value).__name__ == ERRORS[kind]
        assert "it is so" in caught.value.message


def test_an_error_within_a_stream_reaches_the_sdk() -> None:
    scripted = Reply("So it is", error=Failure(Overloaded, "busy"))
    with serve_in_thread([scripted]) as server, sync_client(server, max_retries=0) as client:
        seen = []
        with pytest.raises(openai.APIError, match="busy"):
            for event in client.responses.create(stream=True, **ASKED):
                seen.append(event)  # noqa: PERF402  those before the error must be kept
        assert "".join(event.delta for event in seen if event.type == "response.output_text.delta") == "So it is"
