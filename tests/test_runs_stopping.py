"""Runs that end early: limits, failures and cancellation in each phase leave evidence that goes on."""

from __future__ import annotations

from typing import Any

import anyio
import anyio.lowlevel
import pytest

import thinkaloud as ta
from support.scenario import client_of
from thinkaloud.testing import Delivery, Failure, Reply, Scripted

pytestmark = pytest.mark.anyio

CLAUDE = "anthropic/claude-opus-5"
LOOK = ta.Tool("look", "", {}, lambda arguments: "seen")
THOUGHT = ta.Thinking.signed("Let me look.", "c2VhbA==")


def call(id: str) -> ta.ToolCall:
    return ta.ToolCall.of(id, "look", {})


def looking(*more: Any) -> Scripted:
    """A model that thinks, looks twice at once, looks again, and answers."""
    return Scripted(
        [Reply([THOUGHT, call("a"), call("b")]), Reply([ta.Thinking.signed("Again.", "c2VhbDI="), call("c")]), *more],
        verify_signatures=True,
    )


async def stopped(scripted: Scripted, **options: Any) -> ta.RunError:
    async with client_of(scripted, tools=[LOOK]) as client:
        with pytest.raises(ta.RunError) as caught:
            await ta.run(CLAUDE, "Go.", client=client, **options)
    return caught.value


async def going_on(scripted: Scripted, partial: ta.RunResult | None, **options: Any) -> ta.RunResult:
    """Store what is left of a run, load it, and go on."""
    assert partial is not None
    assert partial.status == "stopped"
    loaded = ta.RunResult.from_json(partial.to_json())
    assert loaded == partial
    tools = options.pop("tools", [LOOK])
    async with client_of(scripted, tools=tools) as client:
        return await ta.run(CLAUDE, history=loaded, client=client, **options)


@pytest.mark.parametrize(
    ("limit", "turns", "calls"),
    [
        ({"max_turns": 1}, 1, 0),
        ({"max_turns": 2}, 2, 2),
        ({"max_tool_calls": 1}, 1, 0),
        ({"max_tool_calls": 2}, 2, 2),
        ({"max_total_tokens": 15}, 1, 0),
        ({"max_total_tokens": 20}, 2, 2),
        ({"max_cost": 0.0001}, 1, 0),
        ({"max_cost": 0.0002}, 2, 2),
    ],
)
async def test_a_limit_ends_the_run_before_it_calls_or_asks_again(
    limit: dict[str, Any], turns: int, calls: int
) -> None:
    scripted = looking("Done.")
    error = await stopped(scripted, **limit)
    (name,) = limit
    assert error.limit == name
    assert f"raise {name}" in str(error)
    partial = error.partial
    assert partial is not None
    assert (partial.turns, partial.tool_calls, len(scripted.requests)) == (turns, calls, turns)
    result = await going_on(scripted, partial)
    assert (result.text, result.turns, result.tool_calls) == ("Done.", 3, 3)


async def test_a_limit_that_is_reached_by_the_final_answer_ends_nothing() -> None:
    async with client_of(Scripted(["Done."])) as client:
        result = await ta.run(CLAUDE, "Go.", client=client, max_turns=1, max_total_tokens=1, max_cost=1e-9)
    assert result.text == "Done."


async def test_limits_go_on_counting_where_a_run_goes_on_and_begin_anew_with_a_question() -> None:
    scripted = looking("Done.", "More.")
    error = await stopped(scripted, max_turns=1)
    assert error.partial is not None
    async with client_of(scripted, tools=[LOOK]) as client:
        with pytest.raises(ta.RunError, match="the limit of 1 turns"):
            await ta.run(CLAUDE, history=error.partial, client=client, max_turns=1)
        result = await ta.run(CLAUDE, history=error.partial, client=client)
        assert result.turns == 3
        more = await ta.run(CLAUDE, "And?", history=result, client=client, max_turns=1)
    assert (more.turns, more.text) == (1, "More.")


async def test_a_cost_that_nobody_knows_cannot_be_limited() -> None:
    scripted = looking()
    model = ta.Model("mine", "some-model", protocol="anthropic-messages", base_url="http://localhost")
    async with client_of(scripted, tools=[LOOK]) as client:
        with pytest.raises(ta.RunError, match="max_cost cannot be kept"):
            await ta.run(model, "Go.", client=client, max_cost=1)
    assert len(scripted.requests) == 1


async def test_usage_and_cost_are_summed() -> None:
    scripted = looking("Done.")
    async with client_of(scripted, tools=[LOOK]) as client:
        result = await ta.run(CLAUDE, "Go.", client=client)
    answers = [message for message in result.messages if isinstance(message, ta.AssistantMessage)]
    assert result.usage.output == sum(answer.usage.output or 0 for answer in answers)
    assert result.cost is not None
    assert result.cost.total == pytest.approx(sum(answer.cost.total or 0 for answer in answers if answer.cost))


async def test_a_failing_answer_leaves_the_evidence_before_it_and_what_came_of_it() -> None:
    failing = Reply([ta.Thinking.signed("Hm.", "c2VhbDM="), "It is"], error=Failure(ta.Overloaded))
    scripted = looking(failing, "Done.")
    error = await stopped(scripted)
    assert isinstance(error.__cause__, ta.Overloaded)
    assert str(error).startswith("Overloaded: ")
    partial = error.partial
    assert partial is not None
    assert partial.interrupted is not None
    assert partial.interrupted.text == "It is"
    assert isinstance(partial.messages[-1], ta.ToolResult)
    assert partial.turns == 2
    assert (await going_on(scripted, partial)).text == "Done."


