"""A scripted model that verifies takes what its provider tolerates, and draws the line where the provider draws it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from attrs import evolve

import thinkaloud as ta
from support.sealed import ONE, OSLO, WIRES, Body, Wire, ask, last_of_assistant, plan_of, second_turn
from thinkaloud.testing import Reply

CLAUDE = ("anthropic-messages", "bedrock-converse")


def without_seals(wire: Wire, body: Body) -> Body:
    """A body without the sealed blocks of the model's last turn."""
    blocks = wire.turn(body)
    blocks[:] = [block for block in blocks if wire.seal not in wire.holder(block)]
    return body


def with_thinking(protocol: str, body: Body, told: Any) -> Body:
    """A body of Claude's that says whether the model is to think, or does not."""
    bare = {name: body[name] for name in body if name not in ("thinking", "additionalModelRequestFields")}
    if told is None:
        return bare
    return {**bare, "thinking": told, "additionalModelRequestFields": {"thinking": told}}


# Claude


@pytest.mark.parametrize("protocol", CLAUDE)
def test_claude_needs_no_thinking_of_a_turn_that_is_over(protocol: str) -> None:
    turn = second_turn(protocol, "It rains.", "So it will.").next_turn()
    body = turn.body
    first = next(message for message in body["messages"] if message["role"] == "assistant")
    first["content"] = [block for block in first["content"] if turn.wire.seal not in turn.wire.holder(block)]
    assert turn.sent(body).text == "So it will."


@pytest.mark.parametrize("protocol", CLAUDE)
def test_claude_takes_a_turn_that_is_over_without_one_of_its_thoughts(protocol: str) -> None:
    turn = second_turn(protocol, "It rains.", "So it will.").next_turn()
    body = turn.body
    first = next(message for message in body["messages"] if message["role"] == "assistant")
    del first["content"][0]
    assert turn.sent(body).text == "So it will."


@pytest.mark.parametrize("protocol", CLAUDE)
def test_claude_needs_no_thinking_once_the_user_has_spoken(protocol: str) -> None:
    turn = second_turn(protocol)
    body = without_seals(turn.wire, turn.body)
    body["messages"].append({"role": "user", "content": [{"type": "text", "text": "Never mind."}]})
    assert turn.sent(body).text == "It rains."


def test_claude_takes_unsigned_thinking_only_where_it_gave_it_so() -> None:
    wire = evolve(WIRES["anthropic-messages"], first=Reply([ta.Thinking("Hm."), OSLO]))
    turn = second_turn(wire)
    body = turn.body
    blocks = last_of_assistant(body)["content"]
    blocks.insert(0, {"type": "thinking", "thinking": "Hm, hm.", "signature": ""})
    with pytest.raises(ta.StaleThinking, match="signature: Field required"):
        turn.sent(body)
    blocks[0]["thinking"] = "Hm."
    assert turn.sent(body).text == "It rains."


@pytest.mark.parametrize("protocol", CLAUDE)
def test_claude_refuses_edited_thinking_of_a_turn_that_is_over(protocol: str) -> None:
    turn = second_turn(protocol, "It rains.", "So it will.").next_turn()
    body = turn.body
    first = next(message for message in body["messages"] if message["role"] == "assistant")
    turn.wire.holder(first["content"][0])[turn.wire.text] = "Edited."
    with pytest.raises(ta.StaleThinking, match="Invalid `signature`"):
        turn.sent(body)


@pytest.mark.parametrize("protocol", CLAUDE)
def test_claude_needs_no_thinking_of_an_answer_without_calls(protocol: str) -> None:
    wire = evolve(WIRES[protocol], first=Reply([ta.Thinking.signed("Hm.", ONE), "Yes."]))
    turn = second_turn(wire)
    assert len(turn.wire.sealed(turn.body)) == 1
    assert turn.sent(without_seals(wire, turn.body)).text == "It rains."


@pytest.mark.parametrize("protocol", CLAUDE)
def test_claude_takes_calls_and_texts_that_were_edited(protocol: str) -> None:
    wire = evolve(WIRES[protocol], first=Reply([ta.Thinking.signed("Hm.", ONE), "I look.", OSLO]))
    turn = second_turn(wire)
    written = json.dumps(turn.body).replace("I look.", "Looking.").replace("Oslo", "Bergen")
    assert turn.sent(json.loads(written)).text == "It rains."


