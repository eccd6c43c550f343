"""The scenario of a tool loop on every wire: think, call two tools at once, think again, call one, answer."""

from __future__ import annotations

from typing import Any

from attrs import evolve

import thinkaloud as ta
from thinkaloud.testing import Reply, Scripted

MODELS = {
    "anthropic-messages": ta.Model("anthropic", "claude-opus-5"),
    "openai-chat": ta.Model("openrouter", "anthropic/claude-opus-5"),
    "openai-responses": ta.Model("openai", "gpt-5.5", protocol="openai-responses"),
    "gemini": ta.Model("google", "gemini-3-pro"),
    "bedrock-converse": ta.Model("bedrock", "us.anthropic.claude-sonnet-4-6"),
}
OSLO = ta.ToolCall("call_1", name="weather", arguments_json='{"city":"Oslo"}')
NOON = ta.ToolCall("call_2", name="clock", arguments_json='{"city":"Oslo","zone":1}')
ROME = ta.ToolCall("call_3", name="weather", arguments_json='{"city":"Rome"}')

ANSWER = "Rain in both, and it is noon."


def weather(city: str) -> str:
    """Tells the weather of a city."""
    return f"rain in {city}"


async def clock(city: str, zone: int = 0) -> dict[str, str | int]:
    """Tells the time of a city."""
    return {"city": city, "hour": 11 + zone}


TOOLS = [ta.Tool.from_function(weather), ta.Tool.from_function(clock)]


def scenario(*more: Any) -> Scripted:
    """A model that verifies, and answers as the scenario says. more: what it says afterwards."""
    return Scripted(
        [
            Reply([ta.Thinking.signed("I need both.", "c2VhbC1vbmU="), OSLO, NOON], id="resp_1"),
            Reply([ta.Thinking.signed("And Rome.", "c2VhbC10d28="), ROME], id="resp_2"),
            Reply(
                [ta.Thinking.signed("Now I know.", "c2VhbC10aHJlZQ=="), "Rain in both, and it is noon."], id="resp_3"
            ),
            *more,
        ],
        thinking_in="reasoning_details",
        verify_signatures=True,
    )


def client_of(scripted: Scripted, **options: Any) -> ta.Client:
    """A client whose network is the script; nothing is sent again."""
    options = {"tools": TOOLS, "retries": 0, **options}
    return ta.Client(transport=scripted.transport(), api_key="none", base_url="http://localhost", **options)


def bare(messages: Any) -> list[object]:
    """What was said, without what only the replay of one wire needs: Gemini signs another part when it streams."""
    return [
        [block if isinstance(block, ta.Opaque) else evolve(block, extra={}) for block in message.content]
        if isinstance(message, ta.AssistantMessage)
        else message
        for message in messages
    ]
