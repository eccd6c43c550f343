"""The official SDKs read our server as they read their own provider: the oracle that the test kit's bytes are honest.

Each scripted answer is read twice, by the SDK over HTTP and by our parser from the same bytes, and both must agree.
"""

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
    RateLimited,
    ServerError,
)
from thinkaloud.messages import AssistantMessage, StopReason
from thinkaloud.protocols.captured import parse
from thinkaloud.testing import Failure, Reply, Scripted, Server, serve, serve_in_thread
from thinkaloud.testing.encoding import ThinkingIn
from thinkaloud.testing.scripted import Answer
from thinkaloud.usage import Usage

anthropic = pytest.importorskip("anthropic")
openai = pytest.importorskip("openai")

# The openai SDK stops reading at the end marker and leaves generators of its own and of its HTTP library half read.
pytestmark = pytest.mark.filterwarnings(
    r"ignore:Async generator '(openai|httpx2?|httpcore2?)\..*' was garbage collected:ResourceWarning"
)

ASK: list[Any] = [{"role": "user", "content": "Why?"}]
SIGNATURE = "EqQBCkYIBRgCKkDw+/aZ09=="
PAYLOAD = "EvAFCkYIARABGAIqQL+/9z8="
CALL = ToolCall("toolu_01", name="add", arguments_json='{"a": 4, "deep": {"list": [1, 2.5, null]}, "s": "ß\\u00e4"}')
NO_ARGUMENTS = ToolCall("toolu_02", name="now")
USAGE = Usage(input=1200, output=87, reasoning=40, cache_read=1000, cache_write=150)


def ours(protocol: str, scripted: Scripted) -> AssistantMessage:
    """Our own reading of the bytes that the last request got."""
    answer = scripted.answer(scripted.requests[-1])
    assert isinstance(answer, Answer)
    return parse(protocol, answer.events)


# Anthropic


CITATION: dict[str, Any] = {
    "type": "char_location",
    "cited_text": "so",
    "document_index": 0,
    "document_title": "T",
    "start_char_index": 0,
    "end_char_index": 2,
}
SEARCH: dict[str, Any] = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}

MESSAGES = {
    "text": Reply("Because of the scattering. ", id="msg_1"),
    "signed thinking": Reply([Thinking.signed("Hm, why?\nLight.", SIGNATURE), "So."], id="msg_1", usage=USAGE),
    "withheld thinking": Reply([Thinking.signed("", SIGNATURE), "So."], id="msg_1"),
    "redacted between thinking": Reply(
        [Thinking.signed("a b", "c2ln"), Thinking.redacted_payload(PAYLOAD), Thinking.signed("c d", SIGNATURE), "So."],
        id="msg_1",
    ),
    "calls": Reply([Thinking.signed("x", SIGNATURE), "I add.", CALL, NO_ARGUMENTS], id="msg_1", usage=USAGE),
    "call alone": Reply([CALL], id="msg_1", chunk_size=1),
    "citations": Reply([Text("So.", citations=[CITATION])], id="msg_1"),
    "server tool": Reply([Opaque("anthropic-messages", kind="server_tool_use", data=SEARCH), "So."], id="msg_1"),
    "length": Reply("So", stop=StopReason.LENGTH, id="msg_1"),
    "stop sequence": Reply("So", stop=StopReason.STOP_SEQUENCE, stop_detail={"stop_sequence": "END"}, id="msg_1"),
    "refusal": Reply([], stop=StopReason.REFUSAL, id="msg_1"),
    "pause": Reply("So", stop=StopReason.PAUSE, id="msg_1"),
    "odd characters": Reply('größe \u2028 😀 \x1f \\ " end', id="msg_1", chunk_size=2),
}


def anthropic_block(block: Any) -> tuple[Any, ...]:
    match block.type:
        case "thinking":
            return ("thinking", block.thinking, block.signature)
        case "redacted_thinking":
            return ("redacted", block.data)
        case "text":
            return ("text", block.text, len(block.citations or ()))
        case "tool_use":
            return ("tool_call", block.id, block.name, block.input)
        case kind:
            return ("opaque", kind)


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
            return ("opaque", block.kind)


def anthropic_usage(usage: Any) -> Usage:
    details = usage.output_tokens_details
    read, written = usage.cache_read_input_tokens, usage.cache_creation_input_tokens
    return Usage(
        input=usage.input_tokens + (read or 0) + (written or 0),
        output=usage.output_tokens,
        reasoning=details.thinking_tokens if details else None,
        cache_read=read,
        cache_write=written,
    )