@pytest.mark.parametrize("protocol", CLAUDE)
def test_claude_passes_over_blocks_where_thinking_is_disabled(protocol: str) -> None:
    turn = second_turn(protocol)
    body = with_thinking(protocol, turn.body, {"type": "disabled"})
    turn.wire.sealed(body)[0][turn.wire.seal] = "Zm9yZWlnbg=="
    assert turn.sent(body).text == "It rains."


@pytest.mark.parametrize("protocol", CLAUDE)
def test_claude_wants_no_thinking_back_where_it_was_asked_to_think_and_no_longer_is(protocol: str) -> None:
    turn = second_turn(protocol, reasoning="high")
    body = without_seals(turn.wire, turn.body)
    with pytest.raises(ta.InvalidRequest, match="must start with a thinking block"):
        turn.sent(with_thinking(protocol, body, {"type": "adaptive"}))
    assert turn.sent(with_thinking(protocol, body, None)).text == "It rains."


@pytest.mark.parametrize("protocol", CLAUDE)
def test_claude_does_not_look_at_the_text_of_withheld_thinking(protocol: str) -> None:
    wire = evolve(WIRES[protocol], first=Reply([ta.Thinking.signed("", ONE), OSLO]))
    turn = second_turn(wire)
    body = turn.body
    (sealed,) = wire.sealed(body)
    sealed[wire.text] = "I think that I thought this."
    assert turn.sent(body).text == "It rains."


@pytest.mark.parametrize("protocol", CLAUDE)
def test_claude_wants_redacted_thinking_back_byte_for_byte(protocol: str) -> None:
    payload = "cmVkYWN0ZWQ="
    wire = evolve(WIRES[protocol], first=Reply([ta.Thinking.redacted_payload(payload), OSLO]))
    turn = second_turn(wire)
    changed = json.loads(json.dumps(turn.body).replace(payload, "cmVkYWN0ZWE="))
    with pytest.raises(ta.StaleThinking, match="Invalid `signature` in `redacted_thinking` block"):
        turn.sent(changed)
    body = turn.body
    del last_of_assistant(body)["content"][0]
    with pytest.raises(ta.InvalidRequest, match="must start with a thinking block"):
        turn.sent(body)
    assert turn.sent().text == "It rains."


def test_claude_refuses_a_payload_as_a_signature() -> None:
    wire = evolve(WIRES["anthropic-messages"], first=Reply([ta.Thinking.redacted_payload("cGF5bG9hZA=="), OSLO]))
    turn = second_turn(wire)
    body = turn.body
    wire.turn(body)[0] = {"type": "thinking", "thinking": "", "signature": "cGF5bG9hZA=="}
    with pytest.raises(ta.StaleThinking, match="cannot be modified"):
        turn.sent(body)


def test_payloads_of_claude_verify_on_its_other_host() -> None:
    wire = evolve(WIRES["anthropic-messages"], first=Reply([ta.Thinking.redacted_payload("payload"), OSLO]))
    turn = second_turn(wire, "It rains in Oslo.")
    plan = plan_of(WIRES["bedrock-converse"], turn.history)
    assert '"redactedContent":"cGF5bG9hZA=="' in plan.request.body.decode()
    assert ask(WIRES["bedrock-converse"], turn.scripted, plan).text == "It rains in Oslo."


def test_seals_of_claude_verify_on_its_other_host() -> None:
    turn = second_turn("anthropic-messages", "It rains in Oslo.")
    other = WIRES["bedrock-converse"]
    plan = plan_of(other, turn.history)
    assert [block["signature"] for block in other.sealed(json.loads(plan.request.body))] != []
    assert ask(other, turn.scripted, plan).text == "It rains in Oslo."


def test_seals_of_claude_are_foreign_elsewhere() -> None:
    turn = second_turn("anthropic-messages")
    elsewhere = WIRES["openai-responses"]
    body = json.loads(plan_of(elsewhere, "Hi").request.body)
    body["input"] += [{"type": "reasoning", "summary": [], "encrypted_content": ONE}]
    with pytest.raises(ta.StaleThinking, match="could not be verified"):
        ask(elsewhere, turn.scripted, plan_of(elsewhere, "Hi"), body)


