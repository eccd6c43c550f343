"""How a run calls tools: in parallel and in order, with deadlines, and what the model is told when something fails."""

from __future__ import annotations

import threading
from typing import Any

import anyio
import pytest

import thinkaloud as ta
from support.scenario import client_of
from thinkaloud.testing import Reply, Scripted

pytestmark = pytest.mark.anyio

CLAUDE = "anthropic/claude-opus-5"


def call(id: str, name: str, **arguments: Any) -> ta.ToolCall:
    return ta.ToolCall.of(id, name, arguments)


async def run(first: Any, *tools: ta.Tool | ta.ServerTool, then: Any = ("Done.",), **options: Any) -> ta.RunResult:
    """Run a model that first says what is given, and then the rest."""
    scripted = Scripted([first, *then])
    async with client_of(scripted, tools=tools) as client:
        return await ta.run(CLAUDE, "Go.", client=client, **options)


def results(result: ta.RunResult | None) -> list[tuple[str, str, bool]]:
    assert result is not None
    return [
        (found.call_id, "".join(block.text for block in found.content if isinstance(block, ta.Text)), found.is_error)
        for found in result.messages
        if isinstance(found, ta.ToolResult)
    ]


async def test_calls_of_one_answer_run_at_once_and_their_results_stand_in_order() -> None:
    second_has_run = anyio.Event()

    async def first(arguments: dict[str, Any]) -> str:
        await second_has_run.wait()
        return "one"

    async def second(arguments: dict[str, Any]) -> str:
        second_has_run.set()
        return "two"

    tools = ta.Tool("first", "", {}, first), ta.Tool("second", "", {}, second)
    result = await run(Reply([call("a", "first"), call("b", "second")]), *tools)
    assert results(result) == [("a", "one", False), ("b", "two", False)]


async def test_a_function_that_is_not_async_runs_in_a_thread() -> None:
    ran_in: list[int] = []

    def where(arguments: dict[str, Any]) -> str:
        ran_in.append(threading.get_ident())
        return "here"

    await run(Reply(call("a", "where")), ta.Tool("where", "", {}, where))
    assert ran_in != [threading.get_ident()]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("text", "text"),
        (None, "null"),
        (3, "3"),
        ({"a": [1, True]}, '{"a":[1,true]}'),
        ([], "[]"),
        ((1, 2), "[1,2]"),
        (ta.Usage(input=1), '{"input":1,"output":null,"reasoning":null,"cache_read":null,"cache_write":null,'
         '"cache_write_1h":null,"billed_usd":null}'),
        ({1}, "[1]"),
        (ta.Text("block"), "block"),
        ([ta.Text("b"), ta.Text("c")], "bc"),
        (ta.ToolResult("another id", "said"), "said"),
    ],
)  # fmt: skip
async def test_what_a_tool_gives_becomes_the_result_of_its_call(value: Any, text: str) -> None:
    result = await run(Reply(call("a", "give")), ta.Tool("give", "", {}, lambda arguments: value))
    assert results(result) == [("a", text, False)]


async def test_a_failing_tool_is_told_to_the_model() -> None:
    def broken(arguments: dict[str, Any]) -> str:
        raise LookupError("no such city")

    result = await run(Reply(call("a", "broken")), ta.Tool("broken", "", {}, broken))
    assert results(result) == [("a", "LookupError: no such city", True)]
    assert result.text == "Done."


async def test_a_tool_that_gives_what_json_cannot_hold_has_failed() -> None:
    result = await run(Reply(call("a", "odd")), ta.Tool("odd", "", {}, lambda arguments: float("nan")))
    assert (
        results(result) == [("a", "ValueError: Out of range float values are not JSON compliant: nan", True)]
        or (results(result)[0][2])
    )


async def test_a_tool_that_is_not_there_is_told_with_those_that_are() -> None:
    result = await run(Reply(call("a", "fly")), ta.Tool("walk", "", {}, lambda arguments: "ok"))
    assert results(result) == [("a", "there is no tool 'fly'; there are: walk", True)]


@pytest.mark.parametrize("of_tool", [True, False])
async def test_a_deadline_is_told_to_the_model_and_others_go_on(of_tool: bool) -> None:
    async def endless(arguments: dict[str, Any]) -> str:
        await anyio.sleep_forever()
        raise AssertionError

    tool = ta.Tool("endless", "", {}, endless, deadline=0.01 if of_tool else None)
    quick = ta.Tool("quick", "", {}, lambda arguments: "ok", deadline=30)
    first = Reply([call("a", "endless"), call("b", "quick")])
    result = await run(first, tool, quick, tool_deadline=None if of_tool else 0.01)
    assert results(result) == [("a", "the deadline of 0.01 s ran out", True), ("b", "ok", False)]


