"""A browser that goes away ends the stream behind a real ASGI server, and with it the connection to the provider."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx
import pytest

import thinkaloud as ta
from support.calling import MODELS, calling
from thinkaloud.testing import Delivery, Reply, Scripted
from thinkaloud.testing.server import Server

uvicorn = pytest.importorskip("uvicorn")

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("anyio_backend", ["asyncio"])]

CLAUDE = MODELS["anthropic-messages"]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Answer = Callable[[ta.Client, Send], Awaitable[None]]


async def begin(send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})


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


@asynccontextmanager
async def web(answer: Answer, client: ta.Client) -> AsyncIterator[tuple[str, list[str]]]:
    """Run the answer behind uvicorn, cancelled when the browser goes, as the web frameworks do it.

    Gives the address and a list that tells how each request ended.
    """
    ended: list[str] = []

    async def app(scope: dict[str, Any], receive: Receive, send: Send) -> None:
        await begin(send)
        try:
            async with anyio.create_task_group() as tasks:

                async def watch() -> None:
                    while (await receive())["type"] != "http.disconnect":
                        pass
                    tasks.cancel_scope.cancel()

                tasks.start_soon(watch)
                await answer(client, send)
                await send({"type": "http.response.body", "body": b""})
                ended.append("whole")
                tasks.cancel_scope.cancel()
        finally:
            if not ended:
                ended.append("left")

    config = uvicorn.Config(app, port=0, log_level="critical", lifespan="off", ws="none")
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await anyio.lowlevel.checkpoint()
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}", ended
    finally:
        server.should_exit = True
        await serving


@asynccontextmanager
async def behind(answer: Answer, script: Any) -> AsyncIterator[tuple[Server, str, list[str]]]:
    async with calling(script, library="own") as (provider, client), web(answer, client) as (url, ended):
        yield provider, url, ended


@pytest.mark.parametrize("answer", [entered, bare, from_a_generator])
async def test_a_browser_that_goes_away_ends_the_stream(answer: Answer) -> None:
    gate = anyio.Event()
    script = Scripted([Reply("one two three", delivery=Delivery(gates={4: gate}))], repeat_last=True)
    async with behind(answer, script) as (provider, url, ended):
        async with httpx.AsyncClient(verify=False) as browser, browser.stream("GET", url) as response:
            async for text in response.aiter_text():
                assert text.startswith("one")
                break
        with anyio.fail_after(10):
            await provider.until(lambda: provider.closed_by_client == 1 and provider.open_connections == 0)
    assert ended == ["left"]


@pytest.mark.parametrize("answer", [entered, bare, from_a_generator])
async def test_a_browser_that_stays_gets_everything(answer: Answer) -> None:
    async with behind(answer, ["one two three"]) as (provider, url, ended):
        async with httpx.AsyncClient(verify=False) as browser:
            assert (await browser.get(url)).text == "one two three"
        assert provider.closed_by_client == 0
    assert ended == ["whole"]
