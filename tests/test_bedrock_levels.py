"""Thinking at Bedrock: each vendor's field for each level, and the one rule that clamps it."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from thinkaloud.errors import ConfigurationError
from thinkaloud.levels import ThinkingLevel
from thinkaloud.messages import UserMessage
from thinkaloud.models.bedrock_ids import bare_id, is_claude, vendor
from thinkaloud.models.model import Model, ThinkingControl
from thinkaloud.plan import Plan, prepare
from thinkaloud.protocols.anthropic import AnthropicOptions
from thinkaloud.protocols.anthropic import encode as messages_api
from thinkaloud.protocols.anthropic.options import Adaptive, Budget, Disabled
from thinkaloud.protocols.base import Call, Encoded
from thinkaloud.protocols.bedrock import BedrockOptions
from thinkaloud.protocols.bedrock.encode import encode
from thinkaloud.tools import Tool

OFF, MINIMAL, LOW, MEDIUM, HIGH, XHIGH, MAX = ThinkingLevel


def plan_of(model: str | Model, **arguments: Any) -> Plan:
    return prepare(f"bedrock/{model}" if isinstance(model, str) else model, "Hi", base_url="https://x.com", **arguments)


def fields_of(model: str | Model, **arguments: Any) -> Any:
    return plan_of(model, **arguments).body.get("additionalModelRequestFields", {})


def sent(model: str | Model, level: ThinkingLevel, **arguments: Any) -> tuple[Any, ThinkingLevel | None]:
    plan = plan_of(model, reasoning=level, **arguments)
    return plan.body.get("additionalModelRequestFields", {}), plan.level.sent


def without_facts(model: str, **call: Any) -> Encoded:
    """A request to a model of whom only the name is known."""
    return encode(Call(model=Model("bedrock", model), messages=(UserMessage("Hi"),), **call))


def codes(plan: Plan | Encoded) -> list[str]:
    return [notice.code for notice in plan.notices]


def effort(word: str) -> dict[str, Any]:
    return {"reasoning_effort": word}


def nested(word: str) -> dict[str, Any]:
    return {"reasoning": {"effort": word}}


def nova(word: str) -> dict[str, Any]:
    return {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": word}}


def flat(word: str) -> dict[str, Any]:
    return {"reasoning_config": word}


OFF_AT_NOVA = {"reasoningConfig": {"type": "disabled"}}

# For every level in order: the fields, and the level that they stand for.
TABLE: dict[str, list[tuple[Any, ThinkingLevel | None]]] = {
    "us.amazon.nova-2-lite-v1:0": [
        (OFF_AT_NOVA, OFF),
        (nova("low"), LOW),
        (nova("low"), LOW),
        (nova("medium"), MEDIUM),
        *[(nova("high"), HIGH)] * 3,
    ],
    "openai.gpt-oss-120b-1:0": [
        *[(effort("low"), LOW)] * 3,
        (effort("medium"), MEDIUM),
        *[(effort("high"), HIGH)] * 3,
    ],
    "openai.gpt-5.6-sol": [
        (nested("none"), OFF),
        (nested("low"), LOW),
        (nested("low"), LOW),
        (nested("medium"), MEDIUM),
        (nested("high"), HIGH),
        *[(nested("xhigh"), XHIGH)] * 2,
    ],
    "openai.gpt-6-astra": [
        *[(nested("low"), LOW)] * 3,
        (nested("medium"), MEDIUM),
        (nested("high"), HIGH),
        *[(nested("xhigh"), XHIGH)] * 2,
    ],
    "us.xai.grok-4.7": [
        *[(nested("low"), LOW)] * 3,
        (nested("medium"), MEDIUM),
        (nested("high"), HIGH),
        *[(nested("xhigh"), XHIGH)] * 2,
    ],
    "qwen.qwen3-32b-v1:0": [(flat("none"), OFF), *[(flat("high"), HIGH)] * 6],
    "deepseek.v3.2": [(effort("none"), OFF), *[(effort("high"), HIGH)] * 6],
    "zai.glm-4.7": [(effort("none"), OFF), *[(effort("high"), HIGH)] * 6],
    "us.zai.glm-5.3": [
        *[(effort("low"), LOW)] * 3,
        (effort("medium"), MEDIUM),
        (effort("high"), HIGH),
        (effort("xhigh"), XHIGH),
        (effort("max"), MAX),
    ],
    "moonshotai.kimi-k2.5": [
        *[(effort("low"), LOW)] * 3,
        (effort("medium"), MEDIUM),
        *[(effort("high"), HIGH)] * 3,
    ],
    "deepseek.r1-v1:0": [({}, None)] * 7,
    "amazon.nova-pro-v1:0": [({}, None)] * 7,
    "qwen.qwen3-coder-next": [({}, None)] * 7,
    "meta.llama3-2-1b-instruct-v1:0": [({}, None)] * 7,
    "somebody.new-model-v1:0": [({}, None)] * 7,
}


@pytest.mark.parametrize("model", TABLE)
@pytest.mark.parametrize("level", list(ThinkingLevel), ids=lambda level: level.value)
def test_every_level_of_every_vendor(model: str, level: ThinkingLevel) -> None:
    encoded = without_facts(model, reasoning=level)
    assert (encoded.body.get("additionalModelRequestFields", {}), encoded.level) == TABLE[model][level.rank]


@pytest.mark.parametrize("model", TABLE)
def test_nothing_asked_is_nothing_sent(model: str) -> None:
    assert fields_of(model) == {}


@pytest.mark.parametrize("model", TABLE)
@pytest.mark.parametrize("level", list(ThinkingLevel), ids=lambda level: level.value)
def test_what_differs_from_the_wish_is_told(model: str, level: ThinkingLevel) -> None:
    encoded = without_facts(model, reasoning=level)
    found = TABLE[model][level.rank][1]
    if found is level:
        assert codes(encoded) == []
    elif found is not None:
        assert codes(encoded) == ["level_clamped"]
    else:
        never_thinks_or_unknown = level is OFF and not model.startswith("deepseek.r1")
        assert codes(encoded) == ([] if never_thinks_or_unknown else ["level_ignored"])


def test_the_highest_effort_of_nova_takes_neither_limit_nor_sampling() -> None:
    plan = plan_of("amazon.nova-2-lite-v1:0", reasoning=HIGH, max_tokens=100, temperature=0.5, top_p=0.9, stop="X")
    assert plan.body["inferenceConfig"] == {"stopSequences": ["X"]}
    assert codes(plan) == ["option_ignored", "sampling_dropped", "sampling_dropped"]
    lower = plan_of("amazon.nova-2-lite-v1:0", reasoning=MEDIUM, max_tokens=100)
    assert lower.body["inferenceConfig"] == {"maxTokens": 100}


def test_a_known_control_wins_over_the_familys() -> None:
    control = ThinkingControl(mode="effort", levels=(LOW, MAX), native={LOW: "low", MAX: "max"})
    model = Model("bedrock", "openai.gpt-6.1-terra", thinking=control)
    assert sent(model, HIGH) == (nested("max"), MAX)


def test_a_model_that_does_not_think_is_asked_nothing() -> None:
    model = Model("bedrock", "openai.gpt-oss-20b-1:0", reasoning=False)
    assert sent(model, HIGH) == ({}, None)


def test_an_effort_of_the_vendors_own_wins() -> None:
    plan = plan_of("openai.gpt-oss-20b-1:0", reasoning=LOW, options=BedrockOptions(effort="high"))
    assert plan.body["additionalModelRequestFields"] == effort("high")
    assert plan.level.sent is HIGH
    assert fields_of("openai.gpt-6-sol", options=BedrockOptions(effort="ultra")) == nested("ultra")


@pytest.mark.parametrize("option", [{"thinking": Adaptive()}, {"display": "omitted"}, {"betas": "x"}])
def test_what_is_claudes_alone_is_refused_for_others(option: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=f"{next(iter(option))}=.*base_model"):
        plan_of("amazon.nova-2-lite-v1:0", options=BedrockOptions(**option))


def test_an_effort_for_a_model_without_one_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="additional_fields"):
        plan_of("amazon.nova-pro-v1:0", options=BedrockOptions(effort="high"))


NOVA_CONTROL = ThinkingControl(
    mode="effort", levels=(OFF, LOW, HIGH), native={OFF: "disabled", LOW: "low", HIGH: "high"}
)


def test_a_word_that_the_models_facts_rule_out_is_refused_unless_they_are_not_settled() -> None:
    options = BedrockOptions(effort="ultra")
    model = Model("bedrock", "amazon.nova-2-lite-v1:0", thinking=NOVA_CONTROL, unsure=())
    with pytest.raises(ConfigurationError, match=r"effort='ultra' .* use one of 'disabled', 'low', 'high'"):
        encode(Call(model=model, messages=(UserMessage("Hi"),), options=options))
    unsure = evolve(model, unsure=("thinking.levels",))
    encoded = encode(Call(model=unsure, messages=(UserMessage("Hi"),), options=options))
    assert encoded.body["additionalModelRequestFields"] == nova("ultra")


@pytest.mark.parametrize(
    ("place", "fields"),
    [
        ("additionalModelRequestFields.reasoning_effort", effort("low")),
        ("additionalModelRequestFields.reasoning_config", flat("low")),
        ("additionalModelRequestFields.reasoning.effort", nested("low")),
        ("additionalModelRequestFields.reasoningConfig.maxReasoningEffort", nova("low")),
    ],
)
def test_a_models_own_facts_name_the_place_of_its_words(place: str, fields: Any) -> None:
    control = ThinkingControl(mode="effort", levels=(LOW, HIGH), param=place)
    assert sent(Model("bedrock", "somebody.new-model-v1:0", thinking=control), LOW) == (fields, LOW)


def test_thinking_without_a_control_is_told_with_the_way_around_it() -> None:
    control = ThinkingControl(mode="always_on", default_on=True)
    model = Model("bedrock", "xai.grok-4.6", thinking=control)
    for level in (OFF, HIGH):
        encoded = encode(Call(model=model, messages=(UserMessage("Hi"),), reasoning=level))
        assert "additionalModelRequestFields" not in encoded.body
        [notice] = encoded.notices
        assert notice.code == "level_ignored"
        assert "BedrockOptions(effort=...)" in notice.text
    assert fields_of(model, options=BedrockOptions(effort="high")) == nested("high")


def test_an_effort_that_says_otherwise_than_the_level_is_told() -> None:
    encoded = without_facts("openai.gpt-oss-20b-1:0", reasoning=LOW, options=BedrockOptions(effort="high"))
    [notice] = encoded.notices
    assert (notice.code, notice.detail) == ("level_overridden", {"asked": "low", "sent": "high"})


def test_fields_of_ones_own_win_over_the_level_and_that_is_told() -> None:
    own: dict[str, Any] = {"thinking": {"type": "enabled", "budget_tokens": 4000}, "top_k": 3}
    encoded = without_facts(
        "anthropic.claude-opus-4-6-v1", reasoning=HIGH, options=BedrockOptions(additional_fields=own)
    )
    assert encoded.body["additionalModelRequestFields"] == own
    assert encoded.level is None
    assert codes(encoded) == ["level_overridden"]
    other = BedrockOptions(additional_fields={"top_k": 3})
    assert without_facts("anthropic.claude-opus-4-6-v1", reasoning=HIGH, options=other).level is HIGH


@pytest.mark.parametrize(
    ("options", "own"),
    [
        ({"thinking": Disabled()}, {"thinking": {"type": "adaptive"}}),
        ({"display": "omitted"}, {"thinking": {"type": "adaptive"}}),
        ({"effort": "low"}, {"output_config": {"effort": "high"}}),
        ({"effort": "low"}, {"reasoning_effort": "high"}),
        ({"effort": "low"}, {"reasoningConfig": {"type": "disabled"}}),
    ],
)
def test_an_option_and_a_field_of_ones_own_for_the_same_are_refused(options: Any, own: Any) -> None:
    with pytest.raises(ConfigurationError, match=f"'{next(iter(own))}', and {next(iter(options))} is given too"):
        BedrockOptions(additional_fields=own, **options)


def test_a_limit_above_the_models_own_is_lowered_where_it_is_settled() -> None:
    for unsure, limit in ((), 9000), (("max_output",), 10_000):
        model = Model("bedrock", "amazon.nova-pro-v1:0", max_output=9000, unsure=unsure)
        encoded = encode(Call(model=model, messages=(UserMessage("Hi"),), max_tokens=10_000))
        assert encoded.body["inferenceConfig"] == {"maxTokens": limit}
        assert codes(encoded) == (["max_tokens_lowered"] if limit == 9000 else [])


# Claude: as the Messages API


CLAUDES = [
    "anthropic.claude-3-haiku-20240307-v1:0",
    "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "anthropic.claude-opus-4-6-v1",
    "us.anthropic.claude-opus-5",
    "anthropic.claude-opus-5-5",
    "anthropic.claude-sonnet-5-5",
]


@pytest.mark.parametrize("model", CLAUDES)
@pytest.mark.parametrize("level", [None, *ThinkingLevel])
@pytest.mark.parametrize("max_tokens", [None, 3000])
def test_claude_is_asked_as_the_messages_api_asks(
    model: str, level: ThinkingLevel | None, max_tokens: int | None
) -> None:
    arguments: dict[str, Any] = {"reasoning": level, "max_tokens": max_tokens}
    direct = messages_api.encode(Call(model=Model("anthropic", model), messages=(UserMessage("Hi"),), **arguments))
    encoded = without_facts(model, **arguments)
    fields: Any = encoded.body.get("additionalModelRequestFields", {})
    assert fields == {name: direct.body[name] for name in ("thinking", "output_config") if name in direct.body}
    assert encoded.body["inferenceConfig"] == {"maxTokens": direct.body["max_tokens"]}
    assert (encoded.level, encoded.notices) == (direct.level, direct.notices)


def test_visible_thinking_is_asked_for() -> None:
    assert fields_of("anthropic.claude-opus-5", reasoning=HIGH)["thinking"] == {
        "type": "adaptive",
        "display": "summarized",
    }
    assert fields_of("anthropic.claude-opus-5", reasoning=HIGH, display="omitted")["thinking"]["display"] == "omitted"


def test_betas_go_among_the_models_own_fields() -> None:
    tools = [Tool("add")]
    model = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
    fields = fields_of(model, reasoning=HIGH, tools=tools, options=BedrockOptions(betas=["mine"]))
    assert fields["anthropic_beta"] == ["mine", "interleaved-thinking-2025-05-14"]


def test_native_options_steer_claude() -> None:
    model = "anthropic.claude-opus-4-6-v1"
    assert fields_of(model, options=BedrockOptions(thinking=Budget(2048)))["thinking"]["budget_tokens"] == 2048
    assert fields_of(model, reasoning=HIGH, options=BedrockOptions(thinking=Disabled()))["thinking"] == {
        "type": "disabled"
    }
    assert fields_of(model, options=BedrockOptions(effort="max"))["output_config"] == {"effort": "max"}
    binding = fields_of("anthropic.claude-opus-5", options=BedrockOptions(on_stale="drop"))
    assert binding["thinking"]["block_binding"] == {"prefix_mismatch_behavior": "drop_block"}
    assert binding["anthropic_beta"]


def test_an_effort_that_claude_does_not_know_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="effort"):
        plan_of("anthropic.claude-opus-5", options=BedrockOptions(effort="ultra"))


def test_claudes_own_options_stay_as_they_are() -> None:
    options = BedrockOptions(thinking=Budget(2048), display="omitted", betas=("a",))
    assert options.for_claude() == AnthropicOptions(thinking=Budget(2048), display="omitted", betas=("a",))


# ids that hide the model

ARN = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123"


def test_an_arn_that_hides_the_model_is_sent_no_thinking_and_that_is_told() -> None:
    plan = plan_of(ARN, reasoning=HIGH)
    assert "additionalModelRequestFields" not in plan.body
    [notice] = [notice for notice in plan.notices if notice.code == "level_ignored"]
    assert "base_model" in notice.text


def test_a_base_model_tells_what_an_arn_hides() -> None:
    plan = plan_of(ARN, reasoning=HIGH, base_model="anthropic.claude-opus-5")
    assert plan.body["additionalModelRequestFields"]["output_config"] == {"effort": "high"}  # type: ignore[index, call-overload]
    assert plan.level.sent is HIGH
    assert "abc123" in plan.request.url


def test_a_control_that_only_claude_has_tells_it_too() -> None:
    control = ThinkingControl(mode="adaptive", levels=(LOW, HIGH), native={LOW: "low", HIGH: "high"})
    fields, level = sent(Model("bedrock", ARN, thinking=control), HIGH)
    assert (fields["thinking"]["type"], level) == ("adaptive", HIGH)


def test_a_budget_and_a_forced_call_never_go_together_under_any_name() -> None:
    forced: dict[str, Any] = {"reasoning": HIGH, "tools": [Tool("f")], "tool_choice": "required"}
    endless = ThinkingControl(mode="budget", levels=(LOW, MEDIUM, HIGH), min_budget=1024)
    with pytest.raises(ConfigurationError, match=r"tool_choice='required': .*cannot be turned off"):
        plan_of(Model("bedrock", ARN, thinking=endless), **forced)
    control = evolve(endless, levels=(OFF, LOW, MEDIUM, HIGH))
    plan = plan_of(Model("bedrock", ARN, thinking=control), **forced)
    assert plan.body["toolConfig"]["toolChoice"] == {"any": {}}  # type: ignore[index, call-overload]
    assert plan.body["additionalModelRequestFields"] == {"thinking": {"type": "disabled"}}
    assert (plan.level.sent, codes(plan)) == (OFF, ["thinking_turned_off"])


@pytest.mark.parametrize(
    ("id", "bare", "made_by", "claude"),
    [
        ("anthropic.claude-opus-5", "anthropic.claude-opus-5", "anthropic", True),
        ("us.anthropic.claude-opus-5", "anthropic.claude-opus-5", "anthropic", True),
        ("us-gov.amazon.nova-lite-v1:0", "amazon.nova-lite-v1:0", "amazon", False),
        ("arn:aws:bedrock:us-east-1::foundation-model/meta.llama3-v1:0", "meta.llama3-v1:0", "meta", False),
        (
            "arn:aws:bedrock:eu-west-1:1:inference-profile/eu.anthropic.claude-opus-5",
            "anthropic.claude-opus-5",
            "anthropic",
            True,
        ),
        (ARN, "", "", False),
        ("my-deployment", "my-deployment", "", False),
        ("us.", "us.", "us", False),
    ],
)
def test_ids_are_read_through_arn_and_geography(id: str, bare: str, made_by: str, claude: bool) -> None:
    assert (bare_id(id), vendor(id), is_claude(id)) == (bare, made_by, claude)
