"""What does not go with thinking: a neutral level gives way, which is told; the pair is refused from options."""

from __future__ import annotations

from typing import Any

import pytest

import thinkaloud as ta
from thinkaloud.models.model import ThinkingControl
from thinkaloud.protocols.openai_chat import OpenAIChatOptions
from thinkaloud.protocols.openai_responses import OpenAIResponsesOptions

TOOLS = (ta.Tool("f"),)
FORCED: dict[str, Any] = {"tools": TOOLS, "tool_choice": ta.ToolChoice.tool("f")}
OFF, LOW, HIGH = ta.ThinkingLevel.OFF, ta.ThinkingLevel.LOW, ta.ThinkingLevel.HIGH


def on_chat(id: str, provider: str = "openai") -> ta.Model:
    return ta.Model(provider, id, protocol="openai-chat")


def planned(model: str | ta.Model, **arguments: Any) -> ta.Plan:
    return ta.prepare(model, "q", **arguments)


def told(plan: ta.Plan) -> list[str]:
    return [notice.code for notice in plan.notices]


# a forced call


@pytest.mark.parametrize(
    ("model", "fields"),
    [
        ("deepseek/deepseek-v4-pro", {"thinking": {"type": "disabled"}}),
        ("qwen/qwen3.7-plus", {"enable_thinking": False}),
        ("moonshotai/kimi-k2.6", {"thinking": {"type": "disabled"}}),
        ("openrouter/anthropic/claude-opus-5", {"reasoning": {"effort": "none"}}),
        ("together/deepseek-ai/DeepSeek-V4-Pro", {"reasoning": {"enabled": False}}),
    ],
)
@pytest.mark.parametrize("choice", [ta.ToolChoice.tool("f"), ta.ToolChoice("required")])
def test_thinking_is_turned_off_where_a_forced_call_does_not_go_with_it(
    model: str, fields: dict[str, Any], choice: ta.ToolChoice
) -> None:
    plan = planned(model, reasoning="high", tools=TOOLS, tool_choice=choice)
    assert fields.items() <= plan.body.items()
    assert "tool_choice" in plan.body
    assert (plan.level.asked, plan.level.sent) == (HIGH, OFF)
    (notice,) = [notice for notice in plan.notices if notice.code != "unknown_model"]
    assert (notice.code, notice.path) == ("thinking_turned_off", "reasoning")
    assert notice.detail == {"asked": "high", "sent": "off"}
    assert "tool_choice=" in notice.text


def test_thinking_by_default_is_turned_off_too_because_the_call_would_be_refused() -> None:
    plan = planned("deepseek/deepseek-v4-pro", **FORCED)
    assert plan.body["thinking"] == {"type": "disabled"}
    assert (plan.level.asked, plan.level.sent, told(plan)) == (None, OFF, ["thinking_turned_off"])


@pytest.mark.parametrize("choice", [None, "auto", "none"])
def test_a_call_that_is_not_forced_leaves_thinking_alone(choice: Any) -> None:
    plan = planned("deepseek/deepseek-v4-pro", reasoning="high", tools=TOOLS, tool_choice=choice)
    assert (plan.level.sent, told(plan)) == (HIGH, [])


@pytest.mark.parametrize(
    "model", ["zai/glm-4.7", "groq/openai/gpt-oss-120b", "openrouter/openai/gpt-5.5", "xai/grok-4.3"]
)
def test_other_endpoints_take_a_forced_call_beside_thinking(model: str) -> None:
    plan = planned(model, reasoning="high", **FORCED)
    assert (plan.level.sent, told(plan)) == (HIGH, [])


def test_a_forced_call_is_refused_where_thinking_cannot_be_turned_off() -> None:
    for level in ("off", "low", "max"):
        with pytest.raises(ta.ConfigurationError, match="kimi-k3, and it cannot be turned off; use tool_choice='auto'"):
            planned("moonshotai/kimi-k3", reasoning=level, **FORCED)


def test_where_nothing_is_asked_of_thinking_the_provider_judges() -> None:
    assert told(planned("moonshotai/kimi-k3", **FORCED)) == []


def test_what_is_not_settled_refuses_nothing() -> None:
    control = ThinkingControl(mode="effort", levels=(LOW, HIGH), default_on=True)
    unsure = ta.Model("deepseek", "next", thinking=control, unsure=("thinking.can_disable",))
    assert planned(unsure, reasoning="high", **FORCED).level.sent is HIGH
    with pytest.raises(ta.ConfigurationError):
        planned(ta.Model("deepseek", "next", thinking=control), reasoning="high", **FORCED)


