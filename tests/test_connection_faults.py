"""Connections that break, stall or talk nonsense at any point: a success only where the answer was whole."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import anyio
import pytest
from anyio.abc import SocketStream

import thinkaloud as ta
from support.calling import MODELS, calling
from support.raw_server import HEAD, Answering, RawServer, chunk, gone, raw_server, saying
from support.streams import anthropic, said, started, stopped, thought
from thinkaloud.testing import Delivery, Reply, Scripted, encode_stream
from thinkaloud.testing.event_rules import check_event_rules

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("library", ["httpx", "httpx2", "own"])]

CLAUDE = "anthropic/claude-opus-5"
CALL = ta.ToolCall("toolu_a", name="add", arguments_json='{"a": 1, "b": 2}')
CONTENT: dict[str, list[ta.AssistantBlock]] = {
    "anthropic-messages": [ta.Thinking.signed("one two three", "c2ln"), ta.Text("four five six"), CALL],
    "openai-chat": [ta.Thinking("one two three"), ta.Text("four five six"), CALL],
}
WHOLE = anthropic(
    started(input_tokens=9, output_tokens=1),
    *thought(0, "c2ln", "one two"),
    *said(1, "three"),
    *stopped("end_turn", output_tokens=2),
)
CUT = WHOLE[: WHOLE.index(b"event: message_delta")]


@pytest.fixture(autouse=True)
def _library_is_installed(library: str) -> None:
    if library != "own":
        pytest.importorskip(library)


def written(block: ta.AssistantBlock) -> str:
    assert not isinstance(block, ta.Opaque)
    return block.arguments_json if isinstance(block, ta.ToolCall) else block.text


def is_beginning(partial: ta.AssistantMessage | None, whole: list[ta.AssistantBlock]) -> bool:
    """What arrived is the beginning of what was sent, and the unfinished block alone may be shorter, and says so."""
    if partial is None:
        return True
    assert partial.tool_calls in ((), (CALL,))
    for found, sent in zip(partial.content, whole, strict=False):
        assert type(found) is type(sent)
        assert written(sent).startswith(written(found))
        if isinstance(found, ta.Thinking) and isinstance(sent, ta.Thinking):
            assert found.signature in (sent.signature, None if not found.complete else sent.signature)
        assert not found.complete or written(found) == written(sent)
    return all(block.complete for block in partial.content[:-1])


async def outcome(client: ta.Client, model: str) -> ta.AssistantMessage | ta.ThinkaloudError:
    seen: list[ta.StreamEvent] = []
    try:
        async with client.stream(model, "hi") as events:
            async for event in events:
                seen.append(event)  # noqa: PERF401
    except ta.ThinkaloudError as error:
        check_event_rules(seen, complete=False)
        return error
    check_event_rules(seen, complete=True)
    return await events.message()


@pytest.mark.parametrize("protocol", MODELS)
async def test_a_reset_at_every_100th_byte(library: str, protocol: str) -> None:
    size = sum(map(len, encode_stream(protocol, Reply(CONTENT[protocol]))))
    places = range(0, size, 100)
    script = Scripted([Reply(CONTENT[protocol], delivery=Delivery(reset_after=place)) for place in places])
    async with calling(script, library=library, protocol=protocol) as (server, client):
        for _ in places:
            error = await outcome(client, MODELS[protocol])
            assert type(error) is ta.ReadFailed
            assert is_beginning(error.partial, CONTENT[protocol])
        await server.until(lambda: server.open_connections == 0)


@pytest.mark.parametrize("protocol", MODELS)
async def test_a_stall_at_every_event(library: str, protocol: str) -> None:
    events = encode_stream(protocol, Reply(CONTENT[protocol]))
    places = [sum(map(len, events[:number])) for number in range(len(events) - 1)]
    script = Scripted([Reply(CONTENT[protocol], delivery=Delivery(stall_after=place)) for place in places])
    limits = ta.Timeouts(silence=0.05)
    async with calling(script, library=library, protocol=protocol, timeouts=limits) as (server, client):
        for _ in places:
            result = await outcome(client, MODELS[protocol])
            if isinstance(result, ta.AssistantMessage):  # the chat wire is whole before its last event
                assert protocol == "openai-chat"
                assert result.text == "four five six"
            else:
                assert type(result) is ta.DeadlineExceeded
                assert result.kind == "silence"
                assert is_beginning(result.partial, CONTENT[protocol])
        await server.until(lambda: server.open_connections == 0)


async def ends_as(server: RawServer, library: str) -> Any:
    """Call once; give the message or the error. Nothing stays open."""
    given = None if library == "own" else import_module(library).AsyncClient(verify=False)
    limits = ta.Timeouts(silence=2)
    options: dict[str, Any] = {"http_client": given, "retries": 0, "timeouts": limits}
    try:
        async with ta.Client(api_key="test-key", base_url=server.url, **options) as client:
            with anyio.fail_after(10):
                result = await outcome(client, CLAUDE)
                await server.until_closed()
            return result
    finally:
        if given is not None:
            await given.aclose()


SIZED = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: %d\r\n\r\n"
UNSIZED = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"

WELL = {
    "no end of the body after the terminal event": (HEAD, chunk(WHOLE)),
    "the last event in the middle of a chunk": (HEAD, b"%x\r\n%b" % (len(WHOLE) + 50, WHOLE)),
    "nonsense after the terminal event": (HEAD, chunk(WHOLE), b"zz\r\nnonsense"),
    "an end of the body that is cut": (HEAD, chunk(WHOLE), b"0\r\n"),
    "a body until the connection ends": (UNSIZED, WHOLE),
    "fewer bytes than were told, all events there": (SIZED % (len(WHOLE) + 7), WHOLE),
    "chunks with extensions": (HEAD, b"%x;name=value\r\n%b\r\n0\r\n\r\n" % (len(WHOLE), WHOLE)),
    "a head in single bytes": (*[bytes([byte]) for byte in HEAD], chunk(WHOLE), b"0\r\n\r\n"),
    "early answers before the real one": (b"HTTP/1.1 103 Early Hints\r\n\r\n" * 3, HEAD, chunk(WHOLE), b"0\r\n\r\n"),
}


@pytest.mark.parametrize("pieces", WELL.values(), ids=WELL)
async def test_a_whole_answer_is_whole_however_its_connection_ends(library: str, pieces: tuple[bytes, ...]) -> None:
    async with raw_server(saying(*pieces)) as server:
        message = await ends_as(server, library)
    assert isinstance(message, ta.AssistantMessage), message
    assert message.thinking_blocks[0].signature == "c2ln"
    assert message.text == "three"
    assert message.stop_reason is ta.StopReason.END


BADLY: dict[str, tuple[type[ta.ThinkaloudError], tuple[bytes, ...]]] = {
    "a clean end without the terminal event": (ta.TruncatedStream, (HEAD, chunk(CUT), b"0\r\n\r\n")),
    "the end of a body of unknown size": (ta.TruncatedStream, (UNSIZED, CUT)),
    "no end of the body": (ta.ReadFailed, (HEAD, chunk(CUT))),
    "a chunk that is cut": (ta.ReadFailed, (HEAD, chunk(CUT)[:-60])),
    "a size that is none": (ta.ReadFailed, (HEAD, chunk(CUT), b"zz\r\nnonsense\r\n")),
    "a negative size": (ta.ReadFailed, (HEAD, chunk(CUT), b"-5\r\nabcde\r\n")),
    "a size without its line end": (ta.ReadFailed, (HEAD, chunk(CUT), b"5" * 3000)),
    "data longer than its size": (ta.ReadFailed, (HEAD, b"%x\r\n%b\r\n" % (len(CUT) - 30, CUT))),
    "a size beyond all measure": (ta.ReadFailed, (HEAD, chunk(CUT), b"f" * 40 + b"\r\nabc\r\n")),
    "fewer bytes than were told": (ta.ReadFailed, (SIZED % (len(CUT) + 7), CUT)),
}


@pytest.mark.parametrize(("expected", "pieces"), BADLY.values(), ids=BADLY)
async def test_a_broken_frame_is_never_a_success(
    library: str, expected: type[ta.ThinkaloudError], pieces: tuple[bytes, ...]
) -> None:
    async with raw_server(saying(*pieces)) as server:
        error = await ends_as(server, library)
    assert type(error) is expected, error
    assert isinstance(error, (ta.TransportError, ta.StreamError))
    assert error.partial is not None
    assert error.partial.thinking.startswith("one")
    assert error.partial.stop_reason is ta.StopReason.ERROR


HEADLESS = {
    "nothing at all": (),
    "no HTTP": (b"220 smtp ready\r\n\r\n",),
    "half a head": (HEAD[:40],),
    "two sizes": (b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 7\r\n\r\nabcdefg",),
}


@pytest.mark.parametrize("end", ["close", "reset"])
@pytest.mark.parametrize("pieces", HEADLESS.values(), ids=HEADLESS)
async def test_no_answer_is_a_failed_read(library: str, pieces: tuple[bytes, ...], end: str) -> None:
    async with raw_server(saying(*pieces, end=end)) as server:
        error = await ends_as(server, library)
    assert type(error) is ta.ReadFailed, error
    assert error.partial is None


@pytest.mark.parametrize("end", ["close", "reset"])
async def test_a_head_without_end_is_over_the_limit_of_headers(library: str, end: str) -> None:
    head = (b"HTTP/1.1 200 OK\r\n", *[b"x-more: %b\r\n" % (b"y" * 1000)] * 300)
    async with raw_server(saying(*head, end=end)) as server:
        error = await ends_as(server, library)
    assert isinstance(error, ta.LimitExceeded), error
    assert error.which == "header_size"


def half_closed(*pieces: bytes) -> Answering:
    """The server says no more, and still listens."""

    async def answer(stream: SocketStream) -> None:
        for piece in pieces:
            await stream.send(piece)
        await stream.send_eof()
        await gone(stream)

    return answer


async def test_a_connection_that_is_half_closed_is_given_up(library: str) -> None:
    async with raw_server(half_closed(HEAD, chunk(CUT))) as server:
        error = await ends_as(server, library)
    assert type(error) is ta.ReadFailed
    assert error.partial is not None
    assert error.partial.thinking == "one two"


async def test_a_connection_that_stays_open_after_the_terminal_event_is_closed(library: str) -> None:
    async with raw_server(saying(HEAD, chunk(WHOLE), end="hold")) as server:
        message = await ends_as(server, library)
    assert message.text == "three"


async def test_the_next_call_does_not_take_a_connection_that_was_closed_behind_its_back(library: str) -> None:
    async with raw_server(saying(HEAD, chunk(WHOLE), b"0\r\n\r\n")) as server:
        given = None if library == "own" else import_module(library).AsyncClient(verify=False)
        async with ta.Client(api_key="k", base_url=server.url, http_client=given, retries=0) as client:
            for _ in range(3):
                assert (await client.complete(CLAUDE, "hi")).text == "three"
                await server.until_closed()
        if given is not None:
            await given.aclose()
