"""What providers demand of tool loops with thinking is kept in runs, and what no run may do."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest

import thinkaloud as ta
from support.scenario import MODELS, TOOLS, client_of, scenario
from thinkaloud import codec
from thinkaloud.protocols.registry import PROTOCOL_IDS
from thinkaloud.testing import Reply, Scripted

pytestmark = pytest.mark.anyio

CLAUDE = "anthropic/claude-opus-5"
OSLO = ta.ToolCall("call_1", name="weather", arguments_json='{"city":"Oslo"}')


async def sent_by(model: str | ta.Model, first: Any, **options: Any) -> list[Any]:
    """The requests of a run of two answers."""
    scripted = Scripted([first, "Rain."])
    async with client_of(scripted) as client:
        assert (await ta.run(model, "How is Oslo?", client=client, **options)).text == "Rain."
    return scripted.requests


async def test_deepseek_gets_its_reasoning_back_with_the_results() -> None:
    _, second = await sent_by("deepseek/deepseek-v4-pro", Reply([ta.Thinking("I look."), OSLO]), reasoning="high")
    answer = next(message for message in second.json["messages"] if message["role"] == "assistant")
    assert answer["reasoning_content"] == "I look."
    assert second.json["messages"][-1]["role"] == "tool"


async def test_claude_with_a_budget_may_think_between_calls_in_every_turn() -> None:
    thinking = ta.Thinking.signed("I look.", "c2VhbA==")
    requests = await sent_by("anthropic/claude-sonnet-4-5", Reply([thinking, OSLO]), reasoning="high")
    for request in requests:
        assert "interleaved-thinking" in request.headers["anthropic-beta"]
        assert request.json["thinking"]["type"] == "enabled"
    assert requests[1].json["messages"][1]["content"][0]["signature"] == "c2VhbA=="


async def test_gemini_gets_the_signatures_of_its_calls_back() -> None:
    call = ta.ToolCall("a", name="weather", arguments_json='{"city":"Oslo"}', signature="c2VhbA==")
    _, second = await sent_by("google/gemini-3-pro", Reply([ta.Thinking("I look."), call]))
    parts = next(content for content in second.json["contents"] if content["role"] == "model")["parts"]
    assert [part["thoughtSignature"] for part in parts if "functionCall" in part] == ["c2VhbA=="]


@pytest.mark.parametrize("choice", ["required", ta.ToolChoice.tool("weather", parallel=False)])
async def test_a_forced_call_is_for_the_first_answer(choice: Any) -> None:
    first, second = await sent_by("openai/gpt-4.1", Reply([OSLO]), tool_choice=choice)
    assert first.json["tool_choice"] != "auto"
    assert second.json["tool_choice"] == "auto"
    assert first.json.get("parallel_tool_calls") == second.json.get("parallel_tool_calls")


async def test_a_forced_call_is_not_forced_in_any_later_answer() -> None:
    scripted = scenario()
    async with client_of(scripted) as client:
        await ta.run("openai/gpt-4.1", "How are they?", client=client, tool_choice="required")
    assert [request.json["tool_choice"] for request in scripted.requests] == ["required", "auto", "auto"]


async def test_a_forced_call_is_not_forced_again_where_a_run_goes_on() -> None:
    scripted = Scripted([Reply([OSLO]), "Rain."])
    async with client_of(scripted) as client:
        with pytest.raises(ta.RunError) as caught:
            await ta.run("openai/gpt-4.1", "Go.", client=client, tool_choice="required", max_turns=1)
        result = await ta.run("openai/gpt-4.1", history=caught.value.partial, client=client, tool_choice="required")
    assert result.text == "Rain."
    assert scripted.requests[1].json["tool_choice"] == "auto"


async def test_a_paused_answer_of_gemini_goes_on_with_its_token() -> None:
    paused = Reply("It is ", stop=ta.StopReason.PAUSE, stop_detail={"continuationToken": "next"})
    scripted = Scripted([paused, "raining."])
    async with client_of(scripted, tools=[]) as client:
        result = await ta.run("google/gemini-3-pro", "Go.", client=client)
    assert scripted.requests[1].json["continuationToken"] == "next"
    assert (result.text, result.turns) == ("It is raining.", 2)


async def test_processors_shorten_what_is_sent_and_never_the_evidence() -> None:
    scripted = scenario("Later.")
    async with client_of(scripted) as client:
        result = await ta.run(CLAUDE, "How are they?", client=client)
        more = await ta.run(CLAUDE, "And now?", history=result, client=client, processors=ta.trim_turns(1))
    assert len(scripted.requests[-1].json["messages"]) == 1
    assert len(more.messages) == len(result.messages) + 2


@pytest.mark.parametrize("protocol", [id for id in PROTOCOL_IDS if id != "gemini"])  # arguments are objects there
async def test_a_lone_call_whose_arguments_are_no_object_is_asked_for_anew(protocol: str) -> None:
    bad = ta.ToolCall("a", name="weather", arguments_json='["Oslo"]')
    seal = ta.Thinking.signed("I look.", "c2VhbA==")
    scripted = Scripted([Reply([seal, bad]), "Rain."], thinking_in="reasoning_details", verify_signatures=True)
    async with client_of(scripted) as client:
        result = await ta.run(MODELS[protocol], "How is Oslo?", client=client)
    assert result.text == "Rain."
    assert [found.is_error for found in result.messages if isinstance(found, ta.ToolResult)] == [True]


# the result as a value


async def evidence() -> ta.RunResult:
    async with client_of(scenario()) as client:
        return await ta.run(CLAUDE, "How are Oslo and Rome?", client=client, system="Be brief.")


async def test_a_result_survives_pickle_copies_and_json() -> None:
    result = await evidence()
    assert result.system == "Be brief."
    for copied in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result), ta.RunResult.from_json(result.to_json())):
        assert copied == result
        assert copied.usage == result.usage
    error = ta.RunError("stopped", partial=result, limit="max_turns")
    assert pickle.loads(pickle.dumps(error)).partial == result


async def test_a_result_keeps_fields_of_a_newer_version() -> None:
    data: Any = codec.to_data(await evidence())
    data["mood"] = "calm"
    data["output"] = {"a": 1}
    written = json.loads(codec.dumps(codec.from_data(data)))
    assert (written["mood"], written["output"]) == ("calm", {"a": 1})


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"turns": "three"}, "turns"),
        ({"messages": [{"role": "user"}]}, "messages[0].content"),
        ({"usage": {"input": "many"}}, "usage.input"),
        ({"status": 5}, "status"),
    ],
)
async def test_a_stored_result_that_is_broken_is_told_with_the_path(change: dict[str, Any], path: str) -> None:
    with pytest.raises(ta.CodecError) as caught:
        codec.from_data({**codec.to_data(await evidence()), **change})
    assert caught.value.path == path


async def test_what_is_no_result_is_refused_as_one() -> None:
    with pytest.raises(ta.CodecError, match="a run is wanted"):
        ta.RunResult.from_json(ta.Conversation("Hi").to_json())


async def test_a_conversation_or_messages_can_be_the_history() -> None:
    result = await evidence()
    for history in (result.conversation, result.messages, ta.Conversation.from_json(result.conversation.to_json())):
        async with client_of(Scripted(["More."])) as client:
            more = await ta.run(CLAUDE, "And?", history=history, client=client, tools=TOOLS)
        assert more.messages[: len(result.messages)] == result.messages
        assert (more.text, more.turns) == ("More.", 1)
