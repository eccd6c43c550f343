"""Answers that outlive their readers: reloads, lost connections, and a button that stops them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
import pytest

import thinkaloud as ta
from support.browser import Browser
from support.calling import MODELS, calling
from support.ui import chunks, named_events, types
from thinkaloud.testing import Delivery, Reply, Scripted
from thinkaloud.testing.server import Server
from thinkaloud.ui import LiveAnswer, MemoryStore, sse, vercel
from thinkaloud.ui.framing import KEEP_ALIVE
from thinkaloud.ui.replay_log import ReplayLog

pytestmark = pytest.mark.anyio

CLAUDE = MODELS["anthropic-messages"]
CONTENT: list[ta.AssistantBlock] = [ta.Thinking.signed("one two three four", "c2ln"), ta.Text("five six")]


@asynccontextmanager
async def running(
    encoder: sse.Encoder | vercel.Encoder, **options: int
) -> AsyncIterator[tuple[LiveAnswer, anyio.Event, Server]]:
    """A live answer whose model stops in the middle of its thinking until the gate opens."""
    gate = anyio.Event()
    script = Scripted([Reply(CONTENT, delivery=Delivery(gates={5: gate}))])
    async with calling(script, library="own") as (server, client), anyio.create_task_group() as tasks:
        live = LiveAnswer(client.stream(CLAUDE, "hi"), encoder, **options)
        tasks.start_soon(live.run)
        yield live, gate, server


def ids(body: bytes) -> list[int]:
    return [int(line.removeprefix(b"id: ")) for line in body.split(b"\n") if line.startswith(b"id: ")]


async def test_a_reader_who_lost_its_connection_goes_on_where_it_was() -> None:
    first, second = Browser(), Browser()
    async with running(sse.Encoder(ids=True)) as (live, gate, _):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(first.visit, live.response())
            await first.until(lambda: b"thinking_delta" in first.body)
            first.leave()
        seen = ids(first.body)[-1]
        gate.set()
        await second.visit(live.response(str(seen)))
    assert second.ended
    assert ids(first.body) + ids(second.body) == list(range(1, ids(second.body)[-1] + 1))
    assert named_events(second.body)[-1][0] == "stream_end"


async def test_a_reader_who_leaves_does_not_end_the_run() -> None:
    store = MemoryStore()
    async with running(vercel.Encoder(message_id="M", store=store)) as (live, gate, server):
        async with anyio.create_task_group() as tasks:
            browser = Browser()
            tasks.start_soon(browser.visit, live.response())
            await browser.until(lambda: b"reasoning-delta" in browser.body)
            browser.leave()
        gate.set()
    assert server.closed_by_client == 0
    kept = store.load("M")
    assert kept is not None
    assert isinstance(kept[0], ta.AssistantMessage)
    assert kept[0].text == "five six"


async def test_a_page_that_reloads_is_sent_the_whole_answer_under_the_same_id() -> None:
    first, second = Browser(), Browser()
    async with running(vercel.Encoder(message_id="M")) as (live, gate, _), anyio.create_task_group() as tasks:
        tasks.start_soon(first.visit, live.response())
        await first.until(lambda: b"reasoning-delta" in first.body)
        tasks.start_soon(second.visit, live.response())
        await second.until(lambda: b"reasoning-delta" in second.body)
        gate.set()
    assert first.body == second.body
    assert chunks(second.body)[0]["messageId"] == "M"
    assert types(second.body)[-1] == "finish"


async def test_stopping_ends_the_call_of_the_provider_and_tells_the_readers() -> None:
    browser = Browser()
    async with running(sse.Encoder(ids=True)) as (live, _, server), anyio.create_task_group() as tasks:
        tasks.start_soon(browser.visit, live.response())
        await browser.until(lambda: b"thinking_delta" in browser.body)
        live.stop()
        with anyio.fail_after(5):
            await server.until(lambda: server.closed_by_client == 1)
        await browser.until(lambda: browser.ended)
    assert [name for name, _ in named_events(browser.body)][-2:] == ["thinking_end", "stream_end"]
    assert live.over


async def test_stopping_what_is_over_changes_nothing() -> None:
    browser = Browser()
    async with running(sse.Encoder(ids=True)) as (live, gate, _):
        gate.set()
        await browser.visit(live.response())
        live.stop()
    assert named_events(browser.body)[-1] == ("stream_end", {"stop_reason": "end"})


async def test_a_reader_who_has_all_of_a_finished_answer_is_told_not_to_come_back() -> None:
    first, again = Browser(), Browser()
    async with running(sse.Encoder(ids=True)) as (live, gate, _):
        gate.set()
        await first.visit(live.response())
        await again.visit(live.response(str(ids(first.body)[-1])))
    assert (again.status, again.body, again.ended) == (204, b"", True)


@pytest.mark.parametrize("last_event_id", ["999999", "-3", "x", "", "9" * 30])
async def test_a_number_that_was_never_given_brings_a_snapshot(last_event_id: str) -> None:
    browser = Browser()
    async with running(sse.Encoder(ids=True)) as (live, gate, _):
        gate.set()
        await Browser().visit(live.response())
        await browser.visit(live.response(last_event_id))
    assert [name for name, _ in named_events(browser.body)] == ["stream_start", "snapshot", "stream_end"]


async def test_a_reader_from_too_far_back_gets_a_snapshot_and_then_goes_on() -> None:
    first, late = Browser(), Browser()
    async with running(sse.Encoder(ids=True), limit=200) as (live, gate, _), anyio.create_task_group() as tasks:
        tasks.start_soon(first.visit, live.response())
        await first.until(lambda: b"one" in first.body)
        tasks.start_soon(late.visit, live.response("0"))
        await late.until(lambda: b"snapshot" in late.body)
        gate.set()
    events = named_events(late.body)
    assert events[1][1]["messages"][0]["content"][0]["type"] == "thinking"
    assert events[-1][0] == "stream_end"
    assert b"c2ln" not in late.body


async def test_other_protocols_have_no_snapshot() -> None:
    browser = Browser()
    async with running(vercel.Encoder(), limit=200) as (live, gate, _):
        gate.set()
        while not live.over:
            await anyio.lowlevel.checkpoint()
        await browser.visit(live.response())
    assert browser.status == 204


async def test_hearts_beat_while_the_model_is_silent() -> None:
    browser = Browser()
    async with running(sse.Encoder(ids=True)) as (live, gate, _), anyio.create_task_group() as tasks:
        tasks.start_soon(browser.visit, live.response(heartbeat=0.01))
        await browser.until(lambda: browser.body.count(KEEP_ALIVE) > 2)
        gate.set()
    assert browser.ended


def test_a_log_forgets_the_oldest_beyond_its_bound() -> None:
    log = ReplayLog(limit=5)
    log.add([b"ab", b"cd", b"ef"])
    assert (log.first, log.last) == (2, 3)
    assert (log.after(0), log.after(1), log.after(2), log.after(3), log.after(4)) == (
        None,
        [b"cd", b"ef"],
        [b"ef"],
        [],
        None,
    )


def test_a_log_keeps_the_newest_event_however_large() -> None:
    log = ReplayLog(limit=1)
    log.add([b"ab", b"cdefgh"])
    assert log.after(1) == [b"cdefgh"]


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_an_answer_may_be_made_before_any_event_loop_runs(backend: str) -> None:
    client = ta.Client(transport=Scripted(["Hi"]).transport(), api_key="none")
    live = LiveAnswer(client.stream(CLAUDE, "hi"), sse.Encoder(ids=True))
    browser = Browser()

    async def both() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(live.run)
            await browser.visit(live.response())

    anyio.run(both, backend=backend)
    assert named_events(browser.body)[-1][0] == "stream_end"


async def test_an_answer_that_is_stopped_before_it_runs_asks_nobody() -> None:
    scripted = Scripted(["Hi"])
    client = ta.Client(transport=scripted.transport(), api_key="none")
    live = LiveAnswer(client.stream(CLAUDE, "hi"), sse.Encoder(ids=True))
    live.stop()
    browser = Browser()
    await live.run()
    await browser.visit(live.response())
    assert scripted.requests == []
    assert named_events(browser.body)[-1] == ("stream_end", {"stop_reason": "aborted"})
