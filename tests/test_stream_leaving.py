"""Leaving a stream early, cancelling it, and failing inside it: nothing stays open, and nothing is lost."""

from __future__ import annotations

import asyncio
import gc
import warnings
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import anyio
import pytest

import thinkaloud as ta
from support.calling import MODELS, calling
from thinkaloud.testing import Delivery, Reply, Scripted
from thinkaloud.testing.event_rules import check_event_rules
from thinkaloud.testing.server import Server

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("library", ["httpx", "httpx2", "own"])]

CLAUDE = MODELS["anthropic-messages"]
CONTENT: list[ta.AssistantBlock] = [ta.Thinking.signed("one two three four five", "c2ln"), ta.Text("six seven eight")]


@pytest.fixture(autouse=True)
def _library_is_installed(library: str) -> None:
    if library != "own":
        pytest.importorskip(library)


class Held(Exception):
    """What a user's own code raises."""


@asynccontextmanager
async def holding(library: str, piece: int = 6, **options: Any) -> AsyncIterator[tuple[Server, ta.Client, anyio.Event]]:
    """A server that stops before one piece of each answer until the gate opens."""
    gate = anyio.Event()
    script = Scripted([Reply(CONTENT, delivery=Delivery(gates={piece: gate}))], repeat_last=True)
    async with calling(script, library=library, **options) as (server, client):
        yield server, client, gate


async def read_until_it_waits(events: ta.EventStream) -> list[ta.StreamEvent]:
    """Take the events that the server has sent before its gate."""
    seen = []
    with anyio.move_on_after(0.2):
        while True:
            seen.append(await anext(events))
    return seen


async def test_breaking_out_closes_the_connection(library: str) -> None:
    async with holding(library, max_connections=2) as (server, client, _):
        for _ in range(10):
            async with client.stream(CLAUDE, "hi") as events:
                async for event in events:
                    if isinstance(event, ta.ThinkingDelta):
                        break
            assert events.partial is not None
        await server.until(lambda: server.closed_by_client == 10 and server.open_connections == 0)


async def test_leaving_before_reading_anything_is_fine(library: str) -> None:
    async with holding(library) as (server, client, _):
        async with client.stream(CLAUDE, "hi"):
            pass
        async with client.stream(CLAUDE, "hi") as events:
            await anyio.lowlevel.checkpoint()
        with pytest.raises(ta.StreamAborted):
            await events.message()
        await server.until(lambda: server.open_connections == 0)


async def test_a_stream_that_is_never_read_costs_nothing(library: str) -> None:
    async with holding(library) as (server, client, _):
        client.stream(CLAUDE, "hi")
        gc.collect()
    assert server.requests == []


async def test_an_error_of_the_body_arrives_as_it_is(library: str) -> None:
    async with holding(library) as (server, client, _):
        with pytest.raises(Held) as caught:
            async with client.stream(CLAUDE, "hi") as events:
                async for _ in events:
                    raise Held("mine")
        assert str(caught.value) == "mine"
        await server.until(lambda: server.open_connections == 0)


async def test_a_group_of_the_body_stays_a_group(library: str) -> None:
    async with holding(library) as (_, client, _):
        with pytest.raises(ExceptionGroup) as caught:
            async with client.stream(CLAUDE, "hi") as events:
                await anext(events)
                raise ExceptionGroup("mine", [Held(), Held()])
        assert caught.value.message == "mine"


async def test_after_an_early_exit_the_message_is_an_aborted_partial(library: str) -> None:
    async with holding(library) as (_, client, _):
        async with client.stream(CLAUDE, "hi") as events:
            await read_until_it_waits(events)
        with pytest.raises(ta.StreamAborted) as caught:
            await events.message()
        with pytest.raises(ta.StreamAborted):
            await anext(events)
    partial = caught.value.partial
    assert partial is not None
    assert partial.stop_reason is ta.StopReason.ABORTED
    assert partial.content == (ta.Thinking("one two three", complete=False),)