# Gemini


def gemini(*blocks: Any, model: str = "gemini-3-pro") -> Wire:
    wire = WIRES["gemini"]
    return evolve(wire, model=evolve(wire.model, id=model), first=Reply(blocks or wire.first.content))


def test_gemini_before_3_needs_no_signatures() -> None:
    turn = second_turn(gemini(model="gemini-2.5-pro"))
    body = turn.body
    for part in turn.wire.turn(body):
        part.pop("thoughtSignature", None)
    assert turn.sent(body).text == "It rains."


def test_gemini_needs_no_signatures_of_an_earlier_turn() -> None:
    turn = second_turn("gemini", "It rains.", "So it will.").next_turn()
    body = turn.body
    for content in body["contents"]:
        for part in content["parts"]:
            part.pop("thoughtSignature", None)
    assert turn.sent(body).text == "So it will."


def test_gemini_wants_the_signature_of_each_step_of_the_turn_that_goes_on() -> None:
    again = ta.ToolCall("c", name="weather", arguments_json='{"city":"Lima"}', signature="c2VhbCBuZXc=")
    turn = second_turn("gemini", again, "It rains.").next_turn()
    body = turn.body
    first = next(content for content in body["contents"] if content["role"] == "model")
    for part in first["parts"]:
        part.pop("thoughtSignature", None)
    with pytest.raises(ta.StaleThinking, match="missing a thought_signature"):
        turn.sent(body)
    assert turn.sent().text == "It rains."


@pytest.mark.parametrize(
    "stand_in",
    ["skip_thought_signature_validator", "Y29udGV4dF9lbmdpbmVlcmluZ19pc190aGVfd2F5X3RvX2dv"],
)
def test_gemini_takes_the_documented_stand_ins(stand_in: str) -> None:
    turn = second_turn("gemini")
    body = turn.body
    turn.wire.sealed(body)[0]["thoughtSignature"] = stand_in
    assert turn.sent(body).text == "It rains."


def test_gemini_takes_the_signature_of_a_text_on_the_thought_before_it() -> None:
    turn = second_turn(gemini(ta.Thinking("Hm."), ta.Text("Yes.", signature=ONE)))
    body = turn.body
    body["contents"][1]["parts"] = [
        {"text": "Hm.", "thought": True, "thoughtSignature": ONE},
        {"text": "Yes."},
    ]
    assert turn.sent(body).text == "It rains."


def test_gemini_takes_a_signature_that_is_there_once_more() -> None:
    turn = second_turn("gemini")
    body = turn.body
    turn.wire.sealed(body)[1]["thoughtSignature"] = ONE
    assert turn.sent(body).text == "It rains."


def test_gemini_takes_signatures_in_both_alphabets() -> None:
    call = ta.ToolCall("a", name="weather", arguments_json="{}", signature="+/+/")
    turn = second_turn(gemini(call))
    body = turn.body
    (sealed,) = turn.wire.sealed(body)
    sealed["thoughtSignature"] = "-_-_"
    assert turn.sent(body).text == "It rains."


def test_gemini_refuses_a_part_that_is_a_signature_alone() -> None:
    turn = second_turn("gemini")
    body = turn.body
    turn.wire.turn(body).append({"thoughtSignature": ONE})
    with pytest.raises(ta.StaleThinking, match="Invalid thought signature"):
        turn.sent(body)


def test_gemini_cannot_decode_a_seal_that_is_no_base64() -> None:
    turn = second_turn("gemini")
    body = turn.body
    turn.wire.sealed(body)[0]["thoughtSignature"] = "sealed!"
    with pytest.raises(ta.StaleThinking, match="Base64 decoding failed"):
        turn.sent(body)


def test_gemini_wants_no_signature_of_a_call_that_it_did_not_sign() -> None:
    turn = second_turn(gemini(ta.Thinking("Hm."), OSLO))
    body = turn.body
    for part in turn.wire.turn(body):
        part.pop("thoughtSignature", None)
    assert turn.sent(body).text == "It rains."


