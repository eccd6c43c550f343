"""A scripted model that verifies takes back what it issued, and refuses what was tampered with, on every wire."""

from __future__ import annotations

import json
from collections.abc import Callable

import httpx
import pytest
from attrs import evolve

import thinkaloud as ta
from support.sealed import ONE, OSLO, TOOLS, TWO, WIRES, Body, Wire, ask, plan_of, second_turn
from thinkaloud.protocols.registry import PROTOCOL_IDS
from thinkaloud.testing import Failure, Reply, Scripted, demo_script, serve, serve_in_thread

MODIFIED = (ta.StaleThinking, "cannot be modified")
INVALID_SIGNATURE = (ta.StaleThinking, "Invalid `signature` in `thinking` block")
INVALID_AT_GEMINI = (ta.StaleThinking, "Invalid thought signature")
MISSING_AT_GEMINI = (ta.StaleThinking, "missing a thought_signature")
INVALID_CONTENT = (ta.StaleThinking, "could not be verified")
UNPAIRED = (ta.StaleThinking, "without its required 'reasoning' item")
LOST_DETAILS = (ta.StaleThinking, "reasoning details to be preserved")
MUST_START = (ta.InvalidRequest, "must start with a thinking block")


def client_of(scripted: Scripted) -> ta.Client:
    """A client whose network is the script."""
    return ta.Client(transport=scripted.transport(), api_key="none", base_url="http://localhost", tools=TOOLS)


Tampering = Callable[[Wire, Body], None]


def edit_what_is_sealed(wire: Wire, body: Body) -> None:
    sealed = wire.sealed(body)[0]
    match sealed[wire.text]:
        case str(text):
            sealed[wire.text] = text + " "
        case {"args": arguments}:
            arguments["city"] = "Bergen"
        case [part]:
            part["text"] += " "


def drop_the_first(wire: Wire, body: Body) -> None:
    if wire.text == "functionCall":  # there the call stays
        del wire.sealed(body)[0][wire.seal]
    else:
        del wire.turn(body)[wire.places(body)[0]]


def drop_all(wire: Wire, body: Body) -> None:
    while wire.sealed(body):
        drop_the_first(wire, body)


def strip_the_seal(wire: Wire, body: Body) -> None:
    del wire.sealed(body)[0][wire.seal]


def reorder_two(wire: Wire, body: Body) -> None:
    blocks, (first, second) = wire.turn(body), wire.places(body)
    blocks[first], blocks[second] = blocks[second], blocks[first]


def move_a_seal(wire: Wire, body: Body) -> None:
    first, second = wire.sealed(body)
    first[wire.seal], second[wire.seal] = second[wire.seal], first[wire.seal]


def put_a_foreign_seal(wire: Wire, body: Body) -> None:
    wire.sealed(body)[0][wire.seal] = "Zm9yZWlnbg=="


def change_one_byte(wire: Wire, body: Body) -> None:
    sealed = wire.sealed(body)[1]
    assert sealed[wire.seal] == TWO
    sealed[wire.seal] = "d" + TWO[1:]


Refusals = dict[Tampering, tuple[type[ta.ProviderError], str]]

CLAUDE: Refusals = {
    edit_what_is_sealed: MODIFIED,
    drop_the_first: MODIFIED,
    drop_all: MUST_START,
    strip_the_seal: (ta.StaleThinking, "signature: Field required"),
    reorder_two: MODIFIED,
    move_a_seal: MODIFIED,
    put_a_foreign_seal: INVALID_SIGNATURE,
    change_one_byte: INVALID_SIGNATURE,
}
REFUSALS: dict[str, Refusals] = {
    "anthropic-messages": CLAUDE,
    "bedrock-converse": CLAUDE,
    "gemini": {
        edit_what_is_sealed: INVALID_AT_GEMINI,
        drop_the_first: MISSING_AT_GEMINI,
        drop_all: MISSING_AT_GEMINI,
        strip_the_seal: MISSING_AT_GEMINI,
        reorder_two: INVALID_AT_GEMINI,
        move_a_seal: INVALID_AT_GEMINI,
        put_a_foreign_seal: INVALID_AT_GEMINI,
        change_one_byte: INVALID_AT_GEMINI,
    },
    "openai-chat": {
        edit_what_is_sealed: MODIFIED,
        drop_the_first: LOST_DETAILS,
        drop_all: LOST_DETAILS,
        strip_the_seal: LOST_DETAILS,
        reorder_two: MODIFIED,
        move_a_seal: MODIFIED,
        put_a_foreign_seal: INVALID_SIGNATURE,
        change_one_byte: INVALID_SIGNATURE,
    },
    "openai-responses": {
        edit_what_is_sealed: INVALID_CONTENT,
        drop_the_first: UNPAIRED,
        drop_all: UNPAIRED,
        strip_the_seal: (ta.StaleThinking, "Items are not persisted"),
        reorder_two: UNPAIRED,
        move_a_seal: INVALID_CONTENT,
        put_a_foreign_seal: INVALID_CONTENT,
        change_one_byte: INVALID_CONTENT,
    },
}
CASES = [
    pytest.param(protocol, tamper, refusal, id=f"{protocol}-{tamper.__name__}")
    for protocol, rows in REFUSALS.items()
    for tamper, refusal in rows.items()
]


