"""Two hundred browsers at one server: each gets its whole answer and its heartbeats, and none leaves a call behind."""

from __future__ import annotations

import anyio
import pytest

import thinkaloud as ta
from support.browser import Browser
from support.calling import MODELS, calling
from support.ui import chunks
from thinkaloud.testing import Delivery, Reply, Scripted
from thinkaloud.ui import EventResponse, vercel
from thinkaloud.ui.framing import KEEP_ALIVE

pytestmark = pytest.mark.anyio

CLAUDE = MODELS["anthropic-messages"]
BROWSERS = 200
THOUGHT = "one two three four five six seven eight"
CONTENT: list[ta.AssistantBlock] = [ta.Thinking.signed(THOUGHT, "c2ln"), ta.Text("nine ten")]


async def test_two_hundred_paced_answers_come_whole_with_heartbeats_and_leave_nothing_behind() -> None:
    gate = anyio.Event()
    browsers = [Browser() for _ in range(BROWSERS)]
    leavers = [Browser() for _ in range(BROWSERS)]
    script = Scripted([Reply(CONTENT, delivery=Delivery(pace=0.01, gates={8: gate}))], repeat_last=True)
    async with calling(script, library="own") as (server, client), anyio.create_task_group() as tasks:
        for browser in (*browsers, *leavers):
            response = EventResponse(client.stream(CLAUDE, "hi"), vercel.Encoder(), heartbeat=0.5)
            tasks.start_soon(browser.visit, response)
        with anyio.fail_after(50):
            for browser in (*browsers, *leavers):
                await browser.until(lambda browser=browser: browser.body.count(KEEP_ALIVE) > 1)  # type: ignore[misc]
            for browser in leavers:
                browser.leave()
            await server.until(lambda: server.closed_by_client == BROWSERS)
            gate.set()
            for browser in browsers:
                await browser.until(lambda browser=browser: browser.ended)  # type: ignore[misc]
    for browser in browsers:
        deltas = [chunk["delta"] for chunk in chunks(browser.body) if chunk["type"].endswith("-delta")]
        assert "".join(deltas) == THOUGHT + "nine ten"
    assert not any(browser.ended for browser in leavers)
    assert (server.closed_by_client, server.open_connections) == (BROWSERS, 0)
