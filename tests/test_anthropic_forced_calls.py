"""A choice of tools that forces a call, beside thinking: what does not go together is settled before the call."""

from __future__ import annotations

from typing import Any

import pytest

from thinkaloud.errors import ConfigurationError
from thinkaloud.levels import ThinkingLevel
from thinkaloud.messages import UserMessage
from thinkaloud.models.model import Model, ThinkingControl
from thinkaloud.protocols.anthropic.encode import encode
from thinkaloud.protocols.anthropic.options import Adaptive, AnthropicOptions, Budget
from thinkaloud.protocols.base import Call, Encoded
from thinkaloud.tools import Tool, ToolChoice

OFF, MINIMAL, LOW, MEDIUM, HIGH, XHIGH, MAX = ThinkingLevel


def forced(
    model: str | Model,
    level: ThinkingLevel | None = None,
    options: AnthropicOptions | None = None,
    choice: ToolChoice = ToolChoice.tool("f"),
) -> Encoded:
    if isinstance(model, str):
        model = Model("anthropic", model)
    call = Call(
        model=model,
        messages=(UserMessage("q"),),
        tools=(Tool("f"),),
        tool_choice=choice,
        reasoning=level,
        options=options,
    )
    return encode(call)


def codes(encoded: Encoded) -> list[str]:
    return [notice.code for notice in encoded.notices]


def test_it_turns_a_budget_off_for_this_call() -> None:
    encoded = forced("claude-sonnet-4-5", HIGH)
    assert encoded.body["tool_choice"] == {"type": "tool", "name": "f"}
    assert encoded.body["thinking"] == {"type": "disabled"}
    assert encoded.level is OFF
    (notice,) = encoded.notices
    assert (notice.code, notice.path) == ("thinking_turned_off", "reasoning")
    assert notice.detail == {"asked": "high", "sent": "off"}


def test_it_needs_no_notice_where_nothing_thinks() -> None:
    assert codes(forced("claude-sonnet-4-5")) == []
    assert codes(forced("claude-opus-5", OFF)) == []


def test_it_is_refused_beside_a_budget_that_cannot_be_turned_off() -> None:
    control = ThinkingControl(mode="budget", levels=(LOW, HIGH), min_budget=1024)
    with pytest.raises(ConfigurationError, match=r"tool_choice='tool': .* cannot be turned off"):
        forced(Model("anthropic", "claude-sonnet-4-5", thinking=control), HIGH)


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "claude-opus-4-6"])
def test_it_is_refused_beside_a_native_budget(model: str) -> None:
    with pytest.raises(ConfigurationError, match=r"tool_choice='tool': .*use tool_choice='auto', or thinking=Disabled"):
        forced(model, options=AnthropicOptions(thinking=Budget(2048)))


@pytest.mark.parametrize("level", [None, OFF, HIGH])
def test_it_is_refused_where_the_model_never_takes_one(level: ThinkingLevel | None) -> None:
    with pytest.raises(ConfigurationError, match=r"claude-sonnet-5-5 takes no forced call"):
        forced("claude-sonnet-5-5", level)


def test_it_is_left_to_the_server_where_nobody_knows_the_model() -> None:
    encoded = forced("claude-unheard-of-7", HIGH)
    thinking: Any = encoded.body["thinking"]
    assert encoded.body["tool_choice"] == {"type": "tool", "name": "f"}
    assert thinking["type"] == "adaptive"


@pytest.mark.parametrize("options", [None, AnthropicOptions(thinking=Adaptive())])
def test_it_is_told_that_an_adaptive_model_answers_it_without_thinking(options: AnthropicOptions | None) -> None:
    encoded = forced("claude-opus-5", HIGH, options, ToolChoice("required"))
    assert encoded.body["tool_choice"] == {"type": "any"}
    assert (encoded.level, codes(encoded)) == (HIGH, ["thinking_suppressed"])
