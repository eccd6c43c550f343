"""Tools and functions of the user's that misbehave: a run ends in words, nothing unapproved runs, nothing is lost."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import thinkaloud as ta
from support.scenario import client_of
from thinkaloud.testing import Scripted

pytestmark = pytest.mark.anyio

CLAUDE = "anthropic/claude-opus-5"
CALL = ta.ToolCall.of("a", "ring", {})


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def raising(error: BaseException) -> Any:
    def ring(arguments: dict[str, Any]) -> str:
        raise error

    return ring


async def run(tool: ta.Tool, **options: Any) -> ta.RunResult:
    async with client_of(Scripted([[CALL], "Done."]), tools=[tool]) as client:
        return await ta.run(CLAUDE, "Go.", client=client, **options)


async def test_an_exception_that_cannot_say_what_it_is_is_told_by_its_type() -> None:
    result = await run(ta.Tool("ring", "", {}, raising(Mute())))
    assert result.messages[2] == ta.ToolResult("a", "Mute", name="ring", is_error=True)


class Halt(BaseException):
    pass


async def test_an_order_to_stop_comes_out_of_a_tool_as_it_is_and_the_evidence_is_kept() -> None:
    async with client_of(Scripted([[CALL], "Done."]), tools=[ta.Tool("ring", "", {}, raising(Halt()))]) as client:
        events = ta.run_stream(CLAUDE, "Go.", client=client)
        with pytest.raises(Halt):
            await events.result()
    assert [type(message).__name__ for message in events.partial.messages] == ["UserMessage", "AssistantMessage"]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_tool_that_raises_a_cancellation_of_its_own_has_failed_and_waits_for_nobody() -> None:
    result = await run(ta.Tool("ring", "", {}, raising(asyncio.CancelledError())))
    assert result.status == "finished"
    assert result.messages[2] == ta.ToolResult("a", "it was cancelled", name="ring", is_error=True)


def forgets(arguments: dict[str, Any]) -> Any:
    return None


async def is_async(arguments: dict[str, Any]) -> bool:
    return True


@pytest.mark.parametrize(("asked", "what"), [(forgets, "None"), (is_async, "coroutine"), (lambda _: "no", "'no'")])
async def test_needs_approval_that_gives_no_flag_lets_no_call_through(asked: Any, what: str) -> None:
    ran: list[object] = []
    with pytest.raises(ta.RunError, match="needs_approval of the tool 'ring' must give True or False, not ") as caught:
        await run(ta.Tool("ring", "", {}, ran.append, needs_approval=asked))
    assert what in str(caught.value)
    assert ran == []


def stops(told: object) -> None:
    raise StopAsyncIteration


@pytest.mark.parametrize("hook", ["on_request", "on_response", "on_event"])
@pytest.mark.parametrize("entered", [True, False])
async def test_a_hook_that_raises_the_end_of_an_iteration_does_not_end_the_answer_well(
    hook: str, entered: bool
) -> None:
    async with client_of(Scripted(["Blue."]), **{hook: stops}) as client:
        events = client.stream(CLAUDE, "Go.")
        with pytest.raises(RuntimeError, match="StopAsyncIteration"):
            if entered:
                async with events:
                    async for _ in events:
                        pass
            else:
                async for _ in events:
                    pass
        with pytest.raises(RuntimeError, match="StopAsyncIteration"):
            await events.message()


async def test_a_hook_that_raises_the_end_of_an_iteration_does_not_end_a_run_well() -> None:
    async with client_of(Scripted(["Blue."]), on_event=stops) as client:
        with pytest.raises(RuntimeError, match="StopAsyncIteration"):
            async for _ in ta.run_stream(CLAUDE, "Go.", client=client):
                pass
