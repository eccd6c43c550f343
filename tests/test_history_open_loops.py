"""A tool loop that another model began goes on with Claude: with a budget, it thinks again when the loop has ended."""

from __future__ import annotations

import pytest

import thinkaloud as ta
from support.targets import body_of, prepared

GEMINI = ta.Origin("gemini", "google", "gemini-3-pro")
CLAUDE = ta.Origin("anthropic-messages", "anthropic", "claude-opus-4-5")
CALL = ta.ToolCall("c1", name="look", arguments_json="{}")
RESULT = ta.ToolResult("c1", "found")
TOOLS = [ta.Tool("look")]
BUDGETED = ["anthropic/claude-opus-4-5", "bedrock/anthropic.claude-opus-4-5-20251101-v1:0"]


def answer(origin: ta.Origin) -> ta.AssistantMessage:
    return ta.AssistantMessage(
        [ta.Thinking.signed("I look.", "c2ln"), CALL], origin=origin, stop_reason=ta.StopReason.TOOL_USE
    )


def thinking_of(plan: ta.Plan) -> object:
    body = body_of(plan)
    return body.get("additionalModelRequestFields", body).get("thinking", {}).get("type")


@pytest.mark.parametrize("model", BUDGETED)
def test_in_a_loop_that_another_model_began_a_budget_waits_for_its_end(model: str) -> None:
    plan = prepared(model, ["q", answer(GEMINI), RESULT], reasoning="high", tools=TOOLS)
    assert thinking_of(plan) is None
    assert plan.level.sent is ta.ThinkingLevel.OFF
    assert "thinking_paused" in [notice.code for notice in plan.notices]


@pytest.mark.parametrize("model", BUDGETED)
def test_in_its_own_loop_and_after_a_loop_the_model_thinks(model: str) -> None:
    own = prepared(model, ["q", answer(CLAUDE), RESULT], reasoning="high", tools=TOOLS)
    ended = prepared(
        model,
        ["q", answer(GEMINI), RESULT, ta.AssistantMessage("So.", origin=GEMINI), "more"],
        reasoning="high",
        tools=TOOLS,
    )
    for plan in (own, ended):
        assert thinking_of(plan) == "enabled"
        assert "thinking_paused" not in [notice.code for notice in plan.notices]


def test_a_model_that_thinks_as_it_likes_need_not_wait() -> None:
    plan = prepared("anthropic/claude-opus-5", ["q", answer(GEMINI), RESULT], reasoning="high", tools=TOOLS)
    assert thinking_of(plan) == "adaptive"