async def test_one_wait_can_time_out_while_the_stream_goes_on(library: str) -> None:
    async with holding(library) as (_, client, gate), client.stream(CLAUDE, "hi") as events:
        seen = await read_until_it_waits(events)
        with anyio.move_on_after(0.05) as heartbeat:
            await anext(events)
        assert heartbeat.cancelled_caught
        gate.set()
        seen += [event async for event in events]
        message = await events.message()
    check_event_rules(seen, complete=True)
    assert message.content == tuple(CONTENT)


async def test_cancelling_a_bare_wait_ends_the_stream(library: str) -> None:
    async with holding(library) as (server, client, _):
        events = client.stream(CLAUDE, "hi")
        seen = await read_until_it_waits(events)
        await server.until(lambda: server.open_connections == 0)
        with pytest.raises(ta.StreamAborted) as caught:
            while True:
                seen.append(await anext(events))
        check_event_rules(seen, complete=False)
        assert caught.value.partial is not None
        assert caught.value.partial.thinking == "one two three"


async def test_an_interrupted_message_ends_a_bare_stream_and_not_an_entered_one(library: str) -> None:
    async with holding(library) as (_, client, gate):
        bare = client.stream(CLAUDE, "hi")
        with anyio.move_on_after(0.1):
            await bare.message()
        with pytest.raises(ta.StreamAborted):
            await bare.message()
        async with client.stream(CLAUDE, "hi") as entered:
            with anyio.move_on_after(0.1):
                await entered.message()
            gate.set()
            assert (await entered.message()).content == tuple(CONTENT)


@pytest.mark.parametrize("entered", [True, False])
async def test_cancel_wakes_whoever_waits(library: str, entered: bool) -> None:
    seen: list[ta.StreamEvent] = []
    async with holding(library) as (server, client, _):
        events = client.stream(CLAUDE, "hi")

        async def read() -> None:
            with pytest.raises(ta.StreamAborted) as caught:
                async for event in events:
                    seen.append(event)  # noqa: PERF401
            with pytest.raises(ta.StreamAborted) as again:
                await events.message()
            assert caught.value is again.value

        async def stop() -> None:
            await server.until(lambda: len(server.requests) == 1)
            while events.partial is None or not events.partial.thinking.endswith("three"):
                await anyio.lowlevel.checkpoint()
            events.cancel()
            events.cancel()

        if entered:
            async with events, anyio.create_task_group() as tasks:
                tasks.start_soon(read)
                tasks.start_soon(stop)
        else:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(read)
                tasks.start_soon(stop)
        await server.until(lambda: server.open_connections == 0)
    check_event_rules(seen, complete=False)


async def test_cancel_before_anything_was_sent(library: str) -> None:
    async with holding(library) as (server, client, _):
        events = client.stream(CLAUDE, "hi")
        events.cancel()
        with pytest.raises(ta.StreamAborted):
            await events.message()
    assert server.requests == []


async def test_a_stream_that_was_cancelled_before_it_is_entered_says_so(library: str) -> None:
    async with holding(library) as (server, client, _):
        events = client.stream(CLAUDE, "hi")
        events.cancel()
        for _ in range(2):
            with pytest.raises(ta.StreamAborted):
                async with events:
                    pytest.fail("it has no events")
    assert server.requests == []


@pytest.mark.parametrize("end", ["cancel", "aclose"])
async def test_a_stream_whose_connection_was_closed_under_it_can_be_ended(library: str, end: str) -> None:
    async with holding(library) as (server, client, _), anyio.create_task_group() as tasks:
        events = client.stream(CLAUDE, "hi")

        async def read() -> None:
            with pytest.raises((ta.StreamAborted, ta.ReadFailed)):
                await events.message()

        tasks.start_soon(read)
        while events.partial is None or not events.partial.thinking.endswith("three"):
            await anyio.lowlevel.checkpoint()
        await client.aclose()
        if end == "cancel":
            events.cancel()
        await events.aclose()
        await server.until(lambda: server.open_connections == 0)


