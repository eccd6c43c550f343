"""A server that never comes to its answer, however busy it is: the call ends in time, and takes no memory for it."""

from __future__ import annotations

import tracemalloc
from importlib import import_module
from typing import Any

import anyio
import pytest
from anyio.abc import SocketStream

import thinkaloud as ta
from support.raw_server import HEAD, Answering, chunk, raw_server
from support.streams import anthropic, started
from thinkaloud.protocols.base import ParseContext
from thinkaloud.protocols.reader import Reader
from thinkaloud.protocols.registry import wire_protocol
from thinkaloud.testing.aws_frames import event_frame

CLAUDE = "anthropic/claude-opus-5"
BEDROCK = "amazon-bedrock/us.anthropic.claude-opus-4-6-v1"
BEGUN = chunk(anthropic(started(input_tokens=9, output_tokens=1)))
AWS_HEAD = HEAD.replace(b"text/event-stream", b"application/vnd.amazon.eventstream")
FAILED = HEAD.replace(b"200 OK", b"500 Internal Server Error")
PING = b'event: ping\ndata: {"type": "ping"}\n\n'
SHORT = 0.15


def without_end(first: bytes, again: bytes, pause: float) -> Answering:
    async def answer(stream: SocketStream) -> None:
        if first:
            await stream.send(first)
        while True:
            await stream.send(again)
            if pause:
                await anyio.sleep(pause)

    return answer


SLOW, AT_ONCE = 0.01, 0.0
ENDLESS: dict[str, tuple[str, bytes, bytes, float]] = {
    "100 Continue": (CLAUDE, b"", b"HTTP/1.1 100 Continue\r\n\r\n", SLOW),
    "100 Continue, in a flood": (CLAUDE, b"", b"HTTP/1.1 100 Continue\r\n\r\n", AT_ONCE),
    "103 Early Hints, in a flood": (CLAUDE, b"", b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n", AT_ONCE),
    "a status line in single bytes": (CLAUDE, b"", b"H", SLOW),
    "a header in single bytes": (CLAUDE, HEAD[:-2] + b"x-more: ", b"y", SLOW),
    "header lines": (CLAUDE, HEAD[:-2], b"x-more: y\r\n", SLOW),
    "comments, in a flood": (CLAUDE, HEAD, chunk(b": here\n\n" * 100), AT_ONCE),
    "one comment": (CLAUDE, HEAD + chunk(b":"), chunk(b"x"), SLOW),
    "blank lines": (CLAUDE, HEAD, chunk(b"\n"), SLOW),
    "blank lines, in a flood": (CLAUDE, HEAD, chunk(b"\n" * 10_000), AT_ONCE),
    "pings behind a beginning, in a flood": (CLAUDE, HEAD + BEGUN, chunk(PING * 50), AT_ONCE),
    "blanks in a body that is whole": (CLAUDE, HEAD + chunk(b"{"), chunk(b" "), SLOW),
    "the body of an error": (CLAUDE, FAILED, chunk(b"x"), SLOW),
    "trailers": (CLAUDE, HEAD + BEGUN + b"0\r\n", b"x-more: y\r\n", SLOW),
    "frames of Bedrock that say nothing": (BEDROCK, AWS_HEAD, chunk(event_frame("keepAlive", b"{}")), SLOW),
    "frames of Bedrock, in a flood": (BEDROCK, AWS_HEAD, chunk(event_frame("keepAlive", b"{}") * 50), AT_ONCE),
}


async def ended(library: str, model: str, answer: Answering) -> ta.ThinkaloudError:
    """The error of one call, all but the limit on the first event left as it is; its connection is closed."""
    if library != "own":
        pytest.importorskip(library)
    given: Any = None if library == "own" else import_module(library).AsyncClient(verify=False)
    limits = ta.Timeouts(first_event=SHORT)
    try:
        async with (
            raw_server(answer) as server,
            ta.Client(api_key="test-key", base_url=server.url, http_client=given, timeouts=limits, retries=0) as client,
        ):
            with anyio.fail_after(30), pytest.raises(ta.ThinkaloudError) as caught:
                await client.complete(model, "hi")
            with anyio.fail_after(10):
                await server.until_closed()
        return caught.value
    finally:
        if given is not None:
            await given.aclose()


@pytest.mark.anyio
@pytest.mark.parametrize("library", ["own", "httpx", "httpx2"])
@pytest.mark.parametrize(("model", "first", "again", "pause"), ENDLESS.values(), ids=ENDLESS)
async def test_a_beginning_without_end_is_over_when_the_first_event_is_due(
    library: str, model: str, first: bytes, again: bytes, pause: float
) -> None:
    error = await ended(library, model, without_end(first, again, pause))
    assert isinstance(error, ta.DeadlineExceeded), error
    assert error.kind == "first_event"


@pytest.mark.anyio
@pytest.mark.parametrize("library", ["own", "httpx", "httpx2"])
@pytest.mark.parametrize(
    ("first", "again"),
    [
        (HEAD[:-2], b"x-more: y\r\n" * 1000),
        (HEAD[:-2] + b"x-more: ", b"y" * 10_000),
        (HEAD + b"5;", b"x" * 10_000),
        (HEAD + BEGUN + b"0\r\n", b"x-more: y\r\n" * 1000),
    ],
    ids=["header lines", "a header", "the extension of a chunk", "trailers"],
)
async def test_a_flood_of_headers_is_over_a_limit(library: str, first: bytes, again: bytes) -> None:
    error = await ended(library, CLAUDE, without_end(first, again, AT_ONCE))
    if not isinstance(error, ta.DeadlineExceeded):  # on a busy machine it may come first
        assert isinstance(error, ta.LimitExceeded), error
        assert error.which == "header_size"


def test_the_first_event_is_due_unless_somebody_says_otherwise() -> None:
    assert ta.Timeouts().first_event == 1800


NOTHING = {
    "comments": ("anthropic-messages", b": here\n\n" * 100),
    "blank lines": ("anthropic-messages", b"\r\n" * 400),
    "spaces": ("openai-chat", b" " * 800),
    "pings": ("anthropic-messages", PING * 20),
    "frames of Bedrock": ("bedrock-converse", event_frame("keepAlive", b"{}") * 8),
}


def reader(protocol: str, limits: ta.Limits) -> Reader:
    return Reader(wire_protocol(protocol), ParseContext(origin=ta.Origin(protocol, "p", "m")), limits=limits)


@pytest.mark.parametrize(("protocol", "piece"), NOTHING.values(), ids=NOTHING)
def test_what_says_nothing_counts_as_the_stream_that_it_is(protocol: str, piece: bytes) -> None:
    read = reader(protocol, ta.Limits(stream_size=100_000))
    for _ in range(100_000 // len(piece)):
        read.feed(piece)
    assert read.error is None
    read.feed(piece)
    assert isinstance(read.error, ta.LimitExceeded)
    assert read.error.which == "stream_size"


@pytest.mark.unwatched
@pytest.mark.parametrize(("protocol", "piece"), NOTHING.values(), ids=NOTHING)
def test_what_says_nothing_takes_no_memory(protocol: str, piece: bytes) -> None:
    read = reader(protocol, ta.Limits())
    read.feed(piece)
    tracemalloc.start()
    try:
        for _ in range(500):
            read.feed(piece)
        kept = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert read.error is None
    assert kept < 20_000