def test_every_wire_is_tampered_with() -> None:
    assert set(REFUSALS) == set(WIRES) == set(PROTOCOL_IDS)


@pytest.mark.parametrize("protocol", PROTOCOL_IDS)
def test_what_was_issued_is_taken_back(protocol: str) -> None:
    turn = second_turn(protocol)
    assert [sealed[turn.wire.seal] for sealed in turn.wire.sealed(turn.body)] == [ONE, TWO]
    assert turn.sent().text == "It rains."


@pytest.mark.parametrize("protocol", PROTOCOL_IDS)
def test_a_conversation_goes_on_turn_after_turn(protocol: str) -> None:
    wire = WIRES[protocol]
    turn = second_turn(wire, wire.first, "It rains.", "So it will.")
    assert turn.next_turn().next_turn().sent().text == "So it will."


@pytest.mark.parametrize("target", PROTOCOL_IDS)
@pytest.mark.parametrize("protocol", PROTOCOL_IDS)
def test_a_conversation_goes_on_with_another_model(protocol: str, target: str) -> None:
    turn = second_turn(protocol)
    other = WIRES[target]
    assert ask(other, turn.scripted, plan_of(other, turn.history)).text == "It rains."


@pytest.mark.parametrize(("protocol", "tamper", "refusal"), CASES)
def test_tampering_is_refused(protocol: str, tamper: Tampering, refusal: tuple[type[ta.ProviderError], str]) -> None:
    turn, (kind, words) = second_turn(protocol), refusal
    body = turn.body
    tamper(turn.wire, body)
    with pytest.raises(ta.ProviderError, match=words.replace("(", r"\(")) as caught:
        turn.sent(body)
    assert (type(caught.value), caught.value.status, caught.value.retryable) == (kind, 400, False)


@pytest.mark.parametrize("protocol", PROTOCOL_IDS)
def test_a_seal_of_another_message_is_refused(protocol: str) -> None:
    wire = WIRES[protocol]
    told = ta.ToolCall("call_3", name="weather", arguments_json='{"city":"Lima"}', signature=None)
    if protocol == "gemini":
        told = ta.ToolCall("c", name="weather", arguments_json='{"city":"Lima"}', signature="c2VhbCBuZXc=")
        again = Reply([told])
    else:
        again = Reply([ta.Thinking.signed("And Lima.", "c2VhbCBuZXc="), told])
    turn = second_turn(wire, again, "It rains.")
    third = turn.next_turn()
    body = third.body
    wire.sealed(body)[-1][wire.seal] = ONE
    with pytest.raises(ta.StaleThinking):
        third.sent(body)
    assert third.sent().text == "It rains."


@pytest.mark.parametrize("protocol", ["anthropic-messages", "bedrock-converse"])
def test_a_block_of_another_message_is_refused_behind_the_calls_too(protocol: str) -> None:
    wire = WIRES[protocol]
    told = ta.ToolCall("call_3", name="weather", arguments_json='{"city":"Lima"}')
    third = second_turn(wire, Reply([ta.Thinking.signed("And Lima.", "c2VhbCBuZXc="), told]), "It rains.").next_turn()
    body = third.body
    first = next(message for message in body["messages"] if message["role"] == "assistant")
    wire.turn(body).append(first["content"].pop(0))
    with pytest.raises(ta.StaleThinking, match="cannot be modified"):
        third.sent(body)


@pytest.mark.parametrize("protocol", PROTOCOL_IDS)
def test_a_call_that_was_cut_off_is_no_part_of_what_was_issued(protocol: str) -> None:
    wire = WIRES[protocol]
    arguments = '{"city":1}' if protocol == "gemini" else '{"ci'  # there they come whole
    cut = ta.ToolCall("call_9", name="weather", arguments_json=arguments, complete=False)
    thinking, *_ = wire.first.content
    turn = second_turn(evolve(wire, first=Reply([thinking, "So", cut], stop=ta.StopReason.LENGTH)))
    assert turn.sent().text == "It rains."


@pytest.mark.parametrize("protocol", PROTOCOL_IDS)
def test_the_script_waits_where_a_request_is_refused(protocol: str) -> None:
    turn = second_turn(protocol, "Said once.")
    body = turn.body
    put_a_foreign_seal(turn.wire, body)
    for _ in range(2):
        with pytest.raises(ta.StaleThinking):
            turn.sent(body)
    assert turn.sent().text == "Said once."


