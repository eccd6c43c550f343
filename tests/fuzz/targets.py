"""What is fuzzed: each target takes bytes, in pieces of a size, and may raise only where a promise is broken."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache, partial
from typing import Any, Literal, TypedDict

import h11
from attrs import frozen

import thinkaloud as ta
from fuzz.damage import Seeds, seeds_of
from fuzz.promises import check_answer, pieces_of, read
from fuzz.seeds import ERROR, PROTOCOLS, bodies
from thinkaloud import codec
from thinkaloud.jsontext import loads, preview_arguments
from thinkaloud.limits import depth_of
from thinkaloud.models.dialect import Dialect, ThinkTags
from thinkaloud.protocols.base import ErrorResponse
from thinkaloud.protocols.registry import wire_protocol
from thinkaloud.structured import Output
from thinkaloud.transport.chunks import Dechunker
from thinkaloud.ui import MemoryStore, agui, vercel
from thinkaloud.wire.awsevents import AwsChunkDecoder, AwsEventDecoder
from thinkaloud.wire.compressed import Inflater
from thinkaloud.wire.sse import SseDecoder


@frozen
class Target:
    """run: takes the input and the size of its pieces, and raises something only where it is a fault.

    seeds: inputs to damage; made when they are first asked for.
    """

    run: Callable[[bytes, int], None]
    seeds: Callable[[], Seeds]


def _error(protocol: str, data: bytes, size: int) -> None:
    text = data.decode("utf-8", "replace")
    try:
        body = loads(text)
    except ValueError:
        body = text
    for status in (None, 400, 500):
        headers = {"retry-after": text[:40], "request-id": text[:40], "retry-after-ms": text[40:60]}
        wire_protocol(protocol).error(ErrorResponse(body=body, status=status, headers=headers, provider="p"))
    for status in (429, 500):
        answer = read(protocol, pieces_of(data, size), Dialect(), status)
        assert isinstance(answer.error, ta.ProviderError)
        assert not answer.events


def _framing(decoder: Callable[[], SseDecoder | AwsEventDecoder | AwsChunkDecoder], data: bytes, size: int) -> None:
    def read(size: int) -> Any:
        made, events = decoder(), []
        try:
            for piece in pieces_of(data, size):
                events += made.feed(piece)
            events += made.close()
        except ta.StreamError as error:
            return events, str(error)
        return events, None

    assert read(size) == read(len(data) or 1), "pieces change what comes out"


def _stored(data: bytes, size: int) -> None:
    for load in (codec.loads, codec.conversation_from):
        with suppress(ta.CodecError):
            load(data)
    with suppress(ta.CodecError):
        value = codec.loads(data)
        assert codec.loads(codec.dumps(value)) == value, "the codec changes a message"


def _preview(data: bytes, size: int) -> None:
    text = data.decode("utf-8", "replace")
    assert isinstance(preview_arguments(text), dict)
    assert depth_of(text, 0) >= 0
    try:
        arguments = ta.ToolCall("c", name="f", arguments_json=text).arguments
    except ta.MalformedToolArguments:
        return
    assert text.isspace() or json.dumps(preview_arguments(text)) == json.dumps(arguments), (
        "a whole preview is the thing"
    )


class _Place(TypedDict, total=False):
    name: str
    kind: Literal["town", "river", 3]
    at: tuple[float, float]
    more: dict[str, list[_Place] | int | None]


@cache
def _output(kind: Any) -> Output:
    return Output(kind)


def _typed(data: bytes, size: int) -> None:
    text = data.decode("utf-8", "replace")
    call = ta.ToolCall("c", name=_output(_Place).schema.name, arguments_json=text)
    for content in (ta.Text(text), call):
        for kind in (_Place, list[str]):
            with suppress(ta.OutputError):
                _output(kind).read(ta.AssistantMessage(content))


_STORE = MemoryStore()
_STORE.save("M", (ta.AssistantMessage(["Hello", ta.ToolCall("call_1", name="add", arguments_json="{}")]),))


def _front_end(ids: Callable[[Any], Any], request: Callable[..., Any], data: bytes, size: int) -> None:
    with suppress(ta.CodecError):
        ids(data)
    for store, trusted in ((None, True), (_STORE, False)):
        with suppress(ta.CodecError, ta.HistoryError):
            found = request(data, store=store, include_signatures=trusted, trust_system=trusted)
            if found.conversation.messages:
                with suppress(ta.ThinkaloudError):
                    ta.prepare("anthropic/claude-opus-5", found.conversation, base_url="http://localhost")


def _dechunked(data: bytes, size: int) -> None:
    chunks = Dechunker()
    taken, left = bytearray(), list[bytes]()
    for piece in pieces_of(data, size):
        left.append(chunks.feed(piece))
        taken += chunks.take()
    head, body, end = _over_http(left)
    found = (head, bytes(taken) + body if head else b"", end)
    assert found == _over_http(pieces_of(data, size)), "a body is changed"


def _over_http(pieces: Iterable[bytes]) -> tuple[bool, bytes, str]:
    """What an HTTP library makes of what a server sends: whether a head came, the body, and how it ended."""
    connection, head, body = h11.Connection(h11.CLIENT), False, bytearray()
    connection.send(h11.Request(method="GET", target="/", headers=[("host", "x")]))
    connection.send(h11.EndOfMessage())
    try:
        for piece in (*filter(None, pieces), b""):
            connection.receive_data(piece)
            while (event := connection.next_event()) not in (h11.NEED_DATA, h11.PAUSED):
                head = head or isinstance(event, h11.Response)
                if isinstance(event, h11.Data):
                    body += event.data
                elif isinstance(event, (h11.EndOfMessage, h11.ConnectionClosed)):
                    return head, bytes(body), type(event).__name__
    except h11.RemoteProtocolError:
        return head, bytes(body), "error"
    return head, bytes(body), "open"


def _inflated(encoding: str, data: bytes, size: int) -> None:
    assert _inflate(encoding, data, size) == _inflate(encoding, data, len(data) or 1), "pieces change what comes out"


def _inflate(encoding: str, data: bytes, size: int) -> tuple[int, int] | None:
    """How much comes out, and a checksum of it; None for a body that is not what it says, which is no fault."""
    inflater, length, checksum = Inflater(encoding), 0, 0
    try:
        for piece in pieces_of(data, size):
            for inside in inflater.feed(piece):
                assert len(inside) <= 64 * 1024
                length, checksum = length + len(inside), zlib.crc32(inside, checksum)
        inflater.close()
    except ValueError:
        return None
    return length, checksum


def _answers(protocol: str, dialect: Dialect, data: bytes, size: int) -> None:
    check_answer(protocol, dialect, data, size)


_TAGGED = Dialect(think_tags=ThinkTags("<think>", "</think>", implied_open=True), lenient_end=True)

_FOLDERS = {
    "anthropic-messages": "protocols/anthropic",
    "bedrock-converse": "protocols/bedrock",
    "gemini": "protocols/gemini",
    "openai-chat": "protocols/openai_chat",
    "openai-responses": "protocols/openai_responses",
}
_RETRY_INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3.5s"}
_FILTERED = {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {}}


def _json(*values: Any) -> tuple[bytes, ...]:
    return tuple(json.dumps(value).encode() for value in values)


_ERRORS = (
    *(ERROR, b"<html><title>502</title>x</html>"),
    *_json(
        {"message": "Too many tokens, please wait", "__type": "x#ThrottlingException"},
        [{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "wait", "details": [_RETRY_INFO]}}],
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}, "request_id": "r"},
        {"error": {"message": "filtered", "code": "content_filter", "innererror": _FILTERED}},
        {"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": ERROR.decode()}}},
        {"detail": [{"loc": ["body"], "msg": "field required"}]},
    ),
)

_CHUNKED = (
    b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n3;x=y\r\nyou\r\n0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n01\r\nb\r\n2 \r\ncd\r\n0\r\nx-trailer: 1\r\n\r\n",
    b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello",
    b"HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nA\r\n0123456789\r\n0\r\n\r\n",
)
_MESSAGE = ta.AssistantMessage(
    [
        ta.Thinking.signed("x", "c2ln"),
        ta.Thinking.redacted_payload("cGF5"),
        ta.Text("Hello", citations=[{"url": "u"}], extra={"phase": "final"}),
        ta.ToolCall("c1", name="f", arguments_json='{"a": 1}'),
        ta.Opaque("gemini", kind="x", data={"x": [1, None]}),
    ],
    origin=ta.Origin("openai-chat", "p", "m"),
    stop_reason=ta.StopReason.TOOL_USE,
    usage=ta.Usage(input=3, output=4, reasoning=1),
    notices=[ta.Notice("code", "text", "path", {"a": 1})],
)
_CONVERSATION = ta.Conversation(
    [ta.UserMessage(["Hi", ta.Image.from_bytes(b"ii", "image/png"), ta.Document.from_text("t")]), _MESSAGE,
     ta.ToolResult("c1", "done")], system="Be brief."
)  # fmt: skip
_ARGUMENTS = (
    b'{"a": [1, "x\\u00e9", {"b": null}], "c": -1.5e3}',
    b'{"q": "\\ud83e\\udd14", "": {"": [[], {}]}, "t": true}',
)
_TYPED = (
    b'{"name": "Oslo", "kind": "town", "at": [59.9, 10.7], "more": {"a": [{"name": "x"}], "b": 3, "c": null}}',
    b'```json\n{"value": ["a", "b"]}\n```',
)
_VERCEL: dict[str, Any] = {
    "id": "chat-1",
    "trigger": "submit-message",
    "messageId": "M",
    "messages": [
        {"id": "s", "role": "system", "parts": [{"type": "text", "text": "Be brief."}]},
        {"id": "u1", "role": "user", "parts": [
            {"type": "text", "text": "2 + 2?"},
            {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,aWk="},
            {"type": "file", "mediaType": "application/pdf", "url": "https://example.org/a.pdf", "filename": "a.pdf"},
        ]},
        {"id": "M", "role": "assistant", "parts": [
            {"type": "step-start"},
            {"type": "reasoning", "id": "0.0", "text": "Two.", "state": "done", "providerMetadata": {
                "thinkaloud": {"v": 1, "at": [0, 0], "values": ["c2ln", None]}}},
            {"type": "tool-add", "toolCallId": "call_1", "state": "output-available", "input": {"a": 2}, "output": "4"},
            {"type": "tool-add", "toolCallId": "call_2", "state": "output-error", "input": {"a": 2}, "errorText": "no"},
            {"type": "dynamic-tool", "toolName": "f", "toolCallId": "c3", "state": "input-available", "input": {}},
            {"type": "step-start"},
            {"type": "text", "text": "It is 4.", "state": "done"},
            {"type": "source-url", "sourceId": "1", "url": "https://example.org"},
            {"type": "data-x", "data": {}},
        ]},
    ],
}  # fmt: skip
_AGUI: dict[str, Any] = {
    "threadId": "t", "runId": "r", "protocolVersion": "1.0", "state": {}, "context": [], "forwardedProps": {},
    "tools": [{"name": "f", "description": "d", "parameters": {"type": "object"}}],
    "messages": [
        {"id": "s", "role": "system", "content": "Be brief."},
        {"id": "u", "role": "user", "content": [
            {"type": "text", "text": "Look:"},
            {"type": "image", "source": {"type": "data", "value": "aWk=", "mimeType": "image/png"}},
            {"type": "image", "source": {"type": "url", "value": "https://example.org/a.png"}},
            {"type": "binary", "mimeType": "image/gif", "data": "Z2k="},
        ]},
        {"id": "M.0.0", "role": "reasoning", "content": "Two.", "encryptedValue": "x"},
        {"id": "M.0.1", "role": "assistant", "content": "Adding.", "toolCalls": [
            {"id": "call_1", "type": "function", "function": {"name": "add", "arguments": '{"a": 2}'}}]},
        {"id": "call_1-result", "role": "tool", "toolCallId": "call_1", "content": "4"},
        {"id": "x", "role": "activity", "content": {}},
        {"id": "M.1.1", "role": "assistant", "content": "It is 4."},
    ],
}  # fmt: skip


@cache
def _seeds(protocol: str) -> Seeds:
    return seeds_of(bodies(protocol), _FOLDERS[protocol])


TARGETS: dict[str, Target] = {
    **{f"parse {name}": Target(partial(_answers, name, Dialect()), partial(_seeds, name)) for name in PROTOCOLS},
    "parse openai-chat with think tags": Target(
        partial(_answers, "openai-chat", _TAGGED),
        cache(lambda: seeds_of(bodies("openai-chat", "think_tags"), _FOLDERS["openai-chat"], "wire/thinktags.py")),
    ),
    "server-sent events": Target(
        partial(_framing, SseDecoder), cache(lambda: seeds_of(bodies("anthropic-messages"), "wire/sse.py"))
    ),
    "frames of AWS": Target(partial(_framing, AwsEventDecoder), partial(_seeds, "bedrock-converse")),
    "chunks of AWS": Target(partial(_framing, AwsChunkDecoder), partial(_seeds, "anthropic-messages")),
    "stored messages": Target(
        _stored, cache(lambda: seeds_of((codec.dumps(_MESSAGE).encode(), _CONVERSATION.to_json().encode()), "codec.py"))
    ),
    "messages of Vercel's chat": Target(
        partial(_front_end, vercel.answer_ids, vercel.read_request),
        cache(lambda: seeds_of(_json(_VERCEL), "ui/vercel_messages.py", "ui/exposure.py", "ui/reading.py")),
    ),
    "input of AG-UI": Target(
        partial(_front_end, agui.answer_ids, agui.read_input),
        cache(lambda: seeds_of(_json(_AGUI), "ui/agui_input.py", "ui/exposure.py", "ui/reading.py")),
    ),
    "half-written arguments": Target(_preview, cache(lambda: seeds_of(_ARGUMENTS))),
    "typed output": Target(_typed, cache(lambda: seeds_of(_TYPED))),
    **{
        f"error of {name}": Target(
            partial(_error, name), cache(partial(seeds_of, _ERRORS, _FOLDERS[name], "protocols/failures.py"))
        )
        for name in PROTOCOLS
    },
    "chunked bodies": Target(_dechunked, cache(lambda: seeds_of(_CHUNKED))),
    "gzip": Target(partial(_inflated, "gzip"), cache(lambda: seeds_of((gzip.compress(b"hello" * 100, mtime=0),)))),
    "deflate": Target(partial(_inflated, "deflate"), cache(lambda: seeds_of((zlib.compress(b"hello" * 100),)))),
}
