"""What one answer may take has bounds: each is an option with a default, and passing it is an error with its name."""

from __future__ import annotations

import gzip
import json
import zlib
from typing import Any

import anyio
import pytest
from anyio.abc import SocketStream

import thinkaloud as ta
from support.raw_server import HEAD, chunk, raw_server, saying
from thinkaloud.limits import depth_of
from thinkaloud.protocols.base import ParseContext
from thinkaloud.protocols.reader import Reader
from thinkaloud.protocols.registry import wire_protocol
from thinkaloud.testing import Reply, encode_stream, encode_whole
from thinkaloud.wire.compressed import Inflater

PROTOCOLS = ["anthropic-messages", "bedrock-converse", "gemini", "openai-chat", "openai-responses"]
CHAT = "deepseek/deepseek-v4-pro"


def read(protocol: str, body: bytes, **limits: int) -> ta.ThinkaloudError | None:
    context = ParseContext(origin=ta.Origin(protocol, "p", "m"))
    reader = Reader(wire_protocol(protocol), context, limits=ta.Limits(**limits))
    for start in range(0, len(body), 1000):
        reader.feed(body[start : start + 1000])
    reader.close()
    return reader.error


def bodies(protocol: str, *blocks: Any) -> list[bytes]:
    reply = Reply(list(blocks))
    streamed = b"".join(encode_stream(protocol, reply))
    return [streamed, encode_whole(protocol, reply)]


def exceeded(error: ta.ThinkaloudError | None) -> tuple[str, int | None]:
    assert isinstance(error, ta.LimitExceeded)
    assert error.which in str(error)
    return error.which, error.limit


def call(number: int, arguments: str = "{}") -> ta.ToolCall:
    return ta.ToolCall(f"call_{number}", name="f", arguments_json=arguments)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_tool_calls_are_counted_streamed_and_whole(protocol: str) -> None:
    for body in bodies(protocol, call(1), call(2), call(3)):
        assert read(protocol, body, tool_calls=3) is None
        assert exceeded(read(protocol, body, tool_calls=2)) == ("tool_calls", 2)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_blocks_are_counted_streamed_and_whole(protocol: str) -> None:
    for body in bodies(protocol, "Hello", call(1)):
        assert read(protocol, body, blocks=2) is None
        error = read(protocol, body, blocks=1)
        assert exceeded(error) == ("blocks", 1)
        assert isinstance(error, ta.LimitExceeded)
        assert error.partial is not None


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_arguments_may_lie_only_so_deep(protocol: str) -> None:
    arguments = json.dumps({"a": [[{"b": "[[[[[{"}]]})
    for body in bodies(protocol, call(1, arguments)):
        assert read(protocol, body, argument_depth=4) is None
        assert exceeded(read(protocol, body, argument_depth=3)) == ("argument_depth", 3)


@pytest.mark.parametrize("protocol", ["anthropic-messages", "openai-chat", "openai-responses"])
def test_arguments_as_deep_as_a_bomb_are_refused_by_default(protocol: str) -> None:
    arguments = '{"a":' + "[" * 100_000 + "]" * 100_000 + "}"
    body = b"".join(encode_stream(protocol, Reply([call(1, arguments)])))
    assert exceeded(read(protocol, body)) == ("argument_depth", 200)


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        ("{}", 1),
        ('{"a":[1,[2]]}', 3),
        (r'{"a":"\"[[["}', 1),
        (r'{"a":"\\","b":[]}', 2),
        ('{"a":"[[[', 1),
        ("[[[[", 4),
        ("]]]][", -3),
        ("", 0),
    ],
)
def test_depth_is_told_outside_of_strings(text: str, depth: int) -> None:
    assert depth_of(text, 0) == max(depth, 0)


def test_depth_of_a_long_text_takes_no_time() -> None:
    assert depth_of('{"a": "' + "\\" * 2_000_000, 0) == 1
    assert depth_of('["\\"",' * 200_000, 0) == 200_000


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_stream_without_end_stops_at_its_bound(protocol: str) -> None:
    body = bodies(protocol, "word " * 5000)[0]
    assert exceeded(read(protocol, body, stream_size=10_000)) == ("stream_size", 10_000)
    assert read(protocol, body) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [("event_size", 0), ("blocks", -1), ("tool_calls", True), ("header_size", 1.5), ("body_size", "x")],
)
def test_a_bound_that_is_none_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(ta.ConfigurationError, match=name):
        ta.Limits(**{name: value})


# over HTTP

BODY = b'data: {"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'


