"""A conversation with thinking and calls, made on each protocol, goes on with each other, over the loopback server.

The bodies of the second turn are golden files, reviewed against what each provider documents. To write them anew, set
THINKALOUD_WRITE_GOLDEN=1, and review what has changed. The notices explain each loss, block by block.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

import thinkaloud as ta
from support.targets import TARGETS, told
from thinkaloud.testing import Reply, Scripted, serve

pytestmark = pytest.mark.anyio

GOLDEN = Path(__file__).parent / "golden" / "switching"
TOOLS = [ta.Tool("weather", "Tells the weather of a city.")]
CALLS = (
    ta.ToolCall("call_1", name="weather", arguments_json='{"city":"Oslo"}'),
    ta.ToolCall("call_2", name="weather", arguments_json='{"city":"Rome"}'),
)
PAIRS = [(made, goes) for made in TARGETS for goes in TARGETS]


def thinking(protocol: str) -> ta.Thinking:
    """Thinking as the wire says it: in the open on chat completions, signed everywhere else."""
    return ta.Thinking("I need both.") if protocol == "openai-chat" else ta.Thinking.signed("I need both.", "c2VhbA==")


def calls(protocol: str) -> list[ta.ToolCall]:
    """Two calls at once; Gemini signs the first one."""
    return [evolve(CALLS[0], signature="Y2FsbA=="), CALLS[1]] if protocol == "gemini" else list(CALLS)


def script(protocol: str) -> Scripted:
    return Scripted(
        [
            Reply([thinking(protocol), ta.Text("Let me look."), *calls(protocol)], id="resp_1"),
            Reply([ta.Text("Rain, and sun.")], id="resp_2"),
        ],
        verify_signatures=True,
    )


async def switched(made: str, goes: str) -> tuple[ta.Conversation, ta.Plan, Any, ta.AssistantMessage]:
    """Make a turn on one protocol and go on with another; give the history, the plan, the body and the answer."""
    async with serve(script(made)) as server, ta.Client(api_key="none", tools=TOOLS) as client:
        history = ta.Conversation("How is it in Oslo and Rome?", system="Be brief.")
        first = await client.complete(TARGETS[made], history, base_url=server.base_url(made))
        results = [ta.ToolResult(call.id, f"weather of {call.arguments['city']}") for call in first.tool_calls]
        history = history.adding(first, results)
        assert ta.validate(history) == ()
        before = history.to_json()
        url = server.base_url(goes)
        plan = client.prepare(TARGETS[goes], history, base_url=url)
        second = await client.complete(TARGETS[goes], history, base_url=url)
        assert history.to_json() == before
        return history, plan, server.requests[-1].json, second


def golden(name: str, body: Any) -> Any:
    """What is expected of a body."""
    path = GOLDEN / f"{name}.json"
    if os.environ.get("THINKALOUD_WRITE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(body, indent=1, ensure_ascii=False) + "\n")
    return json.loads(path.read_text())


def conversation_in(body: Any) -> Any:
    """The part of a body that holds the history."""
    return next(body[name] for name in ("messages", "contents", "input") if name in body)


@pytest.mark.parametrize(("made", "goes"), PAIRS)
async def test_the_next_turn_is_what_the_provider_takes(made: str, goes: str) -> None:
    history, _, body, second = await switched(made, goes)
    assert second.text == "Rain, and sun."
    assert second.prefix_digest
    assert conversation_in(body) == golden(f"{made}-to-{goes}", conversation_in(body))
    assert ta.validate(history.adding(second, "Thanks")) == ()


# What is told of the switch, by the realm in which the thinking was made and the one that it goes to.
CLAUDE = ("anthropic-messages", "bedrock-converse")
THINKING_LOST = ("thinking_omitted", "messages[1].content[0]")


@pytest.mark.parametrize(("made", "goes"), PAIRS)
async def test_notices_explain_each_loss(made: str, goes: str) -> None:
    history, plan, _, _ = await switched(made, goes)
    answer = history.messages[1]
    assert isinstance(answer, ta.AssistantMessage)
    expected = []
    if made != goes and not {made, goes} <= set(CLAUDE):
        expected = [THINKING_LOST] if answer.thinking_blocks else []
        expected += [
            ("signature_omitted", f"messages[1].content[{place}]")
            for place, block in enumerate(answer.content)
            if isinstance(block, (ta.Text, ta.ToolCall)) and block.signature
        ]
        if goes == "gemini":
            expected.append(("signature_replaced", "messages[1].content[2]"))
    assert sorted(told(plan)) == sorted(expected)
