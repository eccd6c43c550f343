"""A tool call without a name is kept and told of, but never offered for running and never sent back, on every wire."""

from __future__ import annotations

import json
from typing import Any

import pytest

import thinkaloud as ta
from thinkaloud.testing import Reply, Scripted

NAMELESS = ta.ToolCall("c1", name="", arguments_json='{"a":1}', complete=False)

BODIES: dict[str, Any] = {
    "anthropic-messages": {
        "id": "m",
        "type": "message",
        "content": [
            {"type": "tool_use", "id": "c1", "name": "", "input": {"a": 1}},
            {"type": "tool_use", "id": "c2", "name": "look", "input": {}},
        ],
        "stop_reason": "tool_use",
    },
    "openai-chat": {
        "id": "m",
        "choices": [
            {
                "message": {
                    "tool_calls": [
                        {"id": "c1", "function": {"arguments": '{"a":1}'}},
                        {"id": "c2", "function": {"name": "look", "arguments": "{}"}},
                    ]
                },
                "finish_reason": "tool_calls",
            }
        ],
    },
    "openai-responses": {
        "id": "m",
        "object": "response",
        "status": "completed",
        "output": [
            {"type": "function_call", "call_id": "c1", "arguments": '{"a":1}', "status": "completed"},
            {"type": "function_call", "call_id": "c2", "name": "look", "arguments": "{}", "status": "completed"},
        ],
    },
    "gemini": {
        "candidates": [
            {
                "content": {
                    "parts": [
                        {"functionCall": {"id": "c1", "args": {"a": 1}}},
                        {"functionCall": {"id": "c2", "name": "look", "args": {}}},
                    ]
                },
                "finishReason": "STOP",
            }
        ]
    },
    "bedrock-converse": {
        "output": {
            "message": {
                "role": "assistant",
                "content": [
                    {"toolUse": {"toolUseId": "c1", "name": "", "input": {"a": 1}}},
                    {"toolUse": {"toolUseId": "c2", "name": "look", "input": {}}},
                ],
            }
        },
        "stopReason": "tool_use",
    },
}


def parsed(protocol: str) -> ta.AssistantMessage:
    return ta.parse(protocol, [json.dumps(BODIES[protocol]).encode()])


@pytest.mark.parametrize("protocol", BODIES)
def test_it_is_kept_and_told_and_only_the_other_one_is_offered(protocol: str) -> None:
    message = parsed(protocol)
    (kept,) = message.incomplete_tool_calls
    assert (kept.id, kept.name, kept.arguments, kept.complete) == ("c1", "", {"a": 1}, False)
    assert [(call.id, call.name) for call in message.tool_calls] == [("c2", "look")]
    assert message.stop_reason is ta.StopReason.TOOL_USE
    place = f"content[{message.content.index(kept)}]"
    assert [(notice.code, notice.path, notice.detail) for notice in message.notices] == [
        ("call_without_name", place, {"id": "c1"})
    ]


@pytest.mark.parametrize("protocol", BODIES)
def test_it_does_not_go_back_and_that_is_told(protocol: str) -> None:
    message = parsed(protocol)
    model = ta.Model("mine", "m", protocol=protocol, base_url="https://example.com")
    plan = ta.prepare(model, ["hi", message, ta.ToolResult("c2", "a tower")])
    assert "c1" not in json.dumps(plan.body)
    place = message.content.index(message.incomplete_tool_calls[0])
    told = [(notice.code, notice.path, notice.detail) for notice in plan.notices]
    assert ("block_omitted", f"messages[1].content[{place}]", {"reason": "nameless"}) in told


def test_a_call_that_responses_never_finishes_and_never_names_is_kept() -> None:
    events = [
        {"type": "response.created", "response": {"id": "m", "status": "in_progress"}},
        {"type": "response.output_item.added", "output_index": 0, "item": {"type": "function_call", "call_id": "c1"}},
        {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": '{"a":1}'},
        {"type": "response.completed", "response": {"id": "m", "status": "completed", "output": []}},
    ]
    stream = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
    message = ta.parse("openai-responses", [stream.encode()])
    assert message.content == (NAMELESS,)
    assert message.stop_reason is ta.StopReason.END


def test_what_was_written_of_it_is_kept_where_the_stream_fails() -> None:
    piece = {"index": 0, "id": "c1", "function": {"arguments": '{"a":'}}
    body = f"data: {json.dumps({'choices': [{'delta': {'tool_calls': [piece]}}]})}\n\n"
    with pytest.raises(ta.TruncatedStream) as failed:
        ta.parse("openai-chat", [body.encode()])
    assert failed.value.partial is not None
    assert failed.value.partial.content == (ta.ToolCall("c1", name="", arguments_json='{"a":', complete=False),)


@pytest.mark.anyio
async def test_a_run_does_not_take_it_for_the_end() -> None:
    scripted = Scripted([Reply([ta.ToolCall("c1", name="", arguments_json="{}")])])
    async with ta.Client(transport=scripted.transport(), api_key="none") as client:
        with pytest.raises(ta.RunError, match="without its name") as failed:
            await ta.run("anthropic/claude-opus-5", "hi", client=client)
    assert failed.value.partial is not None
    assert failed.value.partial.interrupted is not None
    assert [call.id for call in failed.value.partial.interrupted.incomplete_tool_calls] == ["c1"]


@pytest.mark.anyio
async def test_a_run_goes_on_with_the_calls_beside_it() -> None:
    look = ta.Tool("look", handler=lambda arguments: "a tower")
    beside = [ta.ToolCall("c1", name="", arguments_json="{}"), ta.ToolCall("c2", name="look", arguments_json="{}")]
    scripted = Scripted([Reply(beside), "I see a tower."])
    async with ta.Client(transport=scripted.transport(), api_key="none", tools=[look]) as client:
        result = await ta.run("anthropic/claude-opus-5", "hi", client=client)
    assert result.text == "I see a tower."
    assert [message.call_id for message in result.messages if isinstance(message, ta.ToolResult)] == ["c2"]


@pytest.mark.anyio
async def test_a_stray_one_beside_an_answer_does_not_end_a_run_badly() -> None:
    stray = Reply(["A tower.", ta.ToolCall("c1", name="", arguments_json="{}")], stop=ta.StopReason.END)
    async with ta.Client(transport=Scripted([stray]).transport(), api_key="none") as client:
        result = await client.run("anthropic/claude-opus-5", "hi")
    assert (result.status, result.text) == ("finished", "A tower.")
    assert [notice.code for notice in result.messages[-1].notices] == ["call_without_name"]  # type: ignore[union-attr]
