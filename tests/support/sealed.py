"""A scripted tool conversation on each wire, with signed thinking, up to its second request, which can be changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from attrs import evolve, frozen

import thinkaloud as ta
from thinkaloud.protocols.base import ErrorResponse
from thinkaloud.protocols.registry import wire_protocol
from thinkaloud.testing import RecordedRequest, Reply, Scripted
from thinkaloud.testing.encoding import ThinkingIn
from thinkaloud.testing.scripted import Answer

Body = dict[str, Any]
Blocks = list[dict[str, Any]]

ONE, TWO = "c2VhbCBvbmU=", "c2VhbCB0d28="
TOOLS = [ta.Tool("weather", "Tells the weather of a city.")]
OSLO = ta.ToolCall("call_1", name="weather", arguments_json='{"city":"Oslo"}')
ROME = ta.ToolCall("call_2", name="weather", arguments_json='{"city":"Rome"}')


@frozen(kw_only=True)
class Wire:
    """How a wire holds sealed blocks.

    turn: the blocks of the model's turns in a request, each with its place among its likes. They can be changed there.
    seal: the name of the seal in a block; holder: the object in the block that has it and the text.
    text: the name of what is under the seal.
    """

    model: ta.Model
    first: Reply
    thinking_in: ThinkingIn = "reasoning_content"
    turn: Callable[[Body], Blocks]
    holder: Callable[[dict[str, Any]], dict[str, Any]] = lambda block: block
    seal: str
    text: str

    @property
    def protocol(self) -> str:
        assert self.model.protocol is not None
        return self.model.protocol

    def script(self, *more: Any) -> Scripted:
        """A model that verifies. more: what it says after the first answer."""
        replies = [self.first, *(more or ["It rains."])]
        return Scripted(replies, thinking_in=self.thinking_in, verify_signatures=True)

    def sealed(self, body: Body) -> Blocks:
        """The objects of a request that carry a seal."""
        return [found for block in self.turn(body) if self.seal in (found := self.holder(block))]

    def places(self, body: Body) -> list[int]:
        """Where the blocks with a seal stand."""
        return [place for place, block in enumerate(self.turn(body)) if self.seal in self.holder(block)]


def last_of_assistant(body: Body) -> dict[str, Any]:
    found: dict[str, Any] = [message for message in body["messages"] if message["role"] == "assistant"][-1]
    return found


def _converse(block: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = block.get("reasoningContent", {}).get("reasoningText", {})
    return found


_THOUGHTS = (ta.Thinking.signed("First this.", ONE), ta.Thinking.signed("Then that.", TWO))

WIRES = {
    "anthropic-messages": Wire(
        model=ta.Model("anthropic", "claude-opus-5", protocol="anthropic-messages"),
        first=Reply([*_THOUGHTS, OSLO, ROME]),
        turn=lambda body: last_of_assistant(body)["content"],
        seal="signature",
        text="thinking",
    ),
    "bedrock-converse": Wire(
        model=ta.Model("bedrock", "us.anthropic.claude-sonnet-4-6", protocol="bedrock-converse"),
        first=Reply([*_THOUGHTS, OSLO, ROME]),
        turn=lambda body: last_of_assistant(body)["content"],
        holder=_converse,
        seal="signature",
        text="text",
    ),
    "gemini": Wire(
        model=ta.Model("google", "gemini-3-pro", protocol="gemini"),
        first=Reply(
            [
                ta.Thinking("First this."),
                ta.ToolCall("a", name="weather", arguments_json='{"city":"Oslo"}', signature=ONE),
                ta.ToolCall("b", name="weather", arguments_json='{"city":"Rome"}', signature=TWO),
            ]
        ),
        turn=lambda body: [content for content in body["contents"] if content["role"] == "model"][-1]["parts"],
        seal="thoughtSignature",
        text="functionCall",
    ),
    "openai-chat": Wire(
        model=ta.Model("openrouter", "anthropic/claude-opus-5", protocol="openai-chat"),
        first=Reply([*_THOUGHTS, OSLO, ROME]),
        thinking_in="reasoning_details",
        turn=lambda body: last_of_assistant(body)["reasoning_details"],
        seal="signature",
        text="text",
    ),
    "openai-responses": Wire(
        model=ta.Model("openai", "gpt-5.5", protocol="openai-responses"),
        first=Reply([_THOUGHTS[0], OSLO, _THOUGHTS[1], ROME]),
        turn=lambda body: body["input"],
        seal="encrypted_content",
        text="summary",
    ),
}


def ask(wire: Wire, scripted: Scripted, plan: ta.Plan, body: Body | None = None) -> ta.AssistantMessage:
    """Send a request, or another body in its place, and read the answer. Raises what the refusal means."""
    written = plan.request.body if body is None else json.dumps(body).encode()
    answer = scripted.answer(RecordedRequest(method="POST", url=plan.request.url, body=written))
    assert isinstance(answer, Answer)
    if answer.status != 200:
        told = json.loads(b"".join(answer.events))
        response = ErrorResponse(body=told, status=answer.status, headers=answer.headers, provider=wire.model.provider)
        raise wire_protocol(wire.protocol).error(response)
    message = ta.parse(wire.protocol, answer.events, provider=wire.model.provider)
    return evolve(message, origin=ta.Origin(wire.protocol, wire.model.provider, wire.model.id))  # as a client knows it


def plan_of(wire: Wire, history: Any, **options: Any) -> ta.Plan:
    """The plan of a call; nothing is sent."""
    return ta.prepare(wire.model, history, tools=TOOLS, base_url="http://localhost/v1", **options)


@frozen
class SecondTurn:
    """The moment before a request: the script, the history, and what would be sent."""

    wire: Wire
    scripted: Scripted
    history: ta.Conversation
    plan: ta.Plan

    @property
    def body(self) -> Body:
        """A copy of the body, to be changed."""
        return deepcopy(json.loads(self.plan.request.body))

    def sent(self, body: Body | None = None) -> ta.AssistantMessage:
        """The answer to the request, or to a changed one. Raises the typed error of a refusal."""
        return ask(self.wire, self.scripted, self.plan, body)

    def next_turn(self) -> SecondTurn:
        """Get the answer, and go on: with the results of its calls, else with another question."""
        answer = self.sent()
        said: Any = [ta.ToolResult(call.id, "rain") for call in answer.tool_calls] or ["And tomorrow?"]
        history = self.history.adding(answer, said)
        return SecondTurn(self.wire, self.scripted, history, plan_of(self.wire, history))


def second_turn(wire: str | Wire, *more: Any, **options: Any) -> SecondTurn:
    """Hold the first turn of the conversation on a wire.

    more: what the model says after it. options: of the first call.
    """
    wire = WIRES[wire] if isinstance(wire, str) else wire
    history = ta.Conversation("How are Oslo and Rome?")
    return SecondTurn(wire, wire.script(*more), history, plan_of(wire, history, **options)).next_turn()