@pytest.mark.anyio
@pytest.mark.parametrize("protocol", PROTOCOL_IDS)
async def test_what_a_user_builds_of_foreign_seals_is_refused(protocol: str) -> None:
    signed = (ta.Thinking.signed("Hm.", "Zm9yZWlnbg=="), OSLO)
    if protocol == "gemini":
        signed = (ta.Thinking("Hm."), ta.ToolCall("a", name="weather", arguments_json="{}", signature="Zm9yZWlnbg=="))
    if protocol == "openai-chat":
        entry = {"type": "reasoning.text", "text": "Hm.", "signature": "Zm9yZWlnbg=="}
        signed = (ta.Thinking("Hm.", extra={"reasoning_details": [entry]}), OSLO)
    wire = WIRES[protocol]
    history: list[str | ta.Message] = ["Hi", ta.AssistantMessage(signed), ta.ToolResult(signed[1].id, "rain")]
    async with client_of(wire.script()) as client:
        with pytest.raises(ta.StaleThinking):
            await client.complete(wire.model, history)


@pytest.mark.anyio
@pytest.mark.parametrize("protocol", PROTOCOL_IDS)
async def test_an_interrupted_answer_goes_back_as_far_as_it_came(protocol: str) -> None:
    wire = WIRES[protocol]
    scripted = Scripted(
        [Reply(wire.first.content, error=Failure(ta.ServerError)), "It rains."],
        thinking_in=wire.thinking_in,
        verify_signatures=True,
    )
    async with client_of(scripted) as client:
        with pytest.raises(ta.ServerError) as caught:
            await client.complete(wire.model, "How is Oslo?")
        assert caught.value.partial is not None
        history: list[str | ta.Message] = ["How is Oslo?", caught.value.partial, "Go on."]
        assert (await client.complete(wire.model, history)).text == "It rains."


@pytest.mark.parametrize("protocol", PROTOCOL_IDS)
def test_over_http_the_refusal_is_a_400_in_the_providers_own_shape(protocol: str) -> None:
    turn = second_turn(protocol)
    body = turn.body
    drop_all(turn.wire, body)
    with serve_in_thread(turn.scripted) as server:
        path = turn.plan.request.url.removeprefix("http://localhost/v1")
        answer = httpx.post(server.base_url(protocol) + path, content=json.dumps(body), trust_env=False)
        taken = httpx.post(server.base_url(protocol) + path, content=turn.plan.request.body, trust_env=False)
    assert (answer.status_code, taken.status_code) == (400, 200)
    told = answer.json()
    assert isinstance(told["message"] if protocol == "bedrock-converse" else told["error"]["message"], str)


@pytest.mark.anyio
async def test_a_server_of_a_list_of_replies_can_verify() -> None:
    wire = WIRES["anthropic-messages"]
    async with serve([wire.first, "It rains."], verify_signatures=True) as server:
        assert server.scripted.verifies_signatures
        async with ta.Client(api_key="none", base_url=server.base_url(wire.protocol), tools=TOOLS) as client:
            first = await client.complete(wire.model, "How is Oslo?")
            results = [ta.ToolResult(call.id, "rain") for call in first.tool_calls]
            edited = ta.AssistantMessage((ta.Thinking.signed("Edited.", ONE), *first.content[1:]))
            with pytest.raises(ta.StaleThinking):
                await client.complete(wire.model, ["How is Oslo?", edited, *results])
            assert (await client.complete(wire.model, ["How is Oslo?", first, *results])).text == "It rains."


def test_a_model_that_does_not_verify_is_not_served_as_one_that_does() -> None:
    with (
        pytest.raises(TypeError, match="verify_signatures=True"),
        serve_in_thread(Scripted(["Hi"]), verify_signatures=True),
    ):
        pass


@pytest.mark.anyio
async def test_nothing_is_verified_unless_asked() -> None:
    wire = WIRES["anthropic-messages"]
    answer = ta.AssistantMessage((ta.Thinking.signed("Hm.", "Zm9yZWlnbg=="), ta.Text("Yes.")))
    history: list[str | ta.Message] = ["Hi", answer, "Why?"]
    async with client_of(Scripted(["So."])) as client:
        assert (await client.complete(wire.model, history)).text == "So."


@pytest.mark.anyio
async def test_the_demonstration_can_verify() -> None:
    wire = WIRES["anthropic-messages"]
    async with client_of(demo_script(verify_signatures=True)) as client:
        for _ in range(2):  # the same answer twice is issued twice
            answer = await client.complete(wire.model, "How long?")
            result = ta.ToolResult(answer.tool_calls[0].id, "ding")
            second = await client.complete(wire.model, ["How long?", answer, result])
            assert second.text.startswith("Did you count")
            lone = ta.AssistantMessage(answer.content[1:])
            with pytest.raises(ta.InvalidRequest, match="must start with a thinking block"):
                await client.complete(wire.model, ["How long?", lone, result])