def test_thinking_that_a_gateway_leaves_out_without_a_word_is_told() -> None:
    plan = planned("openrouter/anthropic/claude-opus-5.5", reasoning="high", **FORCED)
    assert (plan.level.sent, told(plan)) == (HIGH, ["thinking_left_out"])
    native = planned("openrouter/anthropic/claude-opus-5", options=OpenAIChatOptions(effort="high"), **FORCED)
    assert told(native) == ["thinking_left_out"]


@pytest.mark.parametrize(
    "options",
    [OpenAIChatOptions(effort="high"), OpenAIChatOptions(thinking={"type": "enabled"})],
)
def test_thinking_that_options_ask_for_is_never_turned_off(options: OpenAIChatOptions) -> None:
    with pytest.raises(ta.ConfigurationError, match="use tool_choice='auto', or turn thinking off"):
        planned("deepseek/deepseek-v4-pro", options=options, **FORCED)


def test_options_that_turn_thinking_off_go_with_a_forced_call() -> None:
    off = OpenAIChatOptions(thinking={"type": "disabled"})
    plan = planned("deepseek/deepseek-v4-pro", options=off, **FORCED)
    assert (plan.body["thinking"], plan.level.sent, told(plan)) == ({"type": "disabled"}, OFF, [])


def test_on_responses_the_same_endpoints_refuse_a_forced_call() -> None:
    model = ta.Model("deepseek", "deepseek-v4-pro", protocol="openai-responses")
    plan = planned(model, reasoning="high", **FORCED)
    assert (plan.body["reasoning"], plan.level.sent, told(plan)) == ({"effort": "none"}, OFF, ["thinking_turned_off"])
    with pytest.raises(ta.ConfigurationError, match=r"effort='high': .* or effort='none'"):
        planned(model, options=OpenAIResponsesOptions(effort="high"), **FORCED)


# functions on chat completions


@pytest.mark.parametrize("id", ["gpt-5.4", "gpt-5.5", "gpt-5.6-sol", "gpt-6-luna"])
@pytest.mark.parametrize("provider", ["openai", "azure"])
def test_functions_turn_thinking_off_on_chat(id: str, provider: str) -> None:
    plan = planned(on_chat(id, provider), reasoning="high", tools=TOOLS, base_url="https://example.com")
    assert plan.body["reasoning_effort"] == "none"
    assert (plan.level.sent, told(plan)) == (OFF, ["thinking_turned_off"])


def test_functions_turn_off_the_thinking_that_a_model_does_by_itself() -> None:
    assert planned(on_chat("gpt-5.5"), tools=TOOLS).body["reasoning_effort"] == "none"
    assert "reasoning_effort" not in planned(on_chat("gpt-5.4"), tools=TOOLS).body


def test_functions_are_refused_where_thinking_cannot_be_turned_off() -> None:
    with pytest.raises(ta.ConfigurationError, match=r"functions in tools .* use Model.*openai-responses"):
        planned(on_chat("gpt-6-astra"), reasoning="low", tools=TOOLS)


def test_functions_are_refused_beside_thinking_that_options_ask_for() -> None:
    with pytest.raises(ta.ConfigurationError, match="functions in tools"):
        planned(on_chat("gpt-5.5"), options=OpenAIChatOptions(effort="low"), tools=TOOLS)


@pytest.mark.parametrize("id", ["o3", "gpt-5", "gpt-5.1", "gpt-5.2"])
def test_older_models_take_functions_beside_thinking(id: str) -> None:
    assert planned(on_chat(id), reasoning="high", tools=TOOLS).level.sent is HIGH


def test_other_kinds_of_tools_go_with_thinking() -> None:
    custom = ta.ServerTool({"type": "custom", "custom": {"name": "sql"}})
    assert planned(on_chat("gpt-5.5"), reasoning="high", tools=(custom,)).level.sent is HIGH


def test_other_surfaces_take_functions_beside_thinking() -> None:
    assert planned("openai/gpt-5.5", reasoning="high", tools=TOOLS).level.sent is HIGH
    assert planned("openrouter/openai/gpt-5.5", reasoning="high", tools=TOOLS).level.sent is HIGH


# texts that end an answer


@pytest.mark.parametrize(
    ("model", "level", "kept"),
    [
        (on_chat("o3"), "low", False),
        (on_chat("o1"), "low", True),
        (on_chat("gpt-5.1"), "low", False),
        (on_chat("gpt-5.1"), "off", True),
        (on_chat("gpt-4o"), None, True),
        (on_chat("grok-4.5", "xai"), "low", False),
        ("cerebras/gpt-oss-120b", "low", True),
    ],
)
def test_stop_texts_are_dropped_where_a_thinking_model_refuses_them(model: Any, level: Any, kept: bool) -> None:
    plan = planned(model, reasoning=level, stop="END")
    assert ("stop" in plan.body) is kept
    assert ("sampling_dropped" in told(plan)) is not kept
