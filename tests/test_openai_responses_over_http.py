"""A conversation with thinking and parallel calls over loopback HTTP: on both event loops, streamed and whole."""

from __future__ import annotations

from typing import Any

import pytest

import thinkaloud as ta
from support.calling import calling
from thinkaloud.content import Thinking, ToolCall
from thinkaloud.errors import Overloaded
from thinkaloud.testing import Failure, Reply

MODEL = ta.Model("openai", "gpt-5.5", protocol="openai-responses")
CALLS = [
    ToolCall("call_a", name="add", arguments_json='{"a": 1}'),
    ToolCall("call_b", name="add", arguments_json='{"a": 2}'),
]
SCRIPT: list[Any] = [
    Reply([Thinking.signed("Two calls.", "c2VhbC1vbmU="), *CALLS], id="resp_1"),
    Reply([Thinking.signed("", "c2VhbC10d28="), "Three."], id="resp_2"),
]


async def conversation(client: ta.Client, *, stream: bool) -> list[ta.AssistantMessage]:
    """Both answers; the results of the calls go back between them."""
    history: list[Any] = [ta.UserMessage("1 + 2?")]
    answers = []
    for _ in SCRIPT:
        if stream:
            async with client.stream(MODEL, history, reasoning="high") as events:
                message = await events.message()
        else:
            message = await client.complete(MODEL, history, reasoning="high")
        answers.append(message)
        history += [message, *(ta.ToolResult(call.id, "1") for call in message.tool_calls)]
    return answers


@pytest.mark.anyio
@pytest.mark.parametrize("library", ["httpx", "httpx2"])
async def test_a_conversation_with_calls_is_the_same_streamed_and_whole(library: str) -> None:
    pytest.importorskip(library)
    told = []
    for stream in (True, False):
        async with calling(SCRIPT, library=library, protocol="openai-responses") as (server, client):
            answers = await conversation(client, stream=stream)
            second = server.requests[1].json
        assert [entry.get("type") for entry in second["input"]] == [
            None,
            "reasoning",
            "function_call",
            "function_call",
            "function_call_output",
            "function_call_output",
        ]
        assert second["input"][1]["encrypted_content"] == "c2VhbC1vbmU="
        assert (second["store"], second["reasoning"]) == (False, {"effort": "high", "summary": "auto"})
        told.append([(message.content, message.stop_reason, message.usage) for message in answers])
    assert told[0] == told[1]


@pytest.mark.anyio
async def test_a_failure_within_the_stream_keeps_what_had_come() -> None:
    async with calling([Reply("So far", error=Failure(Overloaded, "busy"))], protocol="openai-responses") as (
        _,
        client,
    ):
        with pytest.raises(Overloaded, match="busy") as caught:
            await client.stream(MODEL, "q").message()
    assert caught.value.partial is not None
    assert caught.value.partial.text == "So far"
