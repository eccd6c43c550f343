"""Models that nobody knows yet work from end to end: the level is sent as it was asked, and nothing is refused."""

from __future__ import annotations

from typing import Any

import pytest

import thinkaloud as ta
from support.calling import calling
from thinkaloud.protocols.anthropic.options import AnthropicOptions, Budget
from thinkaloud.testing import Reply

OFF, MINIMAL, LOW, MEDIUM, HIGH, XHIGH, MAX = ta.ThinkingLevel

MESSAGES = ("anthropic-messages", "anthropic/claude-saga-7")
CONVERSE = ("bedrock-converse", "bedrock/eu.anthropic.claude-saga-7-20280101-v1:0")
VENDOR = ("bedrock-converse", "bedrock/somebody.unheard-of-v1:0")
NEXT_NOVA = ("bedrock-converse", "bedrock/amazon.nova-2-titanic-v1:0")


def fields_of(body: Any) -> Any:
    fields = body.get("additionalModelRequestFields", body)
    return {name: fields[name] for name in ("thinking", "output_config", "reasoningConfig") if name in fields}


ADAPTIVE = {"type": "adaptive", "display": "summarized"}
NOVA = {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "medium"}}


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("known", "level", "sent", "fields"),
    [
        (MESSAGES, XHIGH, XHIGH, {"thinking": ADAPTIVE, "output_config": {"effort": "xhigh"}}),
        (MESSAGES, OFF, OFF, {"thinking": {"type": "disabled"}}),
        (MESSAGES, None, None, {}),
        (CONVERSE, MAX, MAX, {"thinking": ADAPTIVE, "output_config": {"effort": "max"}}),
        (VENDOR, HIGH, None, {}),
        (NEXT_NOVA, MEDIUM, MEDIUM, NOVA),
    ],
)
async def test_an_unknown_model_is_asked_as_its_newest_kin(known: Any, level: Any, sent: Any, fields: Any) -> None:
    protocol, model = known
    reply = Reply([ta.Thinking.signed("Hm.", "c2ln"), "So."])
    async with calling([reply], protocol=protocol) as (server, client):
        message = await client.complete(model, "Why?", reasoning=level)
        [request] = server.requests
    assert (message.thinking, message.text) == ("Hm.", "So.")
    assert (message.level.asked, message.level.sent) == (level, sent)
    assert fields_of(request.json) == fields


@pytest.mark.anyio
async def test_a_second_turn_with_an_unknown_model_sends_its_thinking_back() -> None:
    protocol, model = MESSAGES
    first = Reply([ta.Thinking.signed("Hm.", "c2ln"), "So."])
    async with calling([first, "And so on."], protocol=protocol) as (server, client):
        question = ta.UserMessage("Why?")
        answer = await client.complete(model, [question], reasoning=HIGH)
        await client.complete(model, [question, answer, ta.UserMessage("And?")], reasoning=HIGH)
        body: Any = server.requests[1].json
    assert body["messages"][1]["content"][0] == {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}


def test_native_options_of_an_unknown_model_are_not_second_guessed() -> None:
    options = AnthropicOptions(thinking=Budget(2048), effort="max")
    plan = ta.prepare("anthropic/claude-saga-7", "Why?", options=options)
    assert plan.body["thinking"] == {"type": "enabled", "budget_tokens": 2048, "display": "summarized"}
    assert plan.body["output_config"] == {"effort": "max"}
