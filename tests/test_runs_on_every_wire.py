"""A tool loop with thinking on every wire, over HTTP, against a model that verifies what comes back to it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve

import thinkaloud as ta
from support.scenario import MODELS, TOOLS, bare, client_of, scenario
from thinkaloud.protocols.registry import PROTOCOL_IDS
from thinkaloud.testing import serve

pytestmark = pytest.mark.anyio

QUESTION = "How are Oslo and Rome?"


async def held(protocol: str, *, streaming: bool, by_events: bool = False) -> tuple[ta.RunResult, str]:
    """Hold the run, then store it, load it and ask once more; give the run and the last answer."""
    async with (
        serve(scenario("It was Oslo.")) as server,
        ta.Client(api_key="none", base_url=server.base_url(protocol), tools=TOOLS, retries=0) as client,
    ):
        if by_events:
            async with ta.run_stream(MODELS[protocol], QUESTION, client=client, streaming=streaming) as events:
                async for _ in events:
                    pass
                result = await events.result()
        else:
            result = await ta.run(MODELS[protocol], QUESTION, client=client, streaming=streaming)
        loaded = ta.RunResult.from_json(result.to_json())
        assert loaded == result
        more = await ta.run(MODELS[protocol], "Which was first?", history=loaded, client=client, streaming=streaming)
        assert more.messages[: len(result.messages)] == result.messages
        return result, more.text


@pytest.mark.parametrize("protocol", PROTOCOL_IDS)
async def test_the_loop_runs_streamed_and_whole_verifies_and_gives_the_same(protocol: str) -> None:
    streamed, after = await held(protocol, streaming=True)
    whole, after_whole = await held(protocol, streaming=False)
    by_events, _ = await held(protocol, streaming=True, by_events=True)
    assert (after, after_whole) == ("It was Oslo.", "It was Oslo.")
    assert bare(streamed.messages) == bare(whole.messages) == bare(by_events.messages)
    assert by_events.messages == streamed.messages
    assert streamed.usage == whole.usage
    assert streamed.text == "Rain in both, and it is noon."
    assert (streamed.turns, streamed.tool_calls, streamed.status) == (3, 3, "finished")
    assert streamed.stop_reason is ta.StopReason.END


@pytest.mark.parametrize("protocol", PROTOCOL_IDS)
async def test_the_evidence_holds_all_that_was_thought_called_and_found(protocol: str) -> None:
    async with client_of(scenario()) as client:
        result = await ta.run(MODELS[protocol], QUESTION, client=client)
    kinds = [type(message).__name__ for message in result.messages]
    assert kinds == [
        "UserMessage",
        "AssistantMessage",
        "ToolResult",
        "ToolResult",
        "AssistantMessage",
        "ToolResult",
        "AssistantMessage",
    ]
    answers = [message for message in result.messages if isinstance(message, ta.AssistantMessage)]
    assert [message.thinking for message in answers] == ["I need both.", "And Rome.", "Now I know."]
    results = [message for message in result.messages if isinstance(message, ta.ToolResult)]
    calls = [call for message in answers for call in message.tool_calls]
    assert [call.id for call in calls] == [found.call_id for found in results]
    assert [found.content for found in results] == [
        (ta.Text("rain in Oslo"),),
        (ta.Text('{"city":"Oslo","hour":12}'),),
        (ta.Text("rain in Rome"),),
    ]
    seals = [
        block.signature or block.extra.get("reasoning_details")
        for message in answers
        for block in message.content
        if isinstance(block, (ta.Thinking, ta.ToolCall, ta.Text))
    ]
    assert sum(seal is not None for seal in seals) >= 3


Tampering = Callable[[ta.AssistantMessage], ta.AssistantMessage]


def dropped(message: ta.AssistantMessage) -> ta.AssistantMessage:
    return evolve(message, content=message.content[1:])


def edited(message: ta.AssistantMessage) -> ta.AssistantMessage:
    place, block = next(
        (place, block)
        for place, block in enumerate(message.content)
        if isinstance(block, (ta.Thinking, ta.ToolCall)) and block.signature is not None
    )
    changed = (
        evolve(block, text=block.text + ".")
        if isinstance(block, ta.Thinking)
        else evolve(block, arguments_json='{"city":"Bergen"}')
    )
    return evolve(message, content=(*message.content[:place], changed, *message.content[place + 1 :]))


def reordered(message: ta.AssistantMessage) -> ta.AssistantMessage:
    return evolve(message, content=message.content[::-1])


@pytest.mark.parametrize("tamper", [dropped, edited, reordered])
@pytest.mark.parametrize("protocol", PROTOCOL_IDS)
async def test_tampering_with_the_evidence_is_refused_before_the_call(protocol: str, tamper: Tampering) -> None:
    scripted = scenario("Never said.")
    async with client_of(scripted) as client:
        result = await ta.run(MODELS[protocol], QUESTION, client=client)
        changed = [*result.messages]
        assert isinstance(changed[1], ta.AssistantMessage)
        first = next(place for place, block in enumerate(changed[1].content) if getattr(block, "signature", None))
        place = first if tamper is edited else 0
        changed[1] = tamper(changed[1])
        with pytest.raises(ta.HistoryError) as caught:
            ta.run_stream(MODELS[protocol], "And now?", history=evolve(result, messages=changed), client=client)
    assert ("content_edited", f"messages[1].content[{place}]") in [
        (issue.code, issue.path) for issue in caught.value.issues
    ]
    assert len(scripted.requests) == 3


async def test_a_client_holds_runs_with_its_own_defaults() -> None:
    model = MODELS["anthropic-messages"]
    async with client_of(scenario(), tools=TOOLS) as client:
        result = await client.run(model, QUESTION)
    async with client_of(scenario(), tools=TOOLS) as client, client.run_stream(model, QUESTION, max_turns=9) as events:
        kinds = {type(event).__name__ async for event in events}
        streamed = await events.result()
    assert bare(streamed.messages) == bare(result.messages)
    assert result.tool_calls == 3
    assert {"TurnStart", "ToolFinished", "TurnEnd"} <= kinds


async def test_a_run_of_a_client_takes_no_other_client() -> None:
    options: dict[str, ta.Client] = {"client": ta.Client(api_key="none")}
    with pytest.raises(ta.UnsupportedOption, match="client is no argument here"):
        await ta.Client(api_key="none").run("anthropic/claude-opus-5", QUESTION, **options)  # type: ignore[arg-type]