# the Responses API


def items_of(body: Body, kind: str) -> list[dict[str, Any]]:
    return [item for item in body["input"] if item.get("type") == kind]


def without_ids(body: Body) -> Body:
    for item in body["input"]:
        item.pop("id", None)
    return body


def test_responses_take_a_turn_without_thinking_where_its_items_have_no_ids() -> None:
    turn = second_turn("openai-responses")
    assert turn.sent(without_ids(without_seals(turn.wire, turn.body))).text == "It rains."


def test_responses_take_encrypted_thinking_without_ids() -> None:
    turn = second_turn("openai-responses")
    assert turn.sent(without_ids(turn.body)).text == "It rains."


def test_responses_take_encrypted_thinking_without_its_summary() -> None:
    turn = second_turn("openai-responses")
    body = turn.body
    for item in items_of(body, "reasoning"):
        item["summary"] = []
    assert turn.sent(body).text == "It rains."


def test_responses_refuse_reasoning_without_the_item_it_led_to() -> None:
    turn = second_turn("openai-responses")
    body = turn.body
    body["input"] = [item for item in body["input"] if item.get("call_id") != OSLO.id]
    with pytest.raises(ta.StaleThinking, match="of type 'reasoning' was provided without its required following item"):
        turn.sent(body)


@pytest.mark.parametrize("change", [{"id": None}, {"content": [{"type": "output_text", "text": "No."}]}])
def test_responses_refuse_reasoning_before_another_message_than_its_own(change: Body) -> None:
    wire = WIRES["openai-responses"]
    turn = second_turn(evolve(wire, first=Reply([ta.Thinking.signed("Hm.", ONE), "Yes."])))
    body = turn.body
    (message,) = items_of(body, "message")
    message.update(change)
    with pytest.raises(ta.StaleThinking, match="required following item"):
        turn.sent(body)
    assert turn.sent().text == "It rains."


def test_responses_refuse_an_item_whose_reasoning_is_not_right_before_it() -> None:
    turn = second_turn("openai-responses")
    body = turn.body
    del body["input"][turn.wire.places(body)[1]]
    with pytest.raises(ta.StaleThinking, match="of type 'function_call' was provided without its required 'reasoning'"):
        turn.sent(body)


def test_responses_tell_calls_apart_that_say_the_same() -> None:
    again = evolve(OSLO, id="call_2")
    blocks: list[ta.Thinking | ta.ToolCall] = [ta.Thinking.signed("One.", ONE), OSLO, again]
    turn = second_turn(evolve(WIRES["openai-responses"], first=Reply(blocks)))
    body = turn.body
    places = [place for place, item in enumerate(body["input"]) if item.get("type") == "function_call"]
    del body["input"][places[0]]
    with pytest.raises(ta.StaleThinking, match="required following item"):
        turn.sent(body)


def test_responses_take_reasoning_in_the_open_of_servers_that_keep_nothing() -> None:
    turn = second_turn("openai-responses")
    body = turn.body
    parts = [{"type": "reasoning_text", "text": "Hm."}]
    body["input"][1:1] = [{"type": "reasoning", "id": "r", "content": parts}, {"role": "user", "content": "?"}]
    assert turn.sent(body).text == "It rains."


def test_responses_take_bare_reasoning_only_where_it_is_kept() -> None:
    turn = second_turn("openai-responses")
    body = turn.body
    for item in items_of(body, "reasoning"):
        del item["encrypted_content"]
    assert body["store"] is False
    with pytest.raises(ta.StaleThinking, match="Items are not persisted"):
        turn.sent(body)
    assert turn.sent({**body, "store": True}).text == "It rains."


# chat completions


def chat(*blocks: Any, provider: str = "deepseek", model: str = "deepseek-v4-pro") -> Wire:
    found = ta.Model(provider, model, protocol="openai-chat")
    return evolve(WIRES["openai-chat"], model=found, thinking_in="reasoning_content", first=Reply(blocks))


