"""Processors shorten a history before it is checked; no call is parted from its result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

import thinkaloud as ta
from support.targets import body_of, prepared
from thinkaloud.history.processors import estimated_tokens

MODEL = "anthropic/claude-opus-5"
ORIGIN = ta.Origin("anthropic-messages", "anthropic", "claude-opus-5")


def called(id: str) -> list[ta.Message]:
    answer = ta.AssistantMessage(
        [ta.Thinking.signed("hm", f"seal-{id}"), ta.ToolCall(id, name="look")],
        origin=ORIGIN,
        stop_reason=ta.StopReason.TOOL_USE,
    )
    return [answer, ta.ToolResult(id, "found")]


def said(text: str) -> ta.AssistantMessage:
    return ta.AssistantMessage(text, origin=ORIGIN, stop_reason=ta.StopReason.END)


Q1, Q2, Q3 = (ta.UserMessage(f"question {number}") for number in (1, 2, 3))
TURN_1 = [Q1, *called("c1"), said("one")]
TURN_2 = [Q2, *called("c2"), *called("c3"), said("two")]
HISTORY = (*TURN_1, *TURN_2, Q3)


def ten(message: ta.Message) -> int:
    return 10


def test_the_last_turns_are_kept_whole() -> None:
    assert ta.trim_turns(1)(HISTORY) == (Q3,)
    assert ta.trim_turns(2)(HISTORY) == (*TURN_2, Q3)
    assert ta.trim_turns(9)(HISTORY) == HISTORY


def test_messages_of_the_user_in_a_row_are_one_turn() -> None:
    assert ta.trim_turns(1)((said("one"), Q1, Q2)) == (Q1, Q2)


def test_a_budget_keeps_whole_turns_from_the_end() -> None:
    assert ta.trim_tokens(10, count=ten)(HISTORY) == (Q3,)
    assert ta.trim_tokens(69, count=ten)(HISTORY) == (Q3,)
    assert ta.trim_tokens(70, count=ten)(HISTORY) == (*TURN_2, Q3)
    assert ta.trim_tokens(1000, count=ten)(HISTORY) == HISTORY


def test_a_long_loop_keeps_its_question_and_its_latest_steps_whole() -> None:
    loop = (Q1, *called("c1"), *called("c2"), *called("c3"))
    assert ta.trim_tokens(1, count=ten)(loop) == (Q1, *called("c3"))
    assert ta.trim_tokens(50, count=ten)(loop) == (Q1, *called("c2"), *called("c3"))


def test_what_is_kept_is_the_same_object() -> None:
    kept = ta.trim_turns(2)(HISTORY)
    assert all(one is other for one, other in zip(kept, (*TURN_2, Q3), strict=True))


@pytest.mark.parametrize("processor", [ta.trim_turns(1), ta.trim_turns(2), ta.trim_tokens(10), ta.trim_tokens(200)])
def test_what_is_left_can_always_be_sent(processor: ta.Processor) -> None:
    for end in range(1, len(HISTORY) + 1):
        history = HISTORY[:end]
        if ta.validate(history) == ():
            assert ta.validate(processor(history)) == ()


def test_the_estimate_grows_with_the_text() -> None:
    assert estimated_tokens(ta.UserMessage("x" * 4000)) in range(1000, 1010)
    assert estimated_tokens(ta.UserMessage([ta.Image("aGk=", media_type="image/png")])) > 1000


def test_a_call_runs_them_in_order_and_tells_what_they_did() -> None:
    seen: list[int] = []

    def counting(messages: tuple[ta.Message, ...]) -> Sequence[ta.Message]:
        seen.append(len(messages))
        return list(messages)

    plan = prepared(MODEL, HISTORY, processors=[counting, ta.trim_turns(1), counting])
    assert seen == [len(HISTORY), 1]
    assert body_of(plan)["messages"] == [{"role": "user", "content": [{"type": "text", "text": "question 3"}]}]
    assert [(notice.code, notice.detail) for notice in plan.notices] == [
        ("history_processed", {"given": len(HISTORY), "sent": 1})
    ]
    assert prepared(MODEL, HISTORY, processors=counting).notices == ()


def test_what_they_give_is_checked_like_any_history() -> None:
    def halving(messages: tuple[ta.Message, ...]) -> Sequence[ta.Message]:
        return messages[:2]

    with pytest.raises(ta.HistoryError, match="c1"):
        prepared(MODEL, HISTORY, processors=[halving])


@pytest.mark.parametrize(
    ("processors", "told"),
    [
        ([3], "processors must be functions of messages, not int"),
        ([lambda messages: None], "must give the messages, not NoneType"),
        ([lambda messages: "hi"], "must give the messages, not str"),
        ([lambda messages: [1]], r"messages\[0\] must be a UserMessage"),
        ([lambda messages: []], "left no message to send"),
    ],
)
def test_a_processor_that_gives_no_messages_is_refused(processors: Any, told: str) -> None:
    with pytest.raises(ta.ConfigurationError, match=told):
        prepared(MODEL, "hi", processors=processors)


@pytest.mark.parametrize("number", [0, -1, True, 1.5, "2"])
def test_numbers_that_cannot_be_are_refused(number: Any) -> None:
    with pytest.raises(ta.ConfigurationError, match="turns="):
        ta.trim_turns(number)
    with pytest.raises(ta.ConfigurationError, match="budget="):
        ta.trim_tokens(number)
    with pytest.raises(ta.ConfigurationError, match="count must be a function"):
        ta.trim_tokens(1, count=number)
