"""Native options win over neutral arguments, and a model's facts over both; what is not settled refuses nothing."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from thinkaloud.errors import ConfigurationError
from thinkaloud.levels import ThinkingLevel
from thinkaloud.messages import UserMessage
from thinkaloud.models.model import Model, ThinkingControl
from thinkaloud.protocols.anthropic.encode import encode
from thinkaloud.protocols.anthropic.options import Adaptive, AnthropicOptions, Budget, Disabled
from thinkaloud.protocols.base import Call, Encoded

OFF, MINIMAL, LOW, MEDIUM, HIGH, XHIGH, MAX = ThinkingLevel


def request(model: str | Model, options: AnthropicOptions | None = None, **call: Any) -> Encoded:
    if isinstance(model, str):
        model = Model("anthropic", model)
    return encode(Call(model=model, messages=(UserMessage("q"),), options=options, **call))


def thinking(encoded: Encoded) -> Any:
    return encoded.body.get("thinking")


def effort(encoded: Encoded) -> Any:
    output: Any = encoded.body.get("output_config", {})
    return output.get("effort")


def codes(encoded: Encoded) -> list[str]:
    return [notice.code for notice in encoded.notices]


@pytest.mark.parametrize(
    ("model", "options", "level", "sent"),
    [
        ("claude-opus-5", AnthropicOptions(thinking=Disabled()), HIGH, OFF),
        ("claude-opus-5", AnthropicOptions(effort="max"), LOW, MAX),
        ("claude-opus-5", AnthropicOptions(thinking=Adaptive()), OFF, None),
        ("claude-opus-5", AnthropicOptions(thinking=Adaptive(), effort="low"), OFF, LOW),
        ("claude-sonnet-4-5", AnthropicOptions(thinking=Budget(5000)), HIGH, LOW),
        ("claude-opus-4-6", AnthropicOptions(thinking=Budget(5000)), OFF, LOW),
    ],
)
def test_a_native_option_that_says_otherwise_is_told(
    model: str, options: AnthropicOptions, level: ThinkingLevel, sent: ThinkingLevel | None
) -> None:
    encoded = request(model, options, reasoning=level)
    assert encoded.level is sent
    (notice,) = encoded.notices
    assert (notice.code, notice.path) == ("level_overridden", "reasoning")
    assert notice.detail == {"asked": level.value, "sent": sent and sent.value}


@pytest.mark.parametrize(
    ("model", "options", "level"),
    [
        ("claude-opus-5", AnthropicOptions(thinking=Disabled()), OFF),
        ("claude-opus-5", AnthropicOptions(effort="max"), MAX),
        ("claude-opus-5", AnthropicOptions(thinking=Adaptive()), HIGH),
        ("claude-opus-5", AnthropicOptions(effort="low"), OFF),
        ("claude-sonnet-4-5", AnthropicOptions(thinking=Budget(20_000)), HIGH),
        ("claude-opus-4-5", AnthropicOptions(effort="low"), HIGH),
    ],
)
def test_a_native_option_that_agrees_needs_no_notice(
    model: str, options: AnthropicOptions, level: ThinkingLevel
) -> None:
    encoded = request(model, options, reasoning=level)
    assert (encoded.level, codes(encoded)) == (level, [])


def test_a_native_display_that_says_otherwise_is_told() -> None:
    encoded = request("claude-opus-5", AnthropicOptions(display="summarized"), reasoning=HIGH, display="omitted")
    assert thinking(encoded)["display"] == "summarized"
    assert codes(encoded) == ["display_overridden"]


def test_effort_and_a_budget_go_together_where_the_model_takes_both() -> None:
    encoded = request("claude-opus-4-5", AnthropicOptions(effort="medium"), reasoning=XHIGH)
    assert (thinking(encoded), effort(encoded)) == ({"type": "enabled", "budget_tokens": 32_768}, "medium")


def test_a_limit_without_room_names_the_native_way_out() -> None:
    with pytest.raises(ConfigurationError, match=r"max_tokens=1024 .* at least 1025, or thinking=Disabled\(\)"):
        request("some-model", AnthropicOptions(thinking=Budget(2048)), max_tokens=1024)


ADAPTIVE = ThinkingControl(
    mode="adaptive",
    levels=(OFF, LOW, HIGH),
    native={OFF: "disabled", LOW: "low", HIGH: "high"},
    default_on=True,
    effort_cap_when_off=LOW,
)
BUDGETED = ThinkingControl(mode="budget", levels=(OFF, LOW), native={OFF: "disabled", LOW: 3000}, max_budget=9000)


@pytest.mark.parametrize(
    ("control", "options", "fix"),
    [
        (ADAPTIVE, AnthropicOptions(effort="max"), "effort='max' .* use one of 'low', 'high'"),
        (ADAPTIVE, AnthropicOptions(thinking=Budget(2048)), "Adaptive or Disabled"),
        (BUDGETED, AnthropicOptions(thinking=Adaptive()), "Budget or Disabled"),
        (BUDGETED, AnthropicOptions(effort="low"), "leave it out"),
        (BUDGETED, AnthropicOptions(thinking=Budget(9001)), r"Budget\(9001\): .* takes from 1024 to 9000 tokens"),
    ],
)
def test_what_a_model_s_facts_rule_out_is_refused_unless_they_are_not_settled(
    control: ThinkingControl, options: AnthropicOptions, fix: str
) -> None:
    with pytest.raises(ConfigurationError, match=fix):
        request(Model("anthropic", "claude-x", thinking=control), options)
    unsure = Model("anthropic", "claude-x", thinking=control, unsure=("thinking.levels",))
    assert thinking(request(unsure, options)) or effort(request(unsure, options))


def test_a_model_that_does_not_think_takes_no_native_thinking() -> None:
    with pytest.raises(ConfigurationError, match="use Disabled"):
        request(Model("anthropic", "claude-opus-5", reasoning=False), AnthropicOptions(thinking=Adaptive()))


def test_a_budget_is_taken_by_an_adaptive_model_whose_facts_say_so() -> None:
    model = Model("anthropic", "claude-x", thinking=evolve(ADAPTIVE, budget_accepted=True))
    assert thinking(request(model, AnthropicOptions(thinking=Budget(2048))))["budget_tokens"] == 2048


def test_effort_beside_off_is_lowered_to_the_cap_of_the_model_s_own() -> None:
    model = Model("anthropic", "claude-x", thinking=ADAPTIVE)
    encoded = request(model, AnthropicOptions(effort="high"), reasoning=OFF)
    assert (effort(encoded), codes(encoded)) == ("low", ["effort_lowered"])
    assert encoded.notices[0].detail == {"asked": "high", "sent": "low"}


def test_the_budgets_of_the_model_s_own_are_sent() -> None:
    model = Model("anthropic", "claude-sonnet-4-5", thinking=BUDGETED)
    assert thinking(request(model, reasoning=MAX)) == {"type": "enabled", "budget_tokens": 3000}


def test_off_that_a_thinking_model_without_a_control_cannot_be_is_told() -> None:
    model = Model("anthropic", "some-model", thinking=ThinkingControl(mode="always_on", default_on=True))
    encoded = request(model, reasoning=OFF)
    assert (thinking(encoded), encoded.level, codes(encoded)) == (None, None, ["level_ignored"])
