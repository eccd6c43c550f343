"""Every authored case about the effort of a request comes out as described."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from support.shared import Case, cases, parameters
from thinkaloud.levels import ThinkingLevel
from thinkaloud.models.model import Model, ThinkingControl
from thinkaloud.plan import Plan, prepare
from thinkaloud.tools import Tool

IDS = {
    "anthropic-messages": ("anthropic", "claude-x"),
    "bedrock-converse": ("bedrock", "anthropic.claude-x"),
    "openai-chat": ("huggingface", "maker/model-x"),
}
EFFORT = [case for case in cases() if case.name.startswith("effort/") and case.wire in IDS]


def planned(case: Case) -> Plan:
    """The request of a case, to a model of which only the case's own facts are known."""
    caps, arguments = case.data["model_caps"], dict(case.data["options"])
    provider, id = IDS[case.wire]
    control = ThinkingControl(
        mode=caps["control"],
        levels=tuple(map(ThinkingLevel, (*(["off"] if "forced_tool_with_thinking" in caps else []), *caps["levels"]))),
        min_budget=caps.get("min_budget"),
    )
    model = Model(provider, id, thinking=control, max_output=caps.get("max_output"))
    if "tool_choice" in arguments:
        arguments["tools"] = [Tool("f")]
    return prepare(model, "q", base_url="http://127.0.0.1:1", **arguments)


def has_budget_with_room(plan: Plan) -> bool:
    body: Any = plan.body
    told = [notice for notice in plan.notices if notice.path == "max_tokens"]
    fits = body["thinking"]["type"] == "enabled" and 1024 <= body["thinking"]["budget_tokens"] < body["max_tokens"]
    return bool(fits and (body["max_tokens"] in (4000, 8000) or told))


def is_adaptive(plan: Plan) -> bool:
    thinking: Any = plan.body["thinking"]
    return thinking["type"] == "adaptive" and plan.body["output_config"] == {"effort": "high"}


def is_off(plan: Plan) -> bool:
    fields: Any = plan.body["additionalModelRequestFields"]
    told = [notice.code for notice in plan.notices]
    return plan.level.sent is ThinkingLevel.OFF and fields == {"thinking": {"type": "disabled"}} and bool(told)


def keeps_thinking(plan: Plan) -> bool:
    return plan.level.sent is ThinkingLevel.HIGH and any(notice.path == "temperature" for notice in plan.notices)


def is_high(plan: Plan) -> bool:
    return plan.level.sent is ThinkingLevel.HIGH and plan.body["reasoning_effort"] == "high"


def asks_for_usage(plan: Plan) -> bool:
    return plan.body["stream"] is True and plan.body["stream_options"] == {"include_usage": True}


# What the words of a case mean, and what must not be in the body.
RIGHT: Mapping[str, tuple[Callable[[Plan], bool], str]] = {
    "effort/adaptive-model-takes-no-budget": (is_adaptive, "budget_tokens"),
    "effort/budget-below-max-tokens": (has_budget_with_room, "adaptive"),
    "effort/forced-tool-choice-with-thinking": (is_off, "enabled"),
    "effort/minimal-respects-budget-floor": (has_budget_with_room, "adaptive"),
    "effort/sampling-parameters-refused-by-model": (keeps_thinking, "temperature"),
    "effort/stream-asks-for-usage": (asks_for_usage, "xhigh"),
    "effort/top-level-clamps-down-not-to-default": (is_high, "xhigh"),
}


@pytest.mark.parametrize("case", parameters(EFFORT, lambda case: case.name))
def test_a_case_of_effort_is_right(case: Case) -> None:
    plan = planned(case)
    is_right, absent = RIGHT[case.name]
    assert is_right(plan), (plan.body, plan.notices)
    assert absent not in json.dumps(plan.body)