async def test_a_deadline_ends_the_wait_for_a_thread_too() -> None:
    let_go = threading.Event()

    def stuck(arguments: dict[str, Any]) -> str:
        let_go.wait(10)
        return "late"

    result = await run(Reply(call("a", "stuck")), ta.Tool("stuck", "", {}, stuck, deadline=0.01))
    let_go.set()
    assert results(result) == [("a", "the deadline of 0.01 s ran out", True)]


@pytest.mark.parametrize("name", ["broken", "nowhere", "endless"])
async def test_the_run_ends_where_failures_are_to_be_raised(name: str) -> None:
    async def broken(arguments: dict[str, Any]) -> str:
        raise LookupError("no such city")

    async def endless(arguments: dict[str, Any]) -> str:
        await anyio.sleep_forever()
        raise AssertionError

    tools = [ta.Tool("broken", "", {}, broken), ta.Tool("endless", "", {}, endless, deadline=0.01)]
    with pytest.raises(ta.RunError, match=name) as caught:
        await run(Reply(call("a", name)), *tools, on_tool_error="raise")
    assert caught.value.partial is not None
    assert [waiting.id for waiting in caught.value.partial.pending] == ["a"]


async def test_arguments_that_do_not_fit_are_always_told() -> None:
    def look(city: str, days: int) -> str:
        raise AssertionError("it must not run")

    tool = ta.Tool.from_function(look)
    result = await run(Reply(call("a", "look", days="two")), tool, on_tool_error="raise")
    text = "the arguments do not fit: city: the field is missing; days: a whole number is wanted, not 'two'"
    assert results(result) == [("a", text, True)]


async def test_a_call_that_is_no_json_is_never_run_and_told() -> None:
    ran: list[Any] = []
    bad = ta.ToolCall("a", name="look", arguments_json='{"city": Oslo}')
    first = Reply([bad, call("b", "look")])
    scripted = Scripted([first, "Done."])
    tool = ta.Tool("look", "", {}, lambda arguments: ran.append(arguments))
    async with client_of(scripted, tools=[tool]) as client:
        result = await ta.run("deepseek/deepseek-v4-pro", "Go.", client=client)
    assert ran == [{}]
    assert [(id, error) for id, _, error in results(result)] == [("a", True), ("b", False)]
    assert "not a JSON object" in results(result)[0][1] or "JSON" in results(result)[0][1]


async def test_half_a_call_is_never_run() -> None:
    ran: list[Any] = []
    half = ta.ToolCall("a", name="look", arguments_json='{"city": "Os', complete=False)
    tool = ta.Tool("look", "", {}, lambda arguments: ran.append(arguments))
    with pytest.raises(ta.RunError, match="max_tokens") as caught:
        await run(Reply([half], stop=ta.StopReason.LENGTH), tool)
    assert ran == []
    partial = caught.value.partial
    assert partial is not None
    assert partial.interrupted is not None
    assert partial.interrupted.incomplete_tool_calls[0].name == "look"
    assert partial.messages == (ta.UserMessage("Go."),)


async def test_the_whole_calls_beside_half_a_call_are_run() -> None:
    half = ta.ToolCall("b", name="look", arguments_json='{"city": "Os', complete=False)
    tool = ta.Tool("look", "", {}, lambda arguments: "seen")
    result = await run(Reply([call("a", "look"), half], stop=ta.StopReason.LENGTH), tool)
    assert results(result) == [("a", "seen", False)]


async def test_the_calls_of_a_refusal_are_not_run() -> None:
    ran: list[Any] = []
    tool = ta.Tool("look", "", {}, lambda arguments: ran.append(arguments))
    result = await run(Reply([call("a", "look")], stop=ta.StopReason.REFUSAL), tool)
    assert (ran, result.stop_reason, result.pending) == ([], ta.StopReason.REFUSAL, ())


async def test_a_tool_of_the_server_passes_through() -> None:
    search = ta.ServerTool({"type": "web_search_20250305", "name": "web_search"})
    scripted = Scripted(["Found."])
    async with client_of(scripted, tools=[search]) as client:
        assert (await ta.run(CLAUDE, "Go.", client=client)).text == "Found."
    assert scripted.requests[0].json["tools"] == [{"type": "web_search_20250305", "name": "web_search"}]


# calls that wait for somebody


async def waiting(*, handler: bool = True, **options: Any) -> tuple[ta.RunResult, ta.Client, list[Any]]:
    """A run that has stopped at a call of `pay`, after a call of `look` was run, and its client."""
    ran: list[Any] = []
    pay = ta.Tool("pay", "", {}, ran.append if handler else None, **options)
    look = ta.Tool("look", "", {}, lambda arguments: "seen")
    scripted = Scripted([Reply([call("a", "pay", sum=5), call("b", "look")]), "Paid."], verify_signatures=True)
    client = client_of(scripted, tools=[pay, look])
    result = await ta.run(CLAUDE, "Go.", client=client)
    return ta.RunResult.from_json(result.to_json()), client, ran


