"""What a plan shows of its request: everything, and no secret."""

from __future__ import annotations

import pytest

import thinkaloud as ta
from thinkaloud import Model


@pytest.mark.parametrize(
    ("model", "header"),
    [
        ("anthropic/claude-opus-5", "x-api-key"),
        ("openai/gpt-5.2", "authorization"),
        ("google/gemini-2.5-flash", "x-goog-api-key"),
        ("ollama/qwen3", "authorization"),
    ],
)
def test_the_credential_shows_as_stars_and_needs_no_key(model: str, header: str) -> None:
    plan = ta.prepare(model, "hi")
    assert plan.headers[header] == "***"
    assert header not in plan.request.headers


def test_a_server_without_keys_shows_no_credential() -> None:
    model = Model("lab", "m", protocol="openai-chat", base_url="https://lab.example/v1")
    assert sorted(ta.prepare(model, "hi").headers) == ["accept", "content-type"]


def test_secrets_in_headers_of_one_s_own_are_masked_too() -> None:
    secrets = {"X-Gateway-Token": "t0p", "Cookie": "a=b", "Authorization": "Bearer s3cret", "X-Trace": "7"}
    plan = ta.prepare("anthropic/claude-opus-5", "hi", extra_headers=secrets)
    assert plan.headers["x-gateway-token"] == plan.headers["cookie"] == plan.headers["authorization"] == "***"
    assert plan.headers["x-trace"] == "7"
    assert plan.headers["anthropic-version"] == "2023-06-01"


def test_a_plan_tells_where_it_goes() -> None:
    assert ta.prepare("anthropic/claude-opus-5", "hi").url == "https://api.anthropic.com/v1/messages"


# models that are not known


def test_a_level_for_an_unknown_model_comes_with_a_notice() -> None:
    plan = ta.prepare("anthropic/claude-unheard-of", "hi", reasoning="high")
    [notice] = plan.notices
    assert notice.code == "unknown_model"
    assert notice.path == "model"
    assert notice.detail == {"provider": "anthropic", "model": "claude-unheard-of"}
    assert "register_model" in notice.text


@pytest.mark.parametrize(
    ("model", "reasoning"),
    [("anthropic/claude-unheard-of", None), ("anthropic/claude-opus-5", "high"), ("openai/gpt-4o", None)],
)
def test_there_is_no_such_notice_where_no_level_is_asked_or_the_model_is_known(
    model: str, reasoning: ta.ThinkingLevel | None
) -> None:
    assert "unknown_model" not in [notice.code for notice in ta.prepare(model, "hi", reasoning=reasoning).notices]


# levels


def test_levels_are_clamped_for_a_model_by_the_one_rule() -> None:
    off, _, low, _, high, xhigh, _ = ta.ThinkingLevel
    assert ta.clamp_thinking_level("openai/gpt-5.2", "max") is xhigh
    assert ta.clamp_thinking_level("anthropic/claude-opus-5-5", off) is low
    assert ta.clamp_thinking_level("deepseek/deepseek-v4-pro", "medium") is high
    assert ta.clamp_thinking_level("openai/gpt-4o", "high") is None
    with pytest.raises(ta.ConfigurationError, match="'ultra'"):
        ta.clamp_thinking_level("openai/gpt-5.2", "ultra")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "model", ["anthropic/claude-unheard-of", "bedrock/anthropic.claude-unheard-of", "google/gemini-99", "openai/gpt-99"]
)
def test_an_unknown_model_has_the_levels_of_its_family(model: str) -> None:
    assert ta.ThinkingLevel.HIGH in ta.supported_thinking_levels(model)


def test_a_model_of_one_s_own_has_the_levels_it_says() -> None:
    low = ta.ThinkingLevel.LOW
    control = ta.ThinkingControl(mode="effort", levels=(low,), native={low: "low"})
    assert ta.supported_thinking_levels(Model("openai", "x", thinking=control)) == (low,)
    assert ta.supported_thinking_levels(Model("openai", "x", thinking=control, reasoning=False)) == ()
