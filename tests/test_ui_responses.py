"""Answers on their way to a browser: heartbeats, failures, and clients that leave."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any

import anyio
import anyio.lowlevel
import pytest

import thinkaloud as ta
from support.browser import Browser
from support.calling import MODELS, calling
from support.ui import CALL, ENCODERS, FIRST, RESULT, SECOND, chunks, run_events, told, types
from thinkaloud.testing import Delivery, Reply, Scripted
from thinkaloud.testing.server import Server
from thinkaloud.ui import ByteStream, EventResponse, MemoryStore, event_response, vercel
from thinkaloud.ui.framing import KEEP_ALIVE

pytestmark = pytest.mark.anyio

CLAUDE = MODELS["anthropic-messages"]
CONTENT: list[ta.AssistantBlock] = [ta.Thinking.signed("one two three four", "c2ln"), ta.Text("five six")]


@asynccontextmanager
async def holding(piece: int = 5) -> AsyncIterator[tuple[Server, ta.Client, anyio.Event]]:
    """A model that thinks silently before one piece of its answer, until the gate opens."""
    gate = anyio.Event()
    script = Scripted([Reply(CONTENT, delivery=Delivery(gates={piece: gate}))], repeat_last=True)
    async with calling(script, library="own") as (server, client):
        yield server, client, gate


class Events:
    """A source of events that are known beforehand, in both forms; an error may end it."""

    def __init__(self, events: list[Any], error: BaseException | None = None) -> None:
        self.events: Iterator[Any] = iter(events)
        self.error = error
        self.closed = False

    def __aiter__(self) -> Events:
        return self

    async def __anext__(self) -> Any:
        await anyio.lowlevel.checkpoint()
        for event in self.events:
            return event
        raise self.error or StopAsyncIteration

    async def aclose(self) -> None:
        await anyio.lowlevel.checkpoint()
        self.closed = True

    async def __aenter__(self) -> Events:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closed = True


@pytest.mark.parametrize("protocol", ENCODERS)
async def test_a_response_is_the_body_of_its_encoder(protocol: str) -> None:
    browser, events = Browser(), run_events(FIRST, RESULT, SECOND)
    await browser.visit(EventResponse(Events(events), ENCODERS[protocol]()))
    assert (browser.status, browser.ended) == (200, True)
    assert browser.body == told(ENCODERS[protocol](), events)


async def test_the_headers_keep_proxies_from_holding_it_back() -> None:
    browser = Browser()
    response = EventResponse(Events([]), vercel.Encoder(), headers={"Access-Control-Allow-Origin": "*"})
    await browser.visit(response)
    assert browser.headers == {
        "content-type": "text/event-stream",
        "cache-control": "no-cache, no-transform",
        "x-accel-buffering": "no",
        "x-vercel-ai-ui-message-stream": "v1",
        "access-control-allow-origin": "*",
    }


async def test_hearts_beat_while_the_model_is_silent_and_nothing_is_lost() -> None:
    browser, store = Browser(), MemoryStore()
    encoder = vercel.Encoder(message_id="M", store=store)
    async with holding() as (_, client, gate), anyio.create_task_group() as tasks:
        tasks.start_soon(browser.visit, EventResponse(client.stream(CLAUDE, "hi"), encoder, heartbeat=0.01))
        await browser.until(lambda: browser.body.count(KEEP_ALIVE) > 3)
        gate.set()
        await browser.until(lambda: browser.ended)
    [message] = encoder.messages
    assert isinstance(message, ta.AssistantMessage)
    assert (message.thinking, message.text) == ("one two three four", "five six")
    deltas = [chunk["delta"] for chunk in chunks(browser.body) if chunk["type"].endswith("-delta")]
    assert "".join(deltas) == "one two three fourfive six"


async def test_a_client_that_leaves_during_silence_ends_the_call_of_the_provider() -> None:
    browser, store = Browser(), MemoryStore()
    encoder = vercel.Encoder(message_id="M", store=store)
    async with holding() as (server, client, _), anyio.create_task_group() as tasks:
        tasks.start_soon(browser.visit, EventResponse(client.stream(CLAUDE, "hi"), encoder))
        await browser.until(lambda: b"reasoning-delta" in browser.body)
        browser.leave()
        with anyio.fail_after(5):
            await server.until(lambda: server.closed_by_client == 1 and server.open_connections == 0)
    kept = store.load("M")
    assert kept is not None
    assert isinstance(kept[0], ta.AssistantMessage)
    assert kept[0].stop_reason is ta.StopReason.ABORTED
    assert not browser.ended


async def test_a_socket_that_is_gone_ends_the_call_of_the_provider() -> None:
    browser = Browser()
    async with holding() as (server, client, _), anyio.create_task_group() as tasks:
        response = EventResponse(client.stream(CLAUDE, "hi"), vercel.Encoder(), heartbeat=0.01)
        tasks.start_soon(browser.visit, response)
        await browser.until(lambda: b"reasoning-delta" in browser.body)
        browser.refuses = True
        with anyio.fail_after(5):
            await server.until(lambda: server.closed_by_client == 1 and server.open_connections == 0)


async def test_a_client_that_leaves_while_the_last_piece_is_sent_keeps_nobody_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(event_response, "_LAST_PIECE_SECONDS", 0.01)
    last = anyio.Event()

    async def receive() -> dict[str, Any]:
        await last.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.body" and not message["more_body"]:
            last.set()
            await anyio.sleep_forever()

    with anyio.fail_after(10):
        await EventResponse(Events(run_events(FIRST)), vercel.Encoder())({"type": "http"}, receive, send)


async def test_a_server_that_tells_of_the_end_too_early_may_finish_its_last_piece() -> None:
    last, closed = anyio.Event(), False

    async def receive() -> dict[str, Any]:
        await last.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        nonlocal closed
        if message["type"] == "http.response.body" and not message["more_body"]:
            last.set()
            await anyio.wait_all_tasks_blocked()
            closed = True

    await EventResponse(Events(run_events(FIRST)), vercel.Encoder())({"type": "http"}, receive, send)
    assert closed


async def test_a_failure_of_the_provider_is_told_in_the_protocols_own_way() -> None:
    browser = Browser()
    async with calling([Reply.failure(529, "host-7 is full")], library="own") as (_, client):
        await browser.visit(EventResponse(client.stream(CLAUDE, "hi"), vercel.Encoder()))
    assert types(browser.body) == ["start", "message-metadata", "finish", "error"]
    assert browser.ended
    assert b"host-7" not in browser.body


async def test_an_error_of_the_application_is_told_and_then_raised_for_the_log() -> None:
    browser, source = Browser(), Events(run_events(FIRST)[:5], FileNotFoundError("/etc/hunter2"))
    with pytest.raises(FileNotFoundError):
        await browser.visit(EventResponse(source, vercel.Encoder()))
    assert types(browser.body)[-1] == "error"
    assert (browser.ended, source.closed) == (True, True)
    assert b"hunter2" not in browser.body


async def test_a_run_is_streamed_with_its_tools_and_kept_whole() -> None:
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    script = [[FIRST.content[0], ta.Text("Let me add."), CALL], ["It is 4."]]
    store, browser = MemoryStore(), Browser()
    async with calling(script, library="own") as (_, client):
        run = ta.run_stream(CLAUDE, "2 + 2?", tools=[ta.Tool.from_function(add)], client=client)
        await browser.visit(EventResponse(run, vercel.Encoder(message_id="M", store=store)))
        result = await run.result()
    assert {"type": "tool-output-available", "toolCallId": "call_1", "output": "4"} in chunks(browser.body)
    assert types(browser.body).count("start-step") == 2
    kept = store.load("M")
    assert kept is not None
    assert kept == tuple(result.messages)[-3:]


async def test_a_heart_that_never_beats_is_refused() -> None:
    with pytest.raises(ValueError, match="heartbeat"):
        EventResponse(Events([]), vercel.Encoder(), heartbeat=0)


# the iterator of bytes


@pytest.mark.parametrize("protocol", ENCODERS)
async def test_an_iterator_of_bytes_gives_the_body_of_its_encoder(protocol: str) -> None:
    events = run_events(FIRST, RESULT, SECOND)
    pieces = [piece async for piece in ByteStream(Events(events), ENCODERS[protocol]())]
    assert b"".join(pieces) == told(ENCODERS[protocol](), events)


async def test_an_iterator_reads_a_call_of_a_provider() -> None:
    async with calling([CONTENT], library="own") as (server, client):
        body = b"".join([piece async for piece in ByteStream(client.stream(CLAUDE, "hi"), vercel.Encoder())])
    assert types(body)[-1] == "finish"
    assert server.closed_by_client == 0


async def test_an_iterator_tells_failures_and_raises_only_those_of_the_application() -> None:
    failed = ByteStream(Events([], ta.ServerError("host-7")), vercel.Encoder())
    assert types([piece async for piece in failed])[-1] == "error"
    seen = []
    with pytest.raises(RuntimeError, match="hunter2"):
        async for piece in ByteStream(Events([], RuntimeError("hunter2")), vercel.Encoder()):
            seen.append(piece)  # noqa: PERF401  those before the error are wanted
    assert types(seen)[-1] == "error"
    assert b"hunter2" not in b"".join(seen)


async def test_closing_an_iterator_ends_the_call_and_keeps_what_had_come() -> None:
    store = MemoryStore()
    async with holding() as (server, client, _):
        pieces = ByteStream(client.stream(CLAUDE, "hi"), vercel.Encoder(message_id="M", store=store))
        async for piece in pieces:
            if b"reasoning-delta" in piece:
                break
        await pieces.aclose()
        with anyio.fail_after(5):
            await server.until(lambda: server.closed_by_client == 1)
        assert [piece async for piece in pieces] == []
    assert store.load("M") is not None


async def test_a_cancelled_wait_ends_the_call_and_keeps_what_had_come() -> None:
    store = MemoryStore()
    async with holding() as (server, client, _):
        pieces = ByteStream(client.stream(CLAUDE, "hi"), vercel.Encoder(message_id="M", store=store))
        with anyio.move_on_after(0.2):
            async for _ in pieces:
                pass
        with anyio.fail_after(5):
            await server.until(lambda: server.closed_by_client == 1)
    assert store.load("M") is not None


async def test_hearts_beat_in_a_path_operation_of_fastapi_too() -> None:
    fastapi = pytest.importorskip("fastapi")
    responses = pytest.importorskip("starlette.responses")

    class Streamed(responses.Response):  # type: ignore[misc, name-defined]
        def __init__(self, application: EventResponse) -> None:
            super().__init__()
            self.application = application

        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            await self.application(scope, receive, send)

    app = fastapi.FastAPI()
    request = {
        "type": "http",
        "method": "GET",
        "path": "/ask",
        "query_string": b"",
        "headers": [],
        "http_version": "1.1",
    }

    async def page(scope: Any, receive: Any, send: Any) -> None:
        await app({**scope, **request}, receive, send)

    async with holding() as (_, client, gate):

        @app.get("/ask")  # type: ignore[untyped-decorator]
        async def ask() -> Any:
            return Streamed(EventResponse(client.stream(CLAUDE, "hi"), vercel.Encoder(), heartbeat=0.01))

        browser = Browser()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(browser.visit, page)
            await browser.until(lambda: browser.body.count(KEEP_ALIVE) >= 2)
            gate.set()
    assert (browser.status, browser.ended) == (200, True)
    assert browser.headers["x-vercel-ai-ui-message-stream"] == "v1"
    assert types(browser.body)[-1] == "finish"
