"""A browser that goes away ends the stream behind a real ASGI server, and with it the connection to the provider."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

import anyio
import anyio.lowlevel
import httpx
import pytest
from anyio.abc import SocketStream

import thinkaloud as ta
from support.calling import MODELS, calling
from thinkaloud.testing import Delivery, Reply, Scripted
from thinkaloud.testing.server import Server
from thinkaloud.ui import EventResponse, LiveAnswer, agui, sse, vercel

uvicorn = pytest.importorskip("uvicorn")
pytest.importorskip("hypercorn")

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.parametrize(
        ("anyio_backend", "server"), [("asyncio", "uvicorn"), ("asyncio", "hypercorn"), ("trio", "hypercorn")]
    ),
]

CLAUDE = MODELS["anthropic-messages"]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
App = Callable[[Any, Receive, Send], Awaitable[None]]
Answer = Callable[[ta.Client], App]


# answers of an application's own, cancelled when the browser goes, as the web frameworks do it


def cancelled(answer: Callable[[ta.Client, Send], Awaitable[None]]) -> Answer:
    def of(client: ta.Client) -> App:
        async def app(scope: Any, receive: Receive, send: Send) -> None:
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
            async with anyio.create_task_group() as tasks:

                async def watch() -> None:
                    while (await receive())["type"] != "http.disconnect":
                        pass
                    tasks.cancel_scope.cancel()

                tasks.start_soon(watch)
                await answer(client, send)
                await send({"type": "http.response.body", "body": b""})
                tasks.cancel_scope.cancel()

        return app

    return of


async def pass_on(send: Send, event: ta.StreamEvent) -> None:
    if isinstance(event, ta.TextDelta):
        await send({"type": "http.response.body", "body": event.text.encode(), "more_body": True})


async def entered(client: ta.Client, send: Send) -> None:
    async with client.stream(CLAUDE, "hi") as events:
        async for event in events:
            await pass_on(send, event)


async def bare(client: ta.Client, send: Send) -> None:
    async for event in client.stream(CLAUDE, "hi"):
        await pass_on(send, event)


async def from_a_generator(client: ta.Client, send: Send) -> None:
    async def lines() -> AsyncIterator[ta.StreamEvent]:
        events = client.stream(CLAUDE, "hi")
        try:
            async for event in events:
                yield event
        finally:
            await events.aclose()

    async for event in lines():
        await pass_on(send, event)


# responses of ours


def agui_encoder() -> agui.Encoder:
    return agui.Encoder(thread_id="t", run_id="r")


OWN: dict[str, Answer] = {answer.__name__: cancelled(answer) for answer in (entered, bare, from_a_generator)}
RESPONSES: dict[str, Answer] = {
    "vercel": lambda client: EventResponse(client.stream(CLAUDE, "hi"), vercel.Encoder()),
    "agui": lambda client: EventResponse(client.stream(CLAUDE, "hi"), agui_encoder()),
    "sse": lambda client: EventResponse(client.stream(CLAUDE, "hi"), sse.Encoder()),
}
ANSWERS = {**OWN, **RESPONSES}


@asynccontextmanager
async def web(server: str, backend: str, app: App) -> AsyncIterator[str]:
    """Run an application behind a server, and give its address."""
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    serve: Any
    end: Callable[[], None]
    if server == "uvicorn":
        running = uvicorn.Server(uvicorn.Config(app, log_config=None, log_level="error", lifespan="off", ws="none"))
        serve, end = partial(running.serve, [listener]), lambda: setattr(running, "should_exit", True)
    else:
        config = import_module("hypercorn.config").Config()
        config.bind = [f"fd://{listener.detach()}"]
        config.errorlog = logging.getLogger("hypercorn.error")
        ended = anyio.Event()
        serve = partial(import_module(f"hypercorn.{backend}").serve, app, config, shutdown_trigger=ended.wait)
        end = ended.set
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve)
        url = f"http://127.0.0.1:{port}"
        async with httpx.AsyncClient(verify=False) as browser:
            assert (await browser.get(f"{url}/ready", headers={"connection": "close"})).text == "yes"
        try:
            yield url
        finally:
            end()


class Behind:
    """provider: the server of the model. url: of the application. running: how many requests it answers now."""

    def __init__(self, provider: Server) -> None:
        self.provider = provider
        self.url = ""
        self.running = 0


@asynccontextmanager
async def behind(server: str, backend: str, answer: Answer, script: Any) -> AsyncIterator[Behind]:
    async with calling(script, library="own") as (provider, client):
        found = Behind(provider)

        async def app(scope: Any, receive: Receive, send: Send) -> None:
            if scope["type"] == "lifespan":
                for step in ("startup", "shutdown"):
                    await receive()
                    await send({"type": f"lifespan.{step}.complete"})
                return
            if scope["path"] == "/ready":
                await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"3")]})
                await send({"type": "http.response.body", "body": b"yes"})
                return
            found.running += 1
            try:
                await answer(client)(scope, receive, send)
            finally:
                found.running -= 1

        async with web(server, backend, app) as found.url:
            yield found


@asynccontextmanager
async def browsing(url: str, headers: bytes = b"") -> AsyncIterator[SocketStream]:
    """A connection on which the page was asked for; it is closed at the end."""
    async with await anyio.connect_tcp("127.0.0.1", urlsplit(url).port or 0) as browser:
        await browser.send(b"GET / HTTP/1.1\r\nhost: page.example\r\n%b\r\n" % headers)
        yield browser


async def read(browser: SocketStream, *, until: bytes) -> None:
    said = b""
    with anyio.fail_after(10):
        while until not in said:
            said += await browser.receive()


def tasks_of(backend: str) -> int:
    if backend == "asyncio":
        return len(asyncio.all_tasks())
    import trio

    return trio.lowlevel.current_statistics().tasks_living


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
async def test_a_browser_that_goes_away_ends_the_stream(
    server: str, anyio_backend: str, answer: Answer, caplog: pytest.LogCaptureFixture
) -> None:
    gate = anyio.Event()
    script = Scripted([Reply("one two three", delivery=Delivery(gates={4: gate}))], repeat_last=True)
    async with behind(server, anyio_backend, answer, script) as found:
        await anyio.wait_all_tasks_blocked()
        before = tasks_of(anyio_backend)
        async with browsing(found.url) as browser:
            await read(browser, until=b"one")
            assert found.running == 1
        with anyio.fail_after(10):
            await found.provider.until(lambda: found.provider.open_connections == 0)
            while found.running or tasks_of(anyio_backend) > before:
                await anyio.lowlevel.checkpoint()
        assert found.provider.closed_by_client == 1
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
async def test_a_browser_that_stays_gets_everything(
    server: str, anyio_backend: str, answer: Answer, caplog: pytest.LogCaptureFixture
) -> None:
    async with behind(server, anyio_backend, answer, ["one two three"]) as found:
        async with httpx.AsyncClient(verify=False) as browser:
            text = (await browser.get(found.url)).text
        assert text == "one two three" if answer in OWN.values() else text.index("one") < text.index("three")
        assert found.provider.closed_by_client == 0
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


def live(client: ta.Client) -> App:
    """An answer that goes on without readers, here for its only one."""
    answer = LiveAnswer(client.stream(CLAUDE, "hi"), vercel.Encoder())

    async def app(scope: Any, receive: Receive, send: Send) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(answer.run)
            await answer.response()(scope, receive, send)

    return app


@pytest.mark.parametrize("answer", [*RESPONSES.values(), live], ids=[*RESPONSES, "live"])
async def test_a_connection_that_is_to_close_closes_behind_the_answer(
    server: str, anyio_backend: str, answer: Answer
) -> None:
    async with (
        behind(server, anyio_backend, answer, ["one two three"]) as found,
        browsing(found.url, b"connection: close\r\n") as browser,
    ):
        await read(browser, until=b"\r\n0\r\n\r\n")
        with anyio.fail_after(10), pytest.raises(anyio.EndOfStream):
            await browser.receive()