async def test_cancel_while_nobody_waits(library: str) -> None:
    async with holding(library) as (server, client, _):
        events = client.stream(CLAUDE, "hi")
        await anext(events)
        events.cancel()
        with pytest.raises(ta.StreamAborted):
            await events.message()
        await client.aclose()
        await server.until(lambda: server.open_connections == 0)


@pytest.mark.parametrize("entered", [True, False])
async def test_aclose_closes_the_connection_in_any_state(library: str, entered: bool) -> None:
    async with holding(library) as (server, client, _):
        events = client.stream(CLAUDE, "hi")
        await events.aclose()
        events = client.stream(CLAUDE, "hi")
        if entered:
            async with events:
                await anext(events)
                await events.aclose()
        else:
            await anext(events)
            await events.aclose()
        await server.until(lambda: server.closed_by_client == 1 and server.open_connections == 0)
        await events.aclose()
        with pytest.raises(ta.StreamAborted):
            await events.message()


async def test_a_generator_over_the_bare_form_may_be_dropped(library: str) -> None:
    async with holding(library) as (server, client, _):

        async def lines() -> AsyncGenerator[str, None]:
            events = client.stream(CLAUDE, "hi")
            try:
                async for event in events:
                    yield type(event).__name__
            finally:
                await events.aclose()

        async with aclosing(lines()) as body:
            async for _line in body:
                break
        await server.until(lambda: server.closed_by_client == 1 and server.open_connections == 0)


async def test_cancel_after_the_end_changes_nothing(library: str) -> None:
    async with calling([Reply(CONTENT)], library=library) as (_, client):
        events = client.stream(CLAUDE, "hi")
        message = await events.message()
        events.cancel()
        assert await events.message() is message


async def test_a_bare_stream_left_early_warns_once_and_is_closed_later(library: str) -> None:
    async with holding(library) as (server, client, _):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            async for _ in client.stream(CLAUDE, "hi"):
                break
            gc.collect()
        assert [warning.category for warning in caught] == [ResourceWarning]
        assert "async with" in str(caught[0].message)
        await client.aclose()
        await server.until(lambda: server.open_connections == 0)


async def test_an_abandoned_answer_is_closed_at_the_next_call(library: str) -> None:
    async with holding(library, max_connections=1, timeouts=ta.Timeouts(pool=5)) as (server, client, gate):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            async for _ in client.stream(CLAUDE, "hi"):
                break
            gc.collect()
        gate.set()
        assert (await client.complete(CLAUDE, "hi")).content == tuple(CONTENT)
        await server.until(lambda: server.closed_by_client == 1)


@pytest.mark.parametrize("entered", [True, False])
async def test_cancelling_the_whole_leaves_nothing_behind(library: str, entered: bool) -> None:
    async with holding(library) as (server, client, _):
        with anyio.move_on_after(0.2) as scope:
            if entered:
                async with client.stream(CLAUDE, "hi") as events:
                    async for _ in events:
                        pass
            else:
                async for _ in client.stream(CLAUDE, "hi"):
                    pass
        assert scope.cancelled_caught
        await server.until(lambda: server.open_connections == 0)


async def test_it_lives_inside_other_peoples_task_groups(library: str) -> None:
    results: list[ta.AssistantMessage] = []
    async with calling([Reply(CONTENT)], library=library) as (_, client):

        async def call() -> None:
            async with client.stream(CLAUDE, "hi") as events:
                results.append(await events.message())

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(call)
    assert [message.content for message in results] == [tuple(CONTENT)] * 5


