"""A real model answers, thinking first, over three wires that one server speaks, live and on both event loops."""

from __future__ import annotations

import anyio
import anyio.to_thread
import pytest

import thinkaloud as ta
from real.llama import THINKING_TOKENS, Llama

pytestmark = pytest.mark.anyio

# Each wire, and where the server speaks it.
WIRES = {"openai-chat": "/v1", "anthropic-messages": "", "openai-responses": "/v1"}

# How each tells of an answer that the limit cut: on its Responses surface the server calls every answer completed.
CUT = dict.fromkeys(WIRES, ta.StopReason.LENGTH) | {"openai-responses": ta.StopReason.END}

QUESTION = "Why is the sky blue?"


def on_wire(llama: Llama, protocol: str) -> ta.Model:
    return ta.Model("llama-cpp", "smollm2", protocol=protocol, base_url=llama.url + WIRES[protocol])


async def busy_slots(llama: Llama) -> int:
    slots = await anyio.to_thread.run_sync(llama.slots)
    return sum(bool(slot["is_processing"]) for slot in slots)


async def until_idle(llama: Llama) -> None:
    with anyio.fail_after(20):
        while await busy_slots(llama):
            pass


@pytest.mark.parametrize("protocol", WIRES)
async def test_thinking_and_answer_stream_while_they_are_made(llama: Llama, protocol: str) -> None:
    events: list[ta.StreamEvent] = []
    busy_at_first_thought = 0
    async with ta.stream(on_wire(llama, protocol), QUESTION, max_tokens=120, temperature=0) as stream:
        async for event in stream:
            if isinstance(event, ta.ThinkingDelta) and not any(isinstance(each, ta.ThinkingDelta) for each in events):
                busy_at_first_thought = await busy_slots(llama)
            events.append(event)
        message = await stream.message()
    assert busy_at_first_thought == 1  # the first thought is here before the answer is whole
    thoughts = [event for event in events if isinstance(event, ta.ThinkingDelta)]
    words = [event for event in events if isinstance(event, ta.TextDelta)]
    assert len(thoughts) > 5
    assert len(words) > 5
    assert "".join(event.text for event in thoughts) == message.thinking
    assert "".join(event.text for event in words) == message.text
    assert message.text.strip()
    assert message.stop_reason in (ta.StopReason.END, ta.StopReason.LENGTH)
    assert [type(block) for block in message.content] == [ta.Thinking, ta.Text]
    assert message.usage.input is not None
    assert message.usage.output is not None
    assert THINKING_TOKENS < message.usage.output <= 120
    print(f"\n{protocol}: {len(events)} events, {message.usage}, {message.timing}")
    print(f"  thinking {message.thinking!r}\n  text {message.text!r}")


@pytest.mark.parametrize("protocol", WIRES)
async def test_a_whole_answer_has_what_a_streamed_one_has(endless: Llama, protocol: str) -> None:
    model = on_wire(endless, protocol)
    answers = [
        await ta.complete(model, QUESTION, max_tokens=50, temperature=0, streaming=streaming)
        for streaming in (True, False)
    ]
    for answer in answers:
        assert [type(block) for block in answer.content] == [ta.Thinking, ta.Text]
        assert answer.stop_reason is CUT[protocol]
        assert answer.usage.output == 50


@pytest.mark.parametrize("protocol", WIRES)
async def test_a_second_turn_goes_on_with_the_first(endless: Llama, protocol: str) -> None:
    model = on_wire(endless, protocol)
    first = await ta.complete(model, "My name is Ada. Say hello to me.", max_tokens=50, temperature=0)
    turns: list[ta.Message | str] = ["My name is Ada. Say hello to me.", first, "What is my name?"]
    second = await ta.complete(model, turns, max_tokens=50, temperature=0)
    assert second.thinking
    assert second.text.strip()
    assert first.usage.input is not None
    assert second.usage.input is not None
    assert second.usage.input > first.usage.input  # the server has read the first turn again
    print(f"\n{protocol}: {first.text!r} -> {second.text!r}, {first.usage.input} -> {second.usage.input} tokens read")


@pytest.mark.parametrize("protocol", WIRES)
async def test_a_conversation_moves_on_to_another_wire(endless: Llama, protocol: str) -> None:
    conversation: list[ta.Message | str] = ["Name a colour."]
    first = await ta.complete(on_wire(endless, protocol), conversation, max_tokens=50, temperature=0)
    for other in WIRES:
        answer = await ta.complete(on_wire(endless, other), [*conversation, first, "Another one."], max_tokens=50)
        assert answer.text.strip()


@pytest.mark.parametrize("protocol", WIRES)
@pytest.mark.parametrize("way", ["leaving", "cancel()", "a deadline"])
async def test_whoever_stops_reading_stops_the_model(endless: Llama, protocol: str, way: str) -> None:
    stream = ta.stream(on_wire(endless, protocol), "Tell me a very long story.", max_tokens=5000, temperature=0)
    thoughts = 0
    with anyio.move_on_after(20) as deadline:
        async with stream:
            try:
                async for event in stream:
                    thoughts += isinstance(event, ta.ThinkingDelta)
                    if thoughts == 3:
                        assert await busy_slots(endless) == 1
                        if way == "leaving":
                            break
                        if way == "a deadline":
                            deadline.cancel()
                        else:
                            stream.cancel()
                        thoughts += 1
            except ta.StreamAborted:
                assert way == "cancel()"
    assert thoughts >= 3
    await until_idle(endless)
    assert stream.partial is not None
    assert stream.partial.thinking


async def test_two_answers_are_made_side_by_side(endless: Llama) -> None:
    answers: dict[str, str] = {}

    async def ask(protocol: str) -> None:
        message = await ta.complete(on_wire(endless, protocol), QUESTION, max_tokens=50, temperature=0)
        answers[protocol] = message.thinking

    async with anyio.create_task_group() as tasks:
        for protocol in WIRES:
            tasks.start_soon(ask, protocol)
    assert all(answers[protocol] for protocol in WIRES)
