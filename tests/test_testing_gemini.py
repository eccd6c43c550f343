"""Replies and failures as bytes of the Gemini wire, streamed and whole, and over the server's paths."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

import thinkaloud as ta
from thinkaloud.content import Opaque, Text, Thinking, ToolCall
from thinkaloud.errors import (
    AuthenticationError,
    ContentFiltered,
    ContextTooLong,
    InvalidRequest,
    MalformedToolCall,
    NotFound,
    Overloaded,
    PermissionDenied,
    ProviderError,
    QuotaExceeded,
    RateLimited,
    ServerError,
    StaleThinking,
)
from thinkaloud.messages import Message, StopReason, ToolResult, UserMessage
from thinkaloud.protocols.captured import parse
from thinkaloud.testing import (
    Failure,
    RecordedRequest,
    Reply,
    Scripted,
    ScriptError,
    encode_stream,
    encode_whole,
    serve,
)
from thinkaloud.testing.scripted import Answer
from thinkaloud.usage import Usage

STREAM = "/v1beta/models/gemini-x:streamGenerateContent"
WHOLE = "/any/prefix/v1/models/odd%3Aname:generateContent"
CALL = ToolCall("c1", name="add", arguments_json='{"a":1}', signature="c2ln")


def parts(events: Sequence[bytes]) -> list[Any]:
    chunks = [json.loads(event.removeprefix(b"data: ")) for event in events]
    return [part for chunk in chunks for part in chunk["candidates"][0]["content"]["parts"]]


def test_an_answer_is_framed_as_google_frames_it() -> None:
    reply = Reply("Hi", id="r1", usage=Usage(input=5, output=3, reasoning=1, cache_read=2))
    assert encode_stream("gemini", reply, model="m") == [
        b'data: {"candidates":[{"content":{"parts":[{"text":"Hi"}],"role":"model"},"index":0}],'
        b'"usageMetadata":{"promptTokenCount":5},"modelVersion":"m","responseId":"r1"}\r\n\r\n',
        b'data: {"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"index":0,"finishReason":"STOP"}],'
        b'"usageMetadata":{"promptTokenCount":5,"cachedContentTokenCount":2,"candidatesTokenCount":2,'
        b'"thoughtsTokenCount":1,"totalTokenCount":8},"modelVersion":"m","responseId":"r1"}\r\n\r\n',
    ]


def test_a_signature_stands_behind_its_text_in_a_stream_and_on_it_in_a_body() -> None:
    reply = Reply([Thinking("So be"), Text("It is", signature="c2ln")])
    assert parts(encode_stream("gemini", reply))[:-1] == [
        {"text": "So", "thought": True},
        {"text": " be", "thought": True},
        {"text": "It"},
        {"text": " is"},
        {"text": "", "thoughtSignature": "c2ln"},
    ]
    assert parts([encode_whole("gemini", reply)]) == [
        {"text": "So be", "thought": True},
        {"text": "It is", "thoughtSignature": "c2ln"},
    ]


def test_the_place_of_a_signature_may_be_told() -> None:
    block = Text("It is so", signature="c2ln", extra={"signed_from": 2})
    wanted = [{"text": "It"}, {"text": " is so", "thoughtSignature": "c2ln"}]
    assert parts(encode_stream("gemini", Reply([block])))[:-1] == wanted
    assert parts([encode_whole("gemini", Reply([block]))]) == wanted
    assert parse("gemini", encode_stream("gemini", Reply([block]))).content == (block,)


def test_calls_and_other_parts_are_whole() -> None:
    code = {"executableCode": {"language": "PYTHON", "code": "2"}}
    nameless = ToolCall("x", name="now", arguments_json="{}", extra={"wire_id": None})
    reply = Reply([CALL, nameless, Opaque("gemini", kind="executableCode", data=code)])
    wanted = [
        {"functionCall": {"id": "c1", "name": "add", "args": {"a": 1}}, "thoughtSignature": "c2ln"},
        {"functionCall": {"name": "now"}},
        code,
    ]
    assert parts(encode_stream("gemini", reply))[:-1] == wanted
    assert parts([encode_whole("gemini", reply)]) == wanted


def test_details_of_the_end_stand_where_the_server_has_them() -> None:
    detail = {"finishMessage": "so", "promptFeedback": {"blockReason": "SAFETY"}}
    body = json.loads(encode_whole("gemini", Reply([], stop=StopReason.CONTENT_FILTER, stop_detail=detail)))
    assert body["promptFeedback"] == {"blockReason": "SAFETY"}
    assert (body["candidates"][0]["finishMessage"], body["candidates"][0]["finishReason"]) == ("so", "SAFETY")


UNSAYABLE = {
    "a payload": Reply([Thinking.redacted_payload("b3Bh")]),
    "citations": Reply([Text("Hi", citations=[{"url": "x"}])]),
    "half a call": Reply([ToolCall("c1", name="add", arguments_json='{"a', complete=False)]),
    "a block of another wire": Reply([Opaque("anthropic-messages", kind="x", data={})]),
    "a price": Reply("Hi", usage=Usage(billed_usd=1)),
    "tokens written to a cache": Reply("Hi", usage=Usage(cache_write=5)),
    "a stop reason that it has not": Reply("Hi", stop=StopReason.STOP_SEQUENCE),
}


@pytest.mark.parametrize("name", UNSAYABLE)
def test_what_the_wire_cannot_say_is_a_fault_of_the_script(name: str) -> None:
    for encode in (encode_stream, encode_whole):
        with pytest.raises(ScriptError):
            encode("gemini", UNSAYABLE[name])


# failures


KINDS = (
    InvalidRequest,
    AuthenticationError,
    PermissionDenied,
    NotFound,
    ContextTooLong,
    RateLimited,
    QuotaExceeded,
    Overloaded,
    ServerError,
    StaleThinking,
)


def answered(said: Reply | Failure, path: str = STREAM) -> Answer:
    answer = Scripted([said]).answer(RecordedRequest(method="POST", url="http://x" + path, body=b"{}"))
    assert isinstance(answer, Answer)
    return answer


@pytest.mark.parametrize("kind", KINDS)
def test_a_failure_is_read_as_its_class_as_a_status_and_inside_a_stream(kind: type[ProviderError]) -> None:
    answer = answered(Failure(kind, headers={"retry-after": "3"}))
    with pytest.raises(ProviderError) as alone:
        parse("gemini", answer.events, status=answer.status, headers=answer.headers)
    assert type(alone.value) is kind
    assert (alone.value.retry_after, alone.value.request_id) == (3.0, "req_scripted_1")
    with pytest.raises(ProviderError) as inside:
        parse("gemini", answered(Reply("So it is", error=Failure(kind))).events)
    assert type(inside.value) is kind
    assert inside.value.status == alone.value.status
    assert inside.value.partial is not None
    assert inside.value.partial.text == "So it is"


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply([], stop="MALFORMED_FUNCTION_CALL"), MalformedToolCall),
        (Reply([], stop="", stop_detail={"promptFeedback": {"blockReason": "SAFETY"}}), ContentFiltered),
    ],
)
def test_failures_that_are_ends_are_scripted_as_ends(reply: Reply, kind: type[ProviderError]) -> None:
    with pytest.raises(kind):
        parse("gemini", encode_stream("gemini", reply))
    with pytest.raises(ScriptError):
        answered(Failure(kind))


# the server


def test_the_path_tells_the_model_and_the_form() -> None:
    streamed, whole = answered(Reply("Hi")), answered(Reply("Hi"), WHOLE)
    assert (streamed.streamed, whole.streamed) == (True, False)
    assert parse("gemini", streamed.events).origin.model == "gemini-x"
    assert parse("gemini", whole.events).origin.model == "odd:name"


@pytest.mark.anyio
@pytest.mark.parametrize("streaming", [True, False])
async def test_a_conversation_with_thinking_and_two_calls_runs_over_http(
    streaming: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "key-from-env")
    second = ToolCall("c2", name="add", arguments_json='{"a":2}')
    first = Reply([Thinking("Add both."), CALL, second])
    then = Reply([Thinking("Now."), Text("Three.", signature="ZW5k")])
    async with serve([first, then]) as server, ta.Client(base_url=server.base_url("gemini")) as client:
        asked = UserMessage("1 + 2?")
        called = await client.complete("google/gemini-3.5-flash", [asked], streaming=streaming, reasoning="high")
        assert called.stop_reason is StopReason.TOOL_USE
        history: list[Message] = [asked, called, *(ToolResult(call.id, "ok") for call in called.tool_calls)]
        said = await client.complete("google/gemini-3.5-flash", history, streaming=streaming, reasoning="high")
        assert (said.thinking, said.text, said.stop_reason) == ("Now.", "Three.", StopReason.END)
        assert [request.credentials for request in server.requests] == [{"x-goog-api-key": "key-from-env"}] * 2
        answer, results = server.requests[1].json["contents"][1:]
        assert answer["parts"] == parts([encode_whole("gemini", first)])
        assert [part["functionResponse"]["id"] for part in results["parts"]] == ["c1", "c2"]