def agrees_with_anthropic(message: Any, mine: AssistantMessage) -> None:
    assert [our_block(block) for block in mine.content] == [anthropic_block(block) for block in message.content]
    assert (mine.response_id, mine.origin.model) == (message.id, message.model)
    assert mine.raw_stop_reason == message.stop_reason
    assert (mine.stop_detail or {}).get("stop_sequence") == message.stop_sequence
    assert mine.usage == anthropic_usage(message.usage)


def anthropic_async(server: Server) -> Any:
    http_client = anthropic.DefaultAsyncHttpxClient(verify=False)
    return anthropic.AsyncAnthropic(api_key="none", base_url=server.url, http_client=http_client)


def asked_anthropic() -> dict[str, Any]:
    return {"model": "claude-opus-5", "max_tokens": 100, "messages": ASK}


@pytest.mark.anyio
@pytest.mark.parametrize("name", MESSAGES)
async def test_the_async_anthropic_helper_reads_what_we_read(name: str) -> None:
    scripted = Scripted([MESSAGES[name]], repeat_last=True)
    async with serve(scripted) as server, anthropic_async(server) as client:
        async with client.messages.stream(**asked_anthropic()) as stream:
            message = await stream.get_final_message()
        agrees_with_anthropic(message, ours("anthropic-messages", scripted))


@pytest.mark.anyio
@pytest.mark.parametrize("name", MESSAGES)
async def test_the_async_anthropic_client_reads_whole_answers_as_we_do(name: str) -> None:
    scripted = Scripted([MESSAGES[name]], repeat_last=True)
    async with serve(scripted) as server, anthropic_async(server) as client:
        message = await client.messages.create(**asked_anthropic())
        agrees_with_anthropic(message, ours("anthropic-messages", scripted))


@pytest.mark.anyio
async def test_the_async_anthropic_client_sees_the_deltas_that_were_scripted() -> None:
    reply = MESSAGES["calls"]
    async with serve([reply]) as server, anthropic_async(server) as client:
        events = [event async for event in await client.messages.create(stream=True, **asked_anthropic())]
    deltas = [event.delta for event in events if event.type == "content_block_delta"]
    assert [delta.text for delta in deltas if delta.type == "text_delta"] == reply.pieces("I add.")
    assert "".join(delta.partial_json for delta in deltas if delta.type == "input_json_delta") == CALL.arguments_json
    assert events[-1].type == "message_stop"


def anthropic_sync(server: Server, **options: Any) -> Any:
    http_client = anthropic.DefaultHttpxClient(verify=False)
    return anthropic.Anthropic(api_key="none", base_url=server.url, http_client=http_client, **options)


def test_the_sync_anthropic_client_reads_what_we_read_streamed_and_whole() -> None:
    scripted = Scripted([MESSAGES["calls"]], repeat_last=True)
    with serve_in_thread(scripted) as server, anthropic_sync(server) as client:
        with client.messages.stream(**asked_anthropic()) as stream:
            streamed = stream.get_final_message()
        agrees_with_anthropic(streamed, ours("anthropic-messages", scripted))
        agrees_with_anthropic(client.messages.create(**asked_anthropic()), ours("anthropic-messages", scripted))


ANTHROPIC_ERRORS: dict[type[ProviderError], str] = {
    InvalidRequest: "BadRequestError",
    ContextTooLong: "BadRequestError",
    AuthenticationError: "AuthenticationError",
    PermissionDenied: "PermissionDeniedError",
    NotFound: "NotFoundError",
    RateLimited: "RateLimitError",
    ServerError: "InternalServerError",
    Overloaded: "OverloadedError",
}


@pytest.mark.parametrize("kind", ANTHROPIC_ERRORS)
def test_a_failure_is_the_matching_exception_of_the_anthropic_sdk(kind: type[ProviderError]) -> None:
    scripted = Scripted([Failure(kind, "it is so")], repeat_last=True)
    with serve_in_thread(scripted) as server, anthropic_sync(server, max_retries=0) as client:
        with pytest.raises(anthropic.APIStatusError) as caught:
            client.messages.create(**asked_anthropic())
        assert type(caught.value).__name__ == ANTHROPIC_ERRORS[kind]
        assert caught.value.body["error"]["message"] == "it is so"
        assert caught.value.request_id == "req_scripted_1"