@pytest.mark.parametrize("needs", [True, lambda arguments: arguments["sum"] > 3])
async def test_a_run_stops_at_a_call_that_needs_approval_and_goes_on_from_json(needs: Any) -> None:
    result, client, ran = await waiting(needs_approval=needs)
    assert result.status == "approval"
    assert [(pending.id, pending.arguments) for pending in result.pending] == [("a", {"sum": 5})]
    assert (results(result), ran) == ([("b", "seen", False)], [])
    result = await ta.run(CLAUDE, history=result, approvals={"a": True}, client=client)
    assert ran == [{"sum": 5}]
    assert results(result) == [("a", "null", False), ("b", "seen", False)]
    assert (result.text, result.status, result.turns, result.tool_calls) == ("Paid.", "finished", 2, 2)
    await client.aclose()


async def test_a_call_that_is_not_approved_is_not_run_and_the_model_is_told() -> None:
    result, client, ran = await waiting(needs_approval=True)
    result = await ta.run(CLAUDE, history=result, approvals={"a": False}, client=client)
    assert (results(result)[0], ran) == (("a", "the call was not approved, so it was not run", True), [])
    await client.aclose()


async def test_a_run_that_goes_on_without_a_decision_stops_again() -> None:
    result, client, ran = await waiting(needs_approval=True)
    again = await ta.run(CLAUDE, history=result, client=client)
    assert (again, ran) == (result, [])
    await client.aclose()


async def test_a_call_without_a_handler_gets_its_result_from_outside() -> None:
    result, client, _ = await waiting(handler=False)
    assert [pending.name for pending in result.pending] == ["pay"]
    result = await ta.run(CLAUDE, history=result, approvals={"a": ta.ToolResult("a", "paid")}, client=client)
    assert results(result) == [("a", "paid", False), ("b", "seen", False)]
    await client.aclose()


async def test_a_condition_that_lets_a_call_pass_lets_it_run() -> None:
    tool = ta.Tool("pay", "", {}, lambda arguments: "paid", needs_approval=lambda arguments: arguments["sum"] > 3)
    result = await run(Reply(call("a", "pay", sum=3)), tool)
    assert results(result) == [("a", "paid", False)]


async def test_a_condition_that_fails_ends_the_run_and_runs_nothing() -> None:
    ran: list[Any] = []
    tool = ta.Tool("pay", "", {}, ran.append, needs_approval=lambda arguments: arguments["price"] > 3)
    with pytest.raises(ta.RunError, match="needs_approval of the tool 'pay' failed: KeyError"):
        await run(Reply(call("a", "pay", sum=3)), tool)
    assert ran == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"approvals": {"z": True}}, "approvals has 'z', which waits for none; calls that wait: 'a'"),
        ({"approvals": {"a": "yes"}}, "approvals['a'] must be True, False or a ToolResult"),
        ({"messages": "More."}, "the history has calls without results ('a')"),
        ({"on_tool_error": "ignore"}, "on_tool_error='ignore'"),
        ({"max_turns": 0}, "max_turns=0"),
        ({"max_cost": -1}, "max_cost=-1"),
        ({"tool_deadline": 0}, "tool_deadline=0"),
        ({"client": "me"}, "client must be a Client"),
        ({"turns": 3}, "unknown argument 'turns'"),
    ],
)
async def test_arguments_that_cannot_work_are_refused_before_any_network(arguments: dict[str, Any], words: str) -> None:
    result, client, _ = await waiting(needs_approval=True)
    given: Any = {"history": result, "client": client, **arguments}
    with pytest.raises(ta.ConfigurationError) as caught:
        ta.run_stream(CLAUDE, **given)
    assert words in str(caught.value)
    await client.aclose()


async def test_a_tool_without_a_handler_cannot_be_approved_to_run() -> None:
    result, client, _ = await waiting(handler=False)
    with pytest.raises(ta.ConfigurationError, match="'pay' has no handler"):
        ta.run_stream(CLAUDE, history=result, approvals={"a": True}, client=client)
    await client.aclose()


@pytest.mark.parametrize("history", [None, "Hi", [ta.UserMessage("Hi"), ta.AssistantMessage("Hello.")]])
async def test_a_run_needs_something_to_ask(history: Any) -> None:
    async with client_of(Scripted(["Hello."])) as client:
        if history == "Hi":
            assert (await ta.run(CLAUDE, history=history, client=client)).text == "Hello."
        else:
            with pytest.raises(ta.ConfigurationError, match="messages"):
                ta.run_stream(CLAUDE, history=history, client=client)