async def test_a_failing_sibling_cancels_it_cleanly(library: str) -> None:
    async with holding(library) as (server, client, _):

        async def read() -> None:
            async with client.stream(CLAUDE, "hi") as events:
                async for _ in events:
                    pass

        async def fail() -> None:
            await server.until(lambda: len(server.requests) == 1)
            raise Held

        with pytest.raises(ExceptionGroup) as caught:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(read)
                tasks.start_soon(fail)
        assert [type(error) for error in caught.value.exceptions] == [Held]
        await server.until(lambda: server.open_connections == 0)


async def test_it_can_be_closed_from_another_task(library: str) -> None:
    async with holding(library) as (server, client, _):
        events = client.stream(CLAUDE, "hi")

        async def start() -> None:
            await anext(events)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(start)
        events.cancel()
        await client.aclose()
        await server.until(lambda: server.open_connections == 0)


async def test_two_tasks_cannot_wait_for_one_bare_stream(library: str) -> None:
    async with holding(library) as (_, client, gate):
        events = client.stream(CLAUDE, "hi")
        await read_two(events, gate)


async def test_two_tasks_cannot_wait_for_one_stream_under_async_with(library: str) -> None:
    async with holding(library) as (_, client, gate), client.stream(CLAUDE, "hi") as events:
        await read_two(events, gate)


async def read_two(events: ta.EventStream, gate: anyio.Event) -> None:
    refused: list[ta.ConfigurationError] = []

    async def read() -> None:
        try:
            async for _ in events:
                pass
        except ta.ConfigurationError as error:
            refused.append(error)
            gate.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        tasks.start_soon(read)
    assert len(refused) == 1
    assert (await events.message()).content == tuple(CONTENT)


async def test_a_stream_is_entered_once(library: str) -> None:
    async with calling([Reply(CONTENT)], library=library) as (_, client):
        events = client.stream(CLAUDE, "hi")
        async with events:
            pass
        with pytest.raises(ta.ConfigurationError, match="once"):
            async with events:
                pass


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_asyncio_timeout_and_task_group_are_respected(library: str) -> None:
    async with holding(library) as (server, client, _):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                async with client.stream(CLAUDE, "hi") as events:
                    async for _ in events:
                        pass
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0

        async def read() -> None:
            async with client.stream(CLAUDE, "hi") as events:
                async for _ in events:
                    pass

        async with asyncio.TaskGroup() as tasks:
            reading = tasks.create_task(read())
            await server.until(lambda: len(server.requests) == 2)
            reading.cancel()
        assert reading.cancelled()
        await server.until(lambda: server.open_connections == 0)


@pytest.mark.parametrize("anyio_backend", ["trio"])
async def test_trio_move_on_after_is_respected(library: str) -> None:
    import trio

    async with holding(library) as (server, client, _):
        with trio.move_on_after(0.2) as scope:
            async with client.stream(CLAUDE, "hi") as events:
                async for _ in events:
                    pass
        assert scope.cancelled_caught
        async with trio.open_nursery() as nursery:

            async def read() -> None:
                async with client.stream(CLAUDE, "hi") as events:
                    async for _ in events:
                        pass

            nursery.start_soon(read)
            await server.until(lambda: len(server.requests) == 2)
            nursery.cancel_scope.cancel()
        await server.until(lambda: server.open_connections == 0)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_no_event_is_lost_when_asyncio_cancels_single_waits(library: str) -> None:
    reply = Reply(" ".join(map(str, range(40))), delivery=Delivery(pace=0.0005))
    async with calling([reply], library=library) as (_, client):
        for _ in range(5):
            seen: list[ta.StreamEvent] = []
            async with client.stream(CLAUDE, "hi") as events:
                while True:
                    try:
                        seen.append(await asyncio.wait_for(anext(events), 0.0003))
                    except TimeoutError:
                        continue
                    except StopAsyncIteration:
                        break
            check_event_rules(seen, complete=True)


async def test_complete_sync_refuses_a_running_loop(library: str) -> None:
    with pytest.raises(ta.ConfigurationError, match="await complete"):
        ta.complete_sync(CLAUDE, "hi")
