"""What is fuzzed: each target takes bytes and may raise nothing but the errors that it promises."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial

from attrs import frozen

import thinkaloud as ta
from thinkaloud import codec
from thinkaloud.jsontext import loads, preview_arguments
from thinkaloud.limits import depth_of
from thinkaloud.protocols.base import ErrorResponse, ParseContext
from thinkaloud.protocols.reader import Reader
from thinkaloud.protocols.registry import wire_protocol
from thinkaloud.testing import Reply, check_event_rules, encode_stream, encode_whole
from thinkaloud.transport.chunks import ChunkMerger
from thinkaloud.wire.awsevents import AwsChunkDecoder, AwsEventDecoder
from thinkaloud.wire.compressed import Inflater
from thinkaloud.wire.sse import SseDecoder

PROTOCOLS = ("anthropic-messages", "bedrock-converse", "gemini", "openai-chat", "openai-responses")

_THOUGHT = "Let me see. \U0001f914"


def _reply(protocol: str) -> Reply:
    thinking = ta.Thinking(_THOUGHT) if protocol == "openai-chat" else ta.Thinking.signed(_THOUGHT, "c2lnbmF0dXJl")
    return Reply([thinking, *_REST])


_REST = (
    "The answer is 42.",
    ta.ToolCall("call_1", name="search", arguments_json='{"q": "weather", "n": [1, {"a": null}]}'),
)
_ERROR = b'{"error": {"type": "invalid_request_error", "code": 400, "message": "prompt is too long", "details": [{}]}}'
_HEADERS = {"retry-after": "3", "x-amzn-errortype": "ValidationException:x#y"}


@frozen
class Target:
    """run: takes the input, and raises something only where it is a fault. seeds: inputs to damage."""

    run: Callable[[bytes], None]
    seeds: tuple[bytes, ...]


def _pieces(data: bytes) -> Iterable[bytes]:
    size = 1 + len(data) % 97
    return (data[start : start + size] for start in range(0, len(data), size))


def _read(protocol: str, status: int, data: bytes) -> None:
    reader = Reader(
        wire_protocol(protocol), ParseContext(origin=ta.Origin(protocol, "p", "m")), status=status, headers=_HEADERS
    )
    events = [event for piece in _pieces(data) for event in reader.feed(piece)]
    events += reader.close()
    check_event_rules(events, complete=reader.error is None)
    partial = reader.partial if reader.error is not None else reader.message
    if partial is not None:
        assert codec.loads(codec.dumps(partial)) is not None
        for call in partial.tool_calls:
            with suppress(ta.MalformedToolArguments):
                _ = call.arguments


def _error(protocol: str, data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    try:
        body = loads(text)
    except ValueError:
        body = text
    for status in (None, 400, 500):
        headers = {"retry-after": text[:40], "request-id": text[:40]}
        wire_protocol(protocol).error(ErrorResponse(body=body, status=status, headers=headers, provider="p"))


def _framing(decoder: Callable[[], SseDecoder | AwsEventDecoder | AwsChunkDecoder], data: bytes) -> None:
    made = decoder()
    try:
        for piece in _pieces(data):
            made.feed(piece)
        made.close()
    except ta.ThinkaloudError:
        pass


def _stored(data: bytes) -> None:
    for load in (codec.loads, codec.conversation_from):
        with suppress(ta.CodecError):
            load(data)


def _preview(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    assert isinstance(preview_arguments(text), dict)
    assert depth_of(text, 0) >= 0


def _merged(data: bytes) -> None:
    merger = ChunkMerger()
    for piece in _pieces(data):
        merger.feed(piece)


def _inflated(encoding: str, data: bytes) -> None:
    inflater = Inflater(encoding)
    try:
        for piece in _pieces(data):
            for inside in inflater.feed(piece):
                assert len(inside) <= 64 * 1024
        inflater.close()
    except ValueError:
        pass


def _bodies(protocol: str) -> tuple[bytes, ...]:
    reply = _reply(protocol)
    return (b"".join(encode_stream(protocol, reply)), encode_whole(protocol, reply), _ERROR, b"data: " + _ERROR)


_CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n3;x=y\r\nyou\r\n0\r\n\r\n"
_MESSAGE = codec.dumps(ta.AssistantMessage("Hello", origin=ta.Origin("openai-chat", "p", "m"))).encode()
_CONVERSATION = ta.Conversation(["Hello", ta.AssistantMessage(ta.Thinking.signed("x", "c2ln"))]).to_json().encode()

TARGETS: dict[str, Target] = {
    **{f"parse {name}": Target(partial(_read, name, 200), _bodies(name)) for name in PROTOCOLS},
    **{f"parse {name} with status 500": Target(partial(_read, name, 500), (_ERROR,)) for name in PROTOCOLS},
    **{f"error of {name}": Target(partial(_error, name), (_ERROR, b"<html>x</html>")) for name in PROTOCOLS},
    "server-sent events": Target(partial(_framing, SseDecoder), _bodies("anthropic-messages")),
    "frames of AWS": Target(partial(_framing, AwsEventDecoder), _bodies("bedrock-converse")),
    "chunks of AWS": Target(partial(_framing, AwsChunkDecoder), _bodies("bedrock-converse")),
    "stored messages": Target(_stored, (_MESSAGE, _CONVERSATION)),
    "half-written arguments": Target(_preview, (b'{"a": [1, "x\\u00e9", {"b": null}], "c": -1.5e3}',)),
    "chunked bodies": Target(_merged, (_CHUNKED,)),
    "gzip": Target(partial(_inflated, "gzip"), (gzip.compress(b"hello" * 100, mtime=0),)),
    "deflate": Target(partial(_inflated, "deflate"), (zlib.compress(b"hello" * 100),)),
}