async def test_a_failure_before_anything_leaves_the_question() -> None:
    scripted = Scripted([Failure(ta.RateLimited), "Done."])
    error = await stopped(scripted)
    assert isinstance(error.__cause__, ta.RateLimited)
    assert error.partial == ta.RunResult([ta.UserMessage("Go.")], status="stopped")
    assert (await going_on(scripted, error.partial)).text == "Done."


async def test_a_paused_answer_is_gone_on_with_and_summed() -> None:
    scripted = Scripted([Reply("It is ", stop=ta.StopReason.PAUSE), Reply("raining.")])
    async with client_of(scripted) as client:
        result = await ta.run(CLAUDE, "Go.", client=client)
    assert (result.text, result.turns, result.stop_reason) == ("It is raining.", 2, ta.StopReason.END)
    assert (result.usage.input, result.usage.output) == (20, 4)
    assert [message["role"] for message in scripted.requests[1].json["messages"]] == ["user", "assistant"]


# cancellation, in each phase


@pytest.mark.parametrize("form", ["bare", "entered"])
async def test_a_run_cancelled_while_the_model_streams_leaves_a_partial_that_continues(form: str) -> None:
    gate = anyio.Event()
    long = Reply([ta.Thinking.signed("One two three.", "c2VhbDM="), "It is."], delivery=Delivery(gates={4: gate}))
    scripted = looking(long, "Done.")
    async with client_of(scripted, tools=[LOOK]) as client:
        events = ta.run_stream(CLAUDE, "Go.", client=client)
        seen = 0
        with anyio.CancelScope() as scope:
            if form == "entered":
                async with events:
                    async for event in events:
                        seen += isinstance(event, ta.TurnStart)
                        if seen == 3 and isinstance(event, ta.ThinkingDelta):
                            scope.cancel()
            else:
                async for event in events:
                    seen += isinstance(event, ta.TurnStart)
                    if seen == 3 and isinstance(event, ta.ThinkingDelta):
                        scope.cancel()
        assert scope.cancelled_caught
        partial = events.partial
        assert partial.interrupted is not None
        assert partial.interrupted.thinking.startswith("One")
        assert partial.interrupted.stop_reason is ta.StopReason.ABORTED
        assert isinstance(partial.messages[-1], ta.ToolResult)
    result = await going_on(scripted, partial)
    assert (result.text, result.turns) == ("Done.", 3)


@pytest.mark.parametrize("form", ["bare", "entered", "result"])
async def test_a_run_cancelled_while_a_tool_runs_leaves_a_partial_that_continues(form: str) -> None:
    scripted = looking("Done.")
    scope = anyio.CancelScope()

    async def look(arguments: dict[str, Any]) -> str:
        if len(ran) == 1:
            scope.cancel()
            await anyio.sleep_forever()
        ran.append(arguments)
        return "seen"

    ran: list[Any] = []
    tool = ta.Tool("look", "", {}, look)
    async with client_of(scripted, tools=[tool]) as client:
        events = ta.run_stream(CLAUDE, "Go.", client=client)
        with scope:
            if form == "entered":
                async with events:
                    await events.result()
            elif form == "bare":
                async for _ in events:
                    pass
            else:
                await events.result()
        assert scope.cancelled_caught
        partial = events.partial
    assert [len(partial.pending), len(ran)] == [1, 1]
    results = [message.call_id for message in partial.messages if isinstance(message, ta.ToolResult)]
    assert len(results) == 1  # what had finished is kept
    result = await going_on(scripted, partial)
    assert result.text == "Done."
    in_order = [message.call_id for message in result.messages if isinstance(message, ta.ToolResult)]
    assert in_order == ["a", "b", "c"]


@pytest.mark.parametrize("form", ["bare", "entered"])
async def test_a_run_cancelled_between_tools_and_the_next_answer_leaves_a_partial_that_continues(form: str) -> None:
    scripted = looking("Done.")
    async with client_of(scripted, tools=[LOOK]) as client:
        events = ta.run_stream(CLAUDE, "Go.", client=client)
        with anyio.CancelScope() as scope:
            if form == "entered":
                async with events:
                    async for event in events:
                        if isinstance(event, ta.ToolFinished):
                            scope.cancel()
                            await anyio.lowlevel.checkpoint()
            else:
                finished = 0
                async for event in events:
                    finished += isinstance(event, ta.ToolFinished)
                    if finished == 2:
                        scope.cancel()
                        await anyio.lowlevel.checkpoint()
        assert scope.cancelled_caught
        if form == "bare":
            await events.aclose()
        partial = events.partial
    assert (await going_on(scripted, partial)).text == "Done."


async def test_a_run_cancelled_before_its_first_answer_leaves_the_question() -> None:
    gate = anyio.Event()
    scripted = Scripted([Reply("Late.", delivery=Delivery(head=gate)), "Done."])
    async with client_of(scripted) as client:
        events = ta.run_stream(CLAUDE, "Go.", client=client)
        with anyio.move_on_after(0.01) as scope:
            await events.result()
        assert scope.cancelled_caught
        partial = events.partial
    assert partial == ta.RunResult([ta.UserMessage("Go.")], status="stopped")
    assert (await going_on(scripted, partial)).text == "Done."
