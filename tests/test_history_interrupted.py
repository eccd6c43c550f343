"""An answer that was cut off goes on: what arrived of it is appended to the history as it is, on every protocol."""

from __future__ import annotations

import pytest
from attrs import evolve

import thinkaloud as ta
from support.reading import read
from support.sent_shapes import calls_and_results, faults
from support.targets import TARGETS, body_of, prepared, strings_in
from thinkaloud.testing import Reply, encode_stream
from thinkaloud.testing.chunking import event_ends

PROVIDERS = {protocol: model.provider for protocol, model in TARGETS.items()}
CALLS = (
    ta.ToolCall("call_1", name="look", arguments_json='{"at":"sky"}'),
    ta.ToolCall("call_2", name="look", arguments_json='{"at":"sea"}'),
)


def reply(protocol: str) -> Reply:
    seal = None if protocol == "openai-chat" else "c2VhbA=="
    later = None if protocol == "openai-chat" else "bGF0ZXI="
    first = evolve(CALLS[0], signature="Y2FsbA==") if protocol == "gemini" else CALLS[0]
    thoughts = [ta.Thinking("I look up.", signature=seal), ta.Thinking("And down.", signature=later)]
    return Reply([thoughts[0], ta.Text("Let me look."), thoughts[1], first, CALLS[1]], id="resp_1")


def streamed(protocol: str) -> bytes:
    return b"".join(encode_stream(protocol, reply(protocol)))


def partials(protocol: str) -> list[ta.AssistantMessage]:
    """What had arrived at the end of each event, and in the middle of each."""
    body = streamed(protocol)
    ends = event_ends(body) if protocol != "bedrock-converse" else list(range(40, len(body), 40))
    found = []
    for end in (*ends, *(end - 7 for end in ends)):
        outcome = read(protocol, [body[:end]], provider=PROVIDERS[protocol])
        if outcome.error is not None and outcome.message is not None:
            found.append(outcome.message)
    assert len(found) > 5
    return found


@pytest.mark.parametrize("protocol", TARGETS)
@pytest.mark.parametrize("goes", TARGETS)
def test_wherever_it_was_cut_the_user_goes_on(protocol: str, goes: str) -> None:
    for partial in partials(protocol):
        history = ta.Conversation("hi").adding(partial, "go on")
        assert ta.validate(history, TARGETS[goes]) == ()
        plan = prepared(TARGETS[goes], history)
        assert faults(goes, body_of(plan)) == []
        assert calls_and_results(body_of(plan)) == ([], [])


@pytest.mark.parametrize("protocol", TARGETS)
def test_whole_calls_of_a_cut_answer_may_be_answered(protocol: str) -> None:
    for partial in partials(protocol):
        results = [ta.ToolResult(call.id, "blue") for call in partial.tool_calls]
        history = ta.Conversation("hi").adding(partial, results, "go on")
        assert ta.validate(history, TARGETS[protocol]) == ()
        body = body_of(prepared(TARGETS[protocol], history))
        assert faults(protocol, body) == []
        assert len(calls_and_results(body)[0]) == len(results)


@pytest.mark.parametrize("protocol", sorted(TARGETS.keys() - {"openai-chat"}))
def test_whole_thinking_of_a_cut_answer_goes_back_and_the_open_block_does_not(protocol: str) -> None:
    sent = []
    for partial in partials(protocol):
        history = ta.Conversation("hi").adding(partial, "go on")
        texts = list(strings_in(body_of(prepared(TARGETS[protocol], history))))
        for block in partial.content:
            if isinstance(block, ta.Thinking) and not block.complete and block.text:
                assert block.text not in texts
        sent += texts
    assert "c2VhbA==" in sent


@pytest.mark.parametrize("protocol", TARGETS)
def test_the_snapshot_of_an_answer_on_its_way_goes_on_too(protocol: str) -> None:
    fold = ta.Accumulator()
    for event in read(protocol, [streamed(protocol)], provider=PROVIDERS[protocol]).events:
        history = ta.Conversation("hi").adding(fold.message(), "go on")
        if fold.started:
            assert ta.validate(history, TARGETS[protocol]) == ()
            assert faults(protocol, body_of(prepared(TARGETS[protocol], history))) == []
        if not isinstance(event, ta.StreamEnd):
            fold.add(event)


@pytest.mark.parametrize("stop_reason", [ta.StopReason.REFUSAL, ta.StopReason.CONTENT_FILTER, ta.StopReason.ABORTED])
def test_calls_of_an_answer_that_ended_badly_need_no_results(stop_reason: ta.StopReason) -> None:
    origin = ta.Origin("openai-responses", "openai", "gpt-5.5")
    answer = ta.AssistantMessage([ta.Text("so"), CALLS[0]], origin=origin, stop_reason=stop_reason)
    plan = prepared(TARGETS["openai-responses"], ["hi", answer, "go on"])
    assert calls_and_results(body_of(plan)) == ([], [])
    assert [(n.code, n.path, n.detail["reason"]) for n in plan.notices] == [
        ("block_omitted", "messages[1].content[1]", "orphan")
    ]


def test_a_reasoning_item_goes_with_the_call_that_it_led_to() -> None:
    origin = ta.Origin("openai-responses", "openai", "gpt-5.5")
    thought = ta.Thinking("", signature="c2VhbA==", extra={"id": "rs_1"})
    first, second = (evolve(call, extra={"id": f"fc_{n}"}) for n, call in enumerate(CALLS))
    cut = ta.AssistantMessage([thought, first, second], origin=origin, stop_reason=ta.StopReason.ABORTED)
    plan = prepared(TARGETS["openai-responses"], ["hi", cut, ta.ToolResult("call_2", "blue"), "go on"])
    items = body_of(plan)["input"]
    assert [item.get("type") for item in items] == [None, "function_call", "function_call_output", None]
    assert "id" not in items[1]
