"""One client serves many event loops, one after the other and side by side; each has its own connections."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Iterator

import anyio
import httpx
import pytest

import thinkaloud as ta
from thinkaloud.abandoned import Abandoned
from thinkaloud.testing import Delivery, Reply, Scripted, Server, serve, serve_in_thread

CLAUDE = "anthropic/claude-x"
BOTH = pytest.mark.parametrize("backend", ["asyncio", "trio"])


@pytest.fixture
def server() -> Iterator[Server]:
    with serve_in_thread(Scripted([Reply("a", delivery=Delivery(pace=0.0005))], repeat_last=True)) as server:
        yield server


def calling(server: Server) -> ta.Client:
    return ta.Client(api_key="none", base_url=server.base_url("anthropic-messages"))


@BOTH
def test_one_client_serves_one_event_loop_after_the_other(server: Server, backend: str) -> None:
    client = calling(server)

    async def call() -> str:
        return (await client.complete(CLAUDE, "hi")).text

    assert [anyio.run(call, backend=backend) for _ in range(3)] == ["a", "a", "a"]
    gc.collect()  # a connection that was forgotten would warn here
    assert server.connections == 3


@BOTH
def test_the_connections_of_an_event_loop_are_closed_as_it_ends(backend: str) -> None:
    async def calls(server: Server, client: ta.Client) -> None:
        await client.complete(CLAUDE, "hi")
        await client.complete(CLAUDE, "hi")
        assert server.connections == 1

    async def watch() -> None:
        async with serve(["a", "b"]) as server:
            client = calling(server)
            await anyio.to_thread.run_sync(lambda: anyio.run(calls, server, client, backend=backend))
            await server.until(lambda: server.open_connections == 0)

    anyio.run(watch)


@BOTH
def test_a_stream_that_was_left_open_at_the_end_of_its_loop_harms_no_other(server: Server, backend: str) -> None:
    client = calling(server)

    async def leave() -> None:
        events = client.stream(CLAUDE, "hi")
        await anext(events)
        events.cancel()

    async def call() -> str:
        return (await client.complete(CLAUDE, "hi")).text

    anyio.run(leave, backend=backend)
    assert anyio.run(call, backend=backend) == "a"


@BOTH
def test_a_client_serves_event_loops_of_several_threads_at_the_same_time(server: Server, backend: str) -> None:
    client = calling(server)
    said: list[str] = []

    def sync() -> None:
        said.extend(ta.complete_sync(CLAUDE, "hi", client=client).text for _ in range(8))

    async def call() -> None:
        outcomes = await client.complete_many(CLAUDE, ["hi"] * 8, limit=2)
        said.extend(outcome.text for outcome in outcomes if isinstance(outcome, ta.AssistantMessage))

    async def beside() -> None:
        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(anyio.to_thread.run_sync, sync)
            tasks.start_soon(call)

    anyio.run(beside, backend=backend)
    assert said == ["a"] * 32


def test_a_loop_that_was_closed_without_a_word_does_not_end_the_client(server: Server) -> None:
    client = calling(server)

    async def call() -> str:
        return (await client.complete(CLAUDE, "hi")).text

    loop = asyncio.new_event_loop()
    try:
        assert loop.run_until_complete(call()) == "a"
        loop.run_until_complete(client._disconnect())  # nobody ends the generators of this loop
    finally:
        loop.close()
    assert anyio.run(call) == "a"


def test_an_http_client_of_the_users_serves_its_own_loop_alone(server: Server) -> None:
    http = httpx.AsyncClient()
    client = ta.Client(api_key="none", base_url=server.base_url("anthropic-messages"), http_client=http, retries=0)

    async def call() -> str:
        return (await client.complete(CLAUDE, "hi")).text

    async def last() -> None:
        with pytest.raises(ta.ConfigurationError, match="an http_client of yours serves the event loop that it was"):
            await call()

    loop, other = asyncio.new_event_loop(), asyncio.new_event_loop()
    try:
        assert loop.run_until_complete(call()) == "a"
        other.run_until_complete(last())
        loop.run_until_complete(http.aclose())
    finally:
        loop.close()
        other.close()


def test_answers_left_open_on_another_loop_wait_for_it() -> None:
    abandoned = Abandoned()
    closed: list[str] = []
    left, looked = threading.Event(), threading.Event()

    async def leave() -> None:
        async def close() -> None:
            closed.append(threading.current_thread().name)

        abandoned.add(anyio.lowlevel.current_token(), close)
        left.set()
        await anyio.to_thread.run_sync(looked.wait)
        await abandoned.close()

    thread = threading.Thread(target=anyio.run, args=(leave,), name="theirs")
    thread.start()
    left.wait()
    anyio.run(abandoned.close)
    looked.set()
    thread.join()
    assert closed == ["theirs"]