def test_chat_wants_reasoning_content_with_the_calls_of_an_open_loop() -> None:
    turn = second_turn(chat(ta.Thinking("Hm."), OSLO))
    body = turn.body
    message = last_of_assistant(body)
    for said in (" ", "", "Something else."):
        assert second_turn(chat(ta.Thinking("Hm."), OSLO)).sent(with_content(body, said)).text == "It rains."
    del message["reasoning_content"]
    with pytest.raises(ta.StaleThinking, match="must be passed back"):
        turn.sent(body)
    assert turn.sent({**body, "thinking": {"type": "disabled"}}).text == "It rains."


def with_content(body: Body, said: str) -> Body:
    messages = [{**item, "reasoning_content": said} if "tool_calls" in item else item for item in body["messages"]]
    return {**body, "messages": messages}


def test_chat_wants_no_reasoning_content_once_the_user_has_spoken() -> None:
    turn = second_turn(chat(ta.Thinking("Hm."), OSLO), "It rains.", "So it will.").next_turn()
    body = turn.body
    for message in body["messages"]:
        message.pop("reasoning_content", None)
    assert turn.sent(body).text == "So it will."


def test_chat_wants_no_thinking_where_there_was_none() -> None:
    turn = second_turn(chat(OSLO))
    body = turn.body
    last_of_assistant(body).pop("reasoning_content", None)
    assert turn.sent(body).text == "It rains."


def test_chat_wants_the_signature_of_a_call() -> None:
    signed = evolve(OSLO, signature=ONE)
    turn = second_turn(chat(signed, provider="gemini-openai", model="gemini-3-pro"))
    body = turn.body
    (call,) = last_of_assistant(body)["tool_calls"]
    call["extra_content"]["google"]["thought_signature"] = "Zm9yZWlnbg=="
    with pytest.raises(ta.StaleThinking, match="missing a thought_signature"):
        turn.sent(body)
    del call["extra_content"]
    with pytest.raises(ta.StaleThinking, match="missing a thought_signature"):
        turn.sent(body)
    assert turn.sent().text == "It rains."


def test_chat_wants_no_signature_of_a_second_call() -> None:
    calls = (evolve(OSLO, signature=ONE), evolve(OSLO, id="call_2", signature="c2VhbCB0d28="))
    turn = second_turn(chat(*calls, provider="gemini-openai", model="gemini-3-pro"))
    body = turn.body
    del last_of_assistant(body)["tool_calls"][1]["extra_content"]
    assert turn.sent(body).text == "It rains."


@pytest.mark.parametrize("way", ["reasoning", "think_tags"])
def test_chat_takes_answers_without_thinking_in_other_ways(way: Any) -> None:
    turn = second_turn(evolve(chat(ta.Thinking("Hm."), OSLO), thinking_in=way))
    body = turn.body
    message = last_of_assistant(body)
    body["messages"] = [
        {"role": "assistant", "content": None, "tool_calls": message["tool_calls"]} if item == message else item
        for item in body["messages"]
    ]
    assert turn.sent(body).text == "It rains."


def test_chat_wants_a_signed_part_as_it_was() -> None:
    wire = evolve(chat(ta.Thinking.signed("Hm.", ONE), "Yes.", provider="mistral", model="m"), thinking_in="content")
    turn = second_turn(wire)
    body = turn.body
    part = last_of_assistant(body)["content"][0]
    assert part["signature"] == ONE
    part["thinking"][0]["text"] = "Edited."
    with pytest.raises(ta.StaleThinking, match="cannot be modified"):
        turn.sent(body)
    del last_of_assistant(body)["content"][0]
    assert turn.sent(body).text == "It rains."


# whatever a request holds


ODD: list[Any] = [None, 1, "x", [], {}, [None], ["x"], [[]], [{}], [{"role": "assistant"}], [{"role": "model"}]]


@pytest.mark.parametrize("protocol", WIRES)
@pytest.mark.parametrize("value", ODD, ids=repr)
def test_odd_requests_are_none_of_its_business(protocol: str, value: Any) -> None:
    turn = second_turn(protocol)
    names = ("messages", "contents", "input", "thinking", "reasoning", "additionalModelRequestFields", "store")
    body = {**turn.body, **{name: value for name in names if name in turn.body or name == "thinking"}}
    assert turn.sent(body).text == "It rains."
