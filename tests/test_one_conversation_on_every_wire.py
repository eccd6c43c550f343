"""One scripted conversation on all wires: think, call two tools at once, get the results, think again, answer."""

from __future__ import annotations

import pytest
from attrs import evolve

import thinkaloud as ta
from thinkaloud.protocols.registry import PROTOCOL_IDS
from thinkaloud.testing import Reply, Scripted, serve

pytestmark = pytest.mark.anyio

MODELS = {
    "anthropic-messages": ta.Model("anthropic", "claude-opus-5"),
    "openai-chat": ta.Model("deepseek", "deepseek-v4-pro"),
    "openai-responses": ta.Model("openai", "gpt-5.5", protocol="openai-responses"),
    "gemini": ta.Model("google", "gemini-3-pro"),
    "bedrock-converse": ta.Model("bedrock", "us.anthropic.claude-sonnet-4-6"),
}
TOOLS = [ta.Tool("weather", "Tells the weather of a city."), ta.Tool("clock", "Tells the time of a city.")]
CALLS = (
    ta.ToolCall("call_1", name="weather", arguments_json='{"city":"Oslo"}'),
    ta.ToolCall("call_2", name="clock", arguments_json='{"city":"Oslo","zone":1}'),
)


def thinking(protocol: str, text: str, seal: str) -> ta.Thinking:
    """Thinking as the wire says it: in the open on chat completions, signed everywhere else."""
    return ta.Thinking(text) if protocol == "openai-chat" else ta.Thinking.signed(text, seal)


def script(protocol: str) -> Scripted:
    first = Reply([thinking(protocol, "I need both.", "c2VhbC1vbmU="), *CALLS], id="resp_1")
    second = Reply([thinking(protocol, "Now I know.", "c2VhbC10d28="), ta.Text("Rain, and it is noon.")], id="resp_2")
    return Scripted([first, second], verify_signatures=True)


def bare(message: ta.AssistantMessage) -> list[object]:
    """The blocks without what only their wire's replay needs: Gemini signs another part when it streams."""
    return [block if isinstance(block, ta.Opaque) else evolve(block, extra={}) for block in message.content]


async def converse(protocol: str, *, streaming: bool) -> tuple[list[ta.AssistantMessage], list[str]]:
    """Hold the conversation over HTTP; give the two answers and the bodies that were sent."""
    model = MODELS[protocol]
    async with serve(script(protocol)) as server:
        async with ta.Client(api_key="none", base_url=server.base_url(protocol), tools=TOOLS) as client:
            history = ta.Conversation("How is Oslo?")
            first = await client.complete(model, history, streaming=streaming)
            results = [ta.ToolResult(call.id, f"{call.name} of {call.arguments['city']}") for call in first.tool_calls]
            history = history.adding(first, results)
            assert ta.validate(history) == ()
            second = await client.complete(model, history, streaming=streaming)
        return [first, second], [request.body.decode() for request in server.requests]


@pytest.mark.parametrize("protocol", PROTOCOL_IDS)
async def test_the_conversation_runs_streamed_and_whole_and_gives_the_same(protocol: str) -> None:
    streamed, sent = await converse(protocol, streaming=True)
    whole, _ = await converse(protocol, streaming=False)
    assert [bare(message) for message in streamed] == [bare(message) for message in whole]
    assert [message.stop_reason for message in streamed] == [ta.StopReason.TOOL_USE, ta.StopReason.END]
    assert [message.stop_reason for message in whole] == [ta.StopReason.TOOL_USE, ta.StopReason.END]
    first, second = streamed
    assert first.thinking == "I need both."
    assert [(call.name, call.arguments) for call in first.tool_calls] == [
        ("weather", {"city": "Oslo"}),
        ("clock", {"city": "Oslo", "zone": 1}),
    ]
    assert (second.thinking, second.text) == ("Now I know.", "Rain, and it is noon.")
    for words in ("weather of Oslo", "clock of Oslo"):
        assert words in sent[1]
    assert sent[1].index("weather of Oslo") < sent[1].index("clock of Oslo")
    for block in first.thinking_blocks:  # the proof of turn one is in turn two, before the results
        proof = block.signature or block.text
        assert sent[1].index(proof) < sent[1].index("weather of Oslo")


def test_every_wire_has_its_model_here() -> None:
    assert set(MODELS) == set(PROTOCOL_IDS)
