"""Streams that are opened and left at random points, in every way there is: nothing of them stays.

`THINKALOUD_ABANDONED` sets how many streams are opened after the first batch, 1,000 for the whole measurement.
"""

from __future__ import annotations

import asyncio
import gc
import os
import random
import sys
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import anyio
import pytest

import thinkaloud as ta
from support.raw_server import HEAD, RawServer, chunk, raw_server, saying
from support.streams import anthropic, said, started, stopped, thought

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("library", ["httpx", "httpx2", "own"])]

COUNT = int(os.environ.get("THINKALOUD_ABANDONED", "50"))
FIRST = 50
AT_ONCE = 20
CLAUDE = "anthropic/claude-opus-5"
WORDS = [f"word {number} " for number in range(8)]
EVENTS = anthropic(
    started(input_tokens=9, output_tokens=1),
    *thought(0, "c2ln", *WORDS),
    *said(1, *WORDS),
    *stopped("end_turn", output_tokens=16),
).split(b"\n\n")[:-1]
# The last piece comes when the client has gone: an answer that is left is left in the middle.
ANSWER = saying(HEAD, *[chunk(event + b"\n\n") for event in EVENTS[:-1]], end="hold")

FILES = Path("/proc/self/fd")

needs_files = pytest.mark.skipif(
    not FILES.is_dir(), reason="open files are counted where the system lists them in /proc"
)


async def breaks_off(events: ta.EventStream, after: int) -> None:
    async with events:
        async for _ in events:
            after -= 1
            if after <= 0:
                break


async def fails_inside(events: ta.EventStream, after: int) -> None:
    try:
        async with events:
            for _ in range(after):
                await anext(events)
            raise LookupError
    except LookupError:
        pass


async def cancels(events: ta.EventStream, after: int) -> None:
    for _ in range(after):
        await anext(events)
    events.cancel()


async def closes(events: ta.EventStream, after: int) -> None:
    for _ in range(after):
        await anext(events)
    await events.aclose()


async def runs_out_of_time(events: ta.EventStream, after: int) -> None:
    with anyio.move_on_after(after / 4000):
        async for _ in events:
            pass


async def runs_out_of_time_inside(events: ta.EventStream, after: int) -> None:
    with anyio.move_on_after(after / 4000):
        async with events:
            async for _ in events:
                pass


async def interrupts_the_message(events: ta.EventStream, after: int) -> None:
    with anyio.move_on_after(after / 4000):
        await events.message()


async def forgets(events: ta.EventStream, after: int) -> None:
    for _ in range(after):
        await anext(events)


WAYS: list[Callable[[ta.EventStream, int], Awaitable[None]]] = [
    breaks_off,
    fails_inside,
    cancels,
    closes,
    runs_out_of_time,
    runs_out_of_time_inside,
    interrupts_the_message,
    forgets,
]


def tasks(backend: str) -> int:
    if backend == "asyncio":
        return len(asyncio.all_tasks())
    import trio

    return trio.lowlevel.current_statistics().tasks_living


def open_files() -> int:
    return len(list(FILES.iterdir()))


# Where event loops keep tables of what runs now: tasks, scopes, generators, sockets, and spare futures. They take more
# or less by chance, as streams happen to meet, whatever the number of streams was.
LOOPS = ("/asyncio/", "/trio/_core/", "/anyio/_backends/", "/weakref.py", "/_weakrefset.py")
MOST_BY_CHANCE = 16 * 1024


def traced() -> tuple[int, int]:
    """Bytes that are in use, without those in the tables of the event loop, and in these alone."""
    gc.collect()
    # CPython's cache of type attributes keeps up to 4,096 names that C code makes anew at each call, such as "search"
    # in `re.finditer`, by which httpx reads a URL, and "derive" in `ExceptionGroup.split`: 55 bytes each.
    sys._clear_type_cache()
    used = loops = 0
    for trace in tracemalloc.take_snapshot().traces:
        file = trace.traceback[0].filename.replace("\\", "/")
        if any(part in file for part in LOOPS):
            loops += trace.size
        elif file != tracemalloc.__file__:
            used += trace.size
    return used, loops


class Streams:
    """Opens streams to a loopback server and leaves them; random, but in each run alike."""

    def __init__(self, client: ta.Client, server: RawServer, backend: str) -> None:
        self._client = client
        self.server = server
        self._backend = backend
        self._chance = random.Random(7)

    async def leave(self, count: int) -> None:
        ways = [(self._chance.choice(WAYS), self._chance.randint(1, 20)) for _ in range(count)]

        async def some() -> None:
            while ways:
                way, after = ways.pop()
                await way(self._client.stream(CLAUDE, "hi"), after)

        async with anyio.create_task_group() as group:
            for _ in range(AT_ONCE):
                group.start_soon(some)
        gc.collect()

    async def settled(self) -> tuple[int, int]:
        """Tasks and open files when every connection is closed."""
        await self._client.stream(CLAUDE, "hi").aclose()
        await breaks_off(self._client.stream(CLAUDE, "hi"), 1)  # a call closes what was forgotten
        with anyio.fail_after(10):
            await self.server.until_closed()
        await anyio.wait_all_tasks_blocked()
        return tasks(self._backend), open_files()


@asynccontextmanager
async def streams(library: str, backend: str) -> AsyncIterator[Streams]:
    given: Any = None if library == "own" else import_module(library).AsyncClient(verify=False)
    async with raw_server(ANSWER) as server:
        async with ta.Client(api_key="k", base_url=server.url, http_client=given) as client:
            yield Streams(client, server, backend)
        if given is not None:
            await given.aclose()


@needs_files
@pytest.mark.unwatched
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # for those that are forgotten
async def test_nothing_is_left_of_streams_that_were_left(library: str, anyio_backend: str) -> None:
    if library != "own":
        pytest.importorskip(library)
    async with streams(library, anyio_backend) as opened:  # loads what is loaded on use
        await opened.leave(AT_ONCE)
        await opened.settled()
    tracemalloc.start()
    try:
        traced()
        async with streams(library, anyio_backend) as opened:
            await opened.leave(FIRST)
            before, (memory, loops) = await opened.settled(), traced()
            await opened.leave(COUNT)
            after, (grown, loops_grown) = await opened.settled(), traced()
            requests = opened.server.requests
    finally:
        tracemalloc.stop()
    print(f"{library}, {anyio_backend}: {memory:,} bytes after {FIRST} streams, {grown:,} after {COUNT} more;", end=" ")
    print(f"the event loop's tables {loops:,} and {loops_grown:,}")
    assert after == before
    assert grown <= memory * 1.1
    assert loops_grown <= loops + MOST_BY_CHANCE
    assert requests >= COUNT * 0.5  # some run out of time before they are sent
