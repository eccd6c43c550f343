"""A run as a stream of events: the same in each form, and the end of it in each way."""

from __future__ import annotations

import gc
from typing import Any

import anyio
import anyio.lowlevel
import pytest

import thinkaloud as ta
from support.scenario import MODELS, OSLO, TOOLS, client_of, scenario
from thinkaloud import codec
from thinkaloud.protocols.registry import PROTOCOL_IDS
from thinkaloud.testing import Delivery, Reply, Scripted, check_event_rules, serve

pytestmark = pytest.mark.anyio

CLAUDE = "anthropic/claude-opus-5"


async def told(protocol: str, form: str) -> tuple[list[Any], ta.RunResult]:
    async with client_of(scenario()) as client:
        run = ta.run_stream(MODELS[protocol], "How are Oslo and Rome?", client=client)
        if form == "entered":
            async with run as events:
                return [event async for event in events], await events.result()
        return [event async for event in run], await run.result()


@pytest.mark.parametrize("protocol", PROTOCOL_IDS)
async def test_both_forms_tell_the_same_and_give_the_same(protocol: str) -> None:
    bare, result = await told(protocol, "bare")
    entered, other = await told(protocol, "entered")
    calls = [type(event).__name__ for event in bare if isinstance(event, (ta.ToolStarted, ta.ToolFinished))]
    assert calls == [*["ToolStarted"] * 2, *["ToolFinished"] * 2, "ToolStarted", "ToolFinished"]
    plain = [event for event in bare if not isinstance(event, ta.ToolFinished)]
    assert plain == [event for event in entered if not isinstance(event, ta.ToolFinished)]
    finished = {event.call.id: event for event in bare if isinstance(event, ta.ToolFinished)}
    assert finished == {event.call.id: event for event in entered if isinstance(event, ta.ToolFinished)}
    assert result == other


@pytest.mark.parametrize("protocol", PROTOCOL_IDS)
async def test_each_turn_has_the_events_of_its_answer_between_its_start_and_its_end(protocol: str) -> None:
    events, result = await told(protocol, "bare")
    answers = [message for message in result.messages if isinstance(message, ta.AssistantMessage)]
    for turn, answer in enumerate(answers, start=1):
        start = events.index(ta.TurnStart(turn))
        end = next(place for place, event in enumerate(events) if event == ta.TurnEnd(turn, answer))
        inside = events[start + 1 : end]
        check_event_rules(inside, complete=True)
        accumulator = ta.Accumulator()
        accumulator.add_all(inside)
        assert accumulator.message() == answer
    results = [message for message in result.messages if isinstance(message, ta.ToolResult)]
    told_of = {event.call.id: event.result for event in events if isinstance(event, ta.ToolFinished)}
    assert {found.call_id: found for found in results} == told_of


async def test_the_events_of_a_run_survive_json() -> None:
    events, result = await told("anthropic-messages", "bare")
    for event in events:
        assert codec.loads(codec.dumps(event)) == event
    assert codec.from_data(codec.to_data(result)) == result


async def test_tools_run_while_the_reader_does_other_things() -> None:
    started, go = anyio.Event(), anyio.Event()

    async def slow(city: str) -> str:
        """Waits."""
        started.set()
        await go.wait()
        return "rain"

    script = Scripted([Reply(OSLO), "Rain."])
    async with (
        client_of(script, tools=[ta.Tool.from_function(slow, name="weather")]) as client,
        ta.run_stream(CLAUDE, "Go.", client=client) as events,
    ):
        await started.wait()  # nobody reads
        with anyio.move_on_after(0.01) as wait:
            while True:
                await anext(events)
        assert wait.cancelled_caught  # a wait for an event is not the run
        go.set()
        assert (await events.result()).text == "Rain."


async def test_more_events_than_fit_wait_for_the_reader() -> None:
    script = Scripted([Reply("word " * 500)])
    async with client_of(script) as client, ta.run_stream(CLAUDE, "Go.", client=client) as events:
        await anyio.lowlevel.checkpoint()
        told = [event async for event in events]
    assert sum(isinstance(event, ta.TextDelta) for event in told) >= 500


async def test_leaving_early_closes_the_answer_and_keeps_the_evidence() -> None:
    script = Scripted([Reply("word " * 200, delivery=Delivery(gates={100: anyio.Event()}))])
    transport = script.transport()
    async with ta.Client(transport=transport, api_key="none", base_url="http://localhost") as client:
        async with ta.run_stream(CLAUDE, "Go.", client=client) as events:
            async for event in events:
                if isinstance(event, ta.TextDelta):
                    break
        assert (transport.open_answers, transport.left_early) == (0, 1)
        with pytest.raises(ta.RunError) as caught:
            await events.result()
    assert isinstance(caught.value.__cause__, ta.StreamAborted)
    assert caught.value.partial is not None
    assert caught.value.partial.interrupted is not None
    assert caught.value.partial.interrupted.text.startswith("word")


@pytest.mark.parametrize("form", ["bare", "entered"])
async def test_a_run_that_is_cancelled_by_name_raises_for_whoever_waits(form: str) -> None:
    waiting = anyio.Event()

    async def endless(city: str) -> str:
        """Waits for ever."""
        waiting.set()
        await anyio.sleep_forever()
        raise AssertionError

    script = Scripted([Reply(OSLO)])
    async with client_of(script, tools=[ta.Tool.from_function(endless, name="weather")]) as client:
        events = ta.run_stream(CLAUDE, "Go.", client=client)
        caught: list[ta.RunError] = []

        async def read() -> None:
            with pytest.raises(ta.RunError, match="cancelled") as error:
                if form == "entered":
                    async with events:
                        await events.result()
                else:
                    await events.result()
            caught.append(error.value)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            await waiting.wait()
            events.cancel()
            events.cancel()
        with pytest.raises(ta.RunError) as again:
            await events.result()
    assert caught == [again.value]
    assert [call.id for call in events.partial.pending] == ["call_1"]


async def test_the_error_of_the_body_comes_out_plain() -> None:
    async with client_of(scenario()) as client:
        with pytest.raises(KeyError, match="mine"):
            async with ta.run_stream(CLAUDE, "Go.", client=client) as events:
                async for _ in events:
                    raise KeyError("mine")


async def test_a_run_can_be_entered_once_and_read_by_one_task() -> None:
    async with client_of(scenario()) as client:
        events = ta.run_stream(CLAUDE, "Go.", client=client)
        async for _ in events:
            break
        with pytest.raises(ta.ConfigurationError, match="entered once"):
            await events.__aenter__()
        await events.aclose()


async def test_a_run_without_a_client_keeps_nothing_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    async with serve(scenario()) as server:
        events = ta.run_stream(CLAUDE, "Go.", base_url=server.base_url("anthropic-messages"), tools=TOOLS)
        result = await events.result()
    del events
    gc.collect()
    assert result.turns == 3