def test_an_error_within_a_stream_reaches_the_anthropic_sdk() -> None:
    reply = Reply("So it is", error=Failure(Overloaded, "busy"))
    with (
        serve_in_thread([reply]) as server,
        anthropic_sync(server, max_retries=0) as client,
        client.messages.stream(**asked_anthropic()) as stream,
    ):
        pieces = stream.text_stream
        assert [next(pieces) for _ in range(3)] == ["So", " it", " is"]
        with pytest.raises(anthropic.APIStatusError, match="busy"):
            next(pieces)


def test_the_anthropic_sdk_waits_as_the_headers_say_and_asks_again() -> None:
    failure = Failure(RateLimited, headers={"retry-after-ms": "1"})
    with serve_in_thread([failure, "Hello"]) as server, anthropic_sync(server, max_retries=1) as client:
        assert client.messages.create(**asked_anthropic()).content[0].text == "Hello"
        assert [request.headers["x-stainless-retry-count"] for request in server.requests] == ["0", "1"]


# OpenAI chat


def completion(*content: Any, **how: Any) -> Reply:
    return Reply(content, id="chatcmpl-1", **how)


COMPLETIONS: dict[str, tuple[Reply, ThinkingIn]] = {
    "text": (completion("Because of the scattering. "), "reasoning_content"),
    "reasoning_content": (completion(Thinking("Hm, why?\nLight."), "So.", usage=USAGE), "reasoning_content"),
    "reasoning": (completion(Thinking("Hm, why?"), "So."), "reasoning"),
    "details": (
        completion(Thinking.signed("Hm, why?", SIGNATURE), Thinking.redacted_payload(PAYLOAD), "So."),
        "reasoning_details",
    ),
    "calls": (completion(Thinking("x"), "I add.", CALL, NO_ARGUMENTS, usage=USAGE), "reasoning_content"),
    "call alone": (completion(CALL, chunk_size=1), "reasoning_content"),
    "length": (completion("So", stop=StopReason.LENGTH), "reasoning_content"),
    "content filter": (completion("So", stop=StopReason.CONTENT_FILTER), "reasoning_content"),
    "refusal": (completion("I will not.", stop=StopReason.REFUSAL), "reasoning_content"),
    "odd characters": (completion('größe \u2028 😀 \x1f \\ " end', chunk_size=2), "reasoning_content"),
}
FIELDS = {"reasoning_content": "reasoning_content", "reasoning": "reasoning", "reasoning_details": "reasoning"}


def openai_usage(usage: Any) -> Usage:
    prompt, completed = usage.prompt_tokens_details, usage.completion_tokens_details
    return Usage(
        input=usage.prompt_tokens,
        output=usage.completion_tokens,
        reasoning=completed.reasoning_tokens if completed else None,
        cache_read=prompt.cached_tokens if prompt else None,
        cache_write=prompt.cache_write_tokens if prompt else None,
    )


def agrees_with_openai(completion: Any, thinking_in: ThinkingIn, mine: AssistantMessage) -> None:
    (choice,) = completion.choices
    message = choice.message
    assert "".join(block.text for block in mine.thinking_blocks) == (
        (message.model_extra or {}).get(FIELDS[thinking_in]) or ""
    )
    assert mine.text == (message.content or message.refusal or "")
    assert [(call.id, call.name, call.arguments_json) for call in mine.tool_calls] == [
        (call.id, call.function.name, call.function.arguments) for call in message.tool_calls or ()
    ]
    assert (mine.response_id, mine.origin.model) == (completion.id, completion.model)
    assert mine.raw_stop_reason == choice.finish_reason
    assert mine.usage == openai_usage(completion.usage)
    if thinking_in == "reasoning_details":
        details = message.model_extra["reasoning_details"]
        found = [detail[name] for detail in details for name in ("signature", "data") if detail.get(name)]
        assert found == [SIGNATURE, PAYLOAD]
        assert [block.signature or block.redacted_data for block in mine.thinking_blocks] == found


def openai_async(server: Server) -> Any:
    http_client = openai.DefaultAsyncHttpxClient(verify=False)
    return openai.AsyncOpenAI(api_key="none", base_url=server.base_url("openai-chat"), http_client=http_client)


def asked_openai() -> dict[str, Any]:
    return {"model": "gpt-5.5", "messages": ASK}