def answer(body: bytes, *headers: str) -> bytes:
    lines = ["HTTP/1.1 200 OK", "content-type: text/event-stream", f"content-length: {len(body)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


async def asked(*said: bytes, **limits: int) -> ta.AssistantMessage:
    async with raw_server(saying(*said)) as server:
        try:
            async with ta.Client(
                api_key="test-key", base_url=server.url, retries=0, limits=ta.Limits(**limits)
            ) as client:
                return await client.complete(CHAT, "Hi")
        except ta.ThinkaloudError as error:
            failure = error
        await server.until_closed()
    raise failure


@pytest.mark.anyio
@pytest.mark.parametrize("size", [5_000, 200_000])
async def test_headers_that_are_too_large_are_refused(size: int) -> None:
    with pytest.raises(ta.LimitExceeded) as caught:
        await asked(answer(BODY, f"x-long: {'x' * size}"), header_size=4_000)
    assert caught.value.which == "header_size"


@pytest.mark.anyio
async def test_headers_of_usual_size_are_taken() -> None:
    assert (await asked(answer(BODY, f"x-long: {'x' * 5_000}"))).text == "Hello"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(BODY, mtime=0)),
        ("x-gzip", gzip.compress(BODY[:40], mtime=0) + gzip.compress(BODY[40:], mtime=0)),
        ("deflate", zlib.compress(BODY)),
        ("deflate", zlib.compress(BODY)[2:-4]),
        ("Identity", BODY),
    ],
)
async def test_a_gateway_that_compresses_is_read_all_the_same(encoding: str, body: bytes) -> None:
    assert (await asked(answer(body, f"content-encoding: {encoding}"))).text == "Hello"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("encoding", "body", "words"),
    [
        ("br", b"\x0b\x02\x80", "compressed as 'br'"),
        ("zstd", b"x", "compressed as 'zstd'"),
        ("gzip, gzip", b"x", "compressed as 'gzip, gzip'"),
        ("gzip", BODY, "not compressed as it says"),
        ("gzip", gzip.compress(BODY * 50, mtime=0)[:60], "ends in the middle"),
    ],
)
async def test_a_compressed_body_that_cannot_be_read_is_no_answer(encoding: str, body: bytes, words: str) -> None:
    with pytest.raises(ta.ReadFailed, match=words):
        await asked(answer(body, f"content-encoding: {encoding}"))


@pytest.mark.anyio
async def test_a_bomb_is_stopped_at_the_bound_of_what_comes_out_of_it() -> None:
    bomb = gzip.compress(b'data: {"x": "' + b"x" * 50_000_000)
    assert len(bomb) < 100_000
    with pytest.raises(ta.LimitExceeded) as caught:
        await asked(answer(bomb, "content-encoding: gzip"), event_size=1_000_000)
    assert caught.value.which == "event_size"


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(BODY, mtime=0) * 2),
        ("deflate", zlib.compress(BODY) * 2),
        ("deflate", zlib.compress(BODY)[2:-4] * 2),
    ],
)
@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_compressed_body_may_come_in_pieces_of_any_size(encoding: str, body: bytes, size: int) -> None:
    inflater = Inflater(encoding)
    pieces = [body[start : start + size] for start in range(0, len(body), size)]
    assert b"".join(out for piece in pieces for out in inflater.feed(piece)) == BODY * 2
    inflater.close()


def test_a_bomb_comes_out_in_small_pieces() -> None:
    bomb = zlib.compress(b"x" * 10_000_000)
    pieces = [len(piece) for piece in Inflater("deflate").feed(bomb)]
    assert (sum(pieces), max(pieces)) == (10_000_000, 64 * 1024)


# a reader that is slower than its server


@pytest.mark.anyio
@pytest.mark.parametrize("form", ["entered", "bare"])
async def test_a_slow_reader_makes_the_server_wait(form: str) -> None:
    sent = 0
    waiting = anyio.Event()
    text = "x" * 16_000
    event = chunk(b'data: {"choices":[{"index":0,"delta":{"content":"%s"}}]}\n\n' % text.encode())

    async def floods(stream: SocketStream) -> None:
        nonlocal sent
        await stream.send(HEAD)
        while True:
            with anyio.move_on_after(0.5) as scope:
                await stream.send(event)
            if scope.cancelled_caught:
                waiting.set()
                return
            sent += len(text)

    async with (
        raw_server(floods) as server,
        ta.Client(api_key="test-key", base_url=server.url, retries=0) as client,
    ):
        events = client.stream(CHAT, "Hi")
        if form == "entered":
            async with events:
                await anext(events)
                await waiting.wait()
        else:
            await anext(events)
            await waiting.wait()
            await events.aclose()
    assert sent < 32 * 1024 * 1024