@pytest.mark.anyio
@pytest.mark.parametrize("name", COMPLETIONS)
async def test_the_async_openai_helper_reads_what_we_read(name: str) -> None:
    reply, thinking_in = COMPLETIONS[name]
    scripted = Scripted([reply], repeat_last=True, thinking_in=thinking_in)
    async with serve(scripted) as server, openai_async(server) as client:
        asked = client.chat.completions.stream(**asked_openai(), stream_options={"include_usage": True})
        async with asked as stream:
            await stream.until_done()  # get_final_completion() would raise for some finish reasons
            completion = stream.current_completion_snapshot
        agrees_with_openai(completion, thinking_in, ours("openai-chat", scripted))


@pytest.mark.anyio
@pytest.mark.parametrize("name", COMPLETIONS)
async def test_the_async_openai_client_reads_whole_answers_as_we_do(name: str) -> None:
    reply, thinking_in = COMPLETIONS[name]
    scripted = Scripted([reply], repeat_last=True, thinking_in=thinking_in)
    async with serve(scripted) as server, openai_async(server) as client:
        completion = await client.chat.completions.create(**asked_openai())
        agrees_with_openai(completion, thinking_in, ours("openai-chat", scripted))


@pytest.mark.anyio
async def test_the_async_openai_client_sees_the_deltas_that_were_scripted() -> None:
    async with serve([completion(Thinking("Hm, why?"), "So it is.")]) as server, openai_async(server) as client:
        chunks = [chunk async for chunk in await client.chat.completions.create(stream=True, **asked_openai())]
    deltas = [chunk.choices[0].delta for chunk in chunks]
    assert [delta.model_extra.get("reasoning_content") for delta in deltas][1:3] == ["Hm,", " why?"]
    assert [delta.content for delta in deltas if delta.content] == ["So", " it", " is."]


def openai_sync(server: Server, **options: Any) -> Any:
    http_client = openai.DefaultHttpxClient(verify=False)
    base_url = server.base_url("openai-chat")
    return openai.OpenAI(api_key="none", base_url=base_url, http_client=http_client, **options)


def test_the_sync_openai_client_reads_what_we_read_streamed_and_whole() -> None:
    reply, thinking_in = COMPLETIONS["calls"]
    scripted = Scripted([reply], repeat_last=True)
    with serve_in_thread(scripted) as server, openai_sync(server) as client:
        asked = client.chat.completions.stream(**asked_openai(), stream_options={"include_usage": True})
        with asked as stream:
            streamed = stream.get_final_completion()
        agrees_with_openai(streamed, thinking_in, ours("openai-chat", scripted))
        whole = client.chat.completions.create(**asked_openai())
        agrees_with_openai(whole, thinking_in, ours("openai-chat", scripted))


OPENAI_ERRORS: dict[type[ProviderError], str] = {
    InvalidRequest: "BadRequestError",
    ContextTooLong: "BadRequestError",
    AuthenticationError: "AuthenticationError",
    PermissionDenied: "PermissionDeniedError",
    NotFound: "NotFoundError",
    RateLimited: "RateLimitError",
    ServerError: "InternalServerError",
    Overloaded: "InternalServerError",
}


@pytest.mark.parametrize("kind", OPENAI_ERRORS)
def test_a_failure_is_the_matching_exception_of_the_openai_sdk(kind: type[ProviderError]) -> None:
    scripted = Scripted([Failure(kind, "it is so")], repeat_last=True)
    with serve_in_thread(scripted) as server, openai_sync(server, max_retries=0) as client:
        with pytest.raises(openai.APIStatusError) as caught:
            client.chat.completions.create(**asked_openai())
        assert type(caught.value).__name__ == OPENAI_ERRORS[kind]
        assert "it is so" in caught.value.message
        assert caught.value.request_id == "req_scripted_1"


def test_an_error_within_a_stream_reaches_the_openai_sdk() -> None:
    reply = Reply("So it is", error=Failure(Overloaded, "busy"))
    with serve_in_thread([reply]) as server, openai_sync(server, max_retries=0) as client:
        chunks = client.chat.completions.create(stream=True, **asked_openai())
        assert [next(chunks).choices[0].delta.content for _ in range(4)] == ["", "So", " it", " is"]
        with pytest.raises(openai.APIError, match="busy"):
            next(chunks)


def test_the_openai_sdk_waits_as_the_headers_say_and_asks_again() -> None:
    failure = Failure(RateLimited, headers={"retry-after-ms": "1"})
    with serve_in_thread([failure, "Hello"]) as server, openai_sync(server, max_retries=1) as client:
        assert client.chat.completions.create(**asked_openai()).choices[0].message.content == "Hello"
        assert [request.headers["x-stainless-retry-count"] for request in server.requests] == ["0", "1"]
