"""Finding a model: by its id, by the other names it has, at a host, and behind a name of one's own."""

from __future__ import annotations

import gc
import tracemalloc

import pytest

import thinkaloud as ta
from thinkaloud import Model, ThinkingControl, ThinkingLevel, find_model, list_models
from thinkaloud.errors import ConfigurationError, UnknownModel

OFF, MINIMAL, LOW, MEDIUM, HIGH, XHIGH, MAX = ThinkingLevel


def test_a_model_is_found_with_all_its_facts() -> None:
    model = find_model("anthropic/claude-sonnet-4-5")
    assert model.provider == "anthropic"
    assert model.id == "claude-sonnet-4-5"
    assert model.protocol == "anthropic-messages"
    assert model.reasoning is True
    assert model.max_output == 64_000
    assert model.context_window == 200_000
    assert model.input == ("text", "image", "pdf")
    assert model.prices is not None
    assert model.prices.rates == ta.Rates(input=3.0, output=15.0, cache_read=0.3, cache_write=3.75, cache_write_1h=6.0)
    assert model.thinking is not None
    assert model.thinking.mode == "budget"
    assert model.thinking.levels == (OFF, MINIMAL, LOW, MEDIUM, HIGH, XHIGH)
    assert model.thinking.native[MEDIUM] == 10_000
    assert (model.thinking.min_budget, model.thinking.max_budget) == (1024, 63_999)


def test_facts_that_few_rows_have_are_read_too() -> None:
    sonnet = find_model("anthropic/claude-sonnet-5-5").thinking
    assert sonnet is not None
    assert sonnet.native[OFF] == "between_tools"
    assert sonnet.effort_cap_when_off is HIGH
    assert sonnet.default_on
    opus = find_model("anthropic/claude-opus-4-5").thinking
    assert opus is not None
    assert opus.effort_levels == (LOW, MEDIUM, HIGH)
    older = find_model("anthropic/claude-opus-4-6").thinking
    assert older is not None
    assert older.budget_accepted
    flash = find_model("google/gemini-2.5-flash")
    assert flash.thinking is not None
    assert flash.thinking.dynamic_budget == -1
    argon = find_model("google/gemini-4-argon")
    assert argon.prices is not None
    assert [change.since.isoformat() for change in argon.prices.changes] == ["2026-12-01"]


def test_a_model_that_does_not_think_has_no_control() -> None:
    model = find_model("openai/gpt-4o")
    assert model.reasoning is False
    assert model.thinking is None


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("anthropic/claude-opus-4-1-20250805", "anthropic/claude-opus-4-1"),
        ("anthropic/claude-3-7-sonnet-latest", "anthropic/claude-3-7-sonnet-20250219"),
        ("anthropic/claude-3-5-haiku-20241022", "anthropic/claude-3-5-haiku-latest"),
        ("anthropic/claude-opus-4-20250514", "anthropic/claude-opus-4-0"),
        ("anthropic/claude-opus-5-20260724", "anthropic/claude-opus-5"),
        ("openai/gpt-5.2-2025-12-11", "openai/gpt-5.2"),
        ("openai/GPT-5.2", "openai/gpt-5.2"),
        ("google/models/gemini-2.5-flash", "google/gemini-2.5-flash"),
        ("google/gemini-2.5-pro-preview-05-06", "google/gemini-2.5-pro"),
        ("google/gemini-2.0-flash-001", "google/gemini-2.0-flash"),
        ("gemini/gemini-2.5-flash", "google/gemini-2.5-flash"),
        ("kimi/kimi-k3", "moonshotai/kimi-k3"),
        ("bedrock/anthropic.claude-opus-5", "bedrock/us.anthropic.claude-opus-5"),
        ("bedrock/eu.anthropic.claude-opus-5", "bedrock/us.anthropic.claude-opus-5"),
        ("bedrock/us-gov.anthropic.claude-sonnet-5", "bedrock/anthropic.claude-sonnet-5"),
        (
            "bedrock/global.anthropic.claude-haiku-4-5-20251001-v1:0",
            "bedrock/anthropic.claude-haiku-4-5-20251001-v1:0",
        ),
        ("bedrock/anthropic.claude-haiku-4-5", "bedrock/anthropic.claude-haiku-4-5-20251001-v1:0"),
        ("bedrock/anthropic.claude-opus-4-6-v1:0", "bedrock/anthropic.claude-opus-4-6-v1"),
        (
            "bedrock/arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.anthropic.claude-opus-5",
            "bedrock/us.anthropic.claude-opus-5",
        ),
        ("openrouter/anthropic/claude-opus-4.8:thinking", "openrouter/anthropic/claude-opus-4.8"),
        ("openrouter/Z-AI/GLM-5.3", "openrouter/z-ai/glm-5.3"),
    ],
)
def test_another_name_of_a_model_finds_its_facts(name: str, row: str) -> None:
    found, known = find_model(name), find_model(row)
    assert found.id == name.partition("/")[2], "what goes on the wire stays as it was given"
    assert (found.thinking, found.prices, found.max_output, found.reasoning) == (
        known.thinking,
        known.prices,
        known.max_output,
        known.reasoning,
    )
    assert found.reasoning is not None


@pytest.mark.parametrize(
    "name",
    [
        "anthropic/claude-opus-5-7",
        "mistral/mistral-large-2411",
        "openai/gpt-5.2-mega",
        "google/gemini-2.5-flash-preview-tts",
        "azure/my-deployment",
        "ollama/qwen3:32b",
        "bedrock/arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/abc",
    ],
)
def test_a_model_that_is_not_known_is_no_error_and_has_no_facts(name: str) -> None:
    found = find_model(name)
    assert (found.reasoning, found.thinking, found.prices, found.max_output) == (None, None, None, None)
    assert found.protocol is not None


def test_a_free_variant_costs_nothing_and_others_have_no_known_price() -> None:
    free = find_model("openrouter/z-ai/glm-5.3:free")
    assert free.prices is not None
    assert free.prices.rates.input == free.prices.rates.output == 0.0
    assert find_model("openrouter/z-ai/glm-5.3:nitro").prices is None
    assert find_model("openrouter/z-ai/glm-5.3:nitro").reasoning is True


def test_the_row_names_the_protocol_where_the_provider_serves_it() -> None:
    assert find_model("openai/gpt-5.2").protocol == "openai-responses"
    assert find_model("xai/grok-4.3").protocol == "openai-responses"
    assert find_model(Model("openai", "gpt-5.2", protocol="openai-chat")).protocol == "openai-chat"


# hosts


def test_a_deployment_under_the_model_s_own_name_has_the_facts_of_the_model_but_not_its_price() -> None:
    found = find_model("azure/gpt-5.6-sol")
    assert found.reasoning is True
    assert found.thinking is not None
    assert found.thinking.levels == (OFF, LOW, MEDIUM, HIGH, XHIGH), "the highest level is seen at OpenAI alone"
    assert MAX not in found.thinking.native
    assert found.prices is None
    assert "max_output" in found.unsure


def test_claude_on_vertex_has_the_facts_of_claude() -> None:
    found, maker = find_model("google-vertex/claude-opus-4-5@20251101"), find_model("anthropic/claude-opus-4-5")
    assert found.protocol == "anthropic-messages"
    assert found.thinking == maker.thinking
    assert found.prices is None


def test_a_model_that_bedrock_has_no_row_of_has_the_facts_of_its_maker() -> None:
    found = find_model("bedrock/us.anthropic.claude-3-7-sonnet-20250219-v1:0")
    assert found.thinking == find_model("anthropic/claude-3-7-sonnet-20250219").thinking
    assert found.prices is None


@pytest.mark.parametrize(
    ("name", "maker"),
    [
        ("azure-anthropic/claude-opus-5", "anthropic/claude-opus-5"),
        ("bedrock-mantle/anthropic.claude-opus-5", "anthropic/claude-opus-5"),
        ("bedrock-mantle/openai.gpt-5.5", "openai/gpt-5.5"),
        ("openrouter/openai/gpt-5.2", "openai/gpt-5.2"),
    ],
)
def test_hosts_that_speak_as_the_maker_know_its_levels_and_not_its_prices(name: str, maker: str) -> None:
    found = find_model(name)
    assert found.thinking == find_model(maker).thinking
    assert found.prices is None


@pytest.mark.parametrize("name", ["databricks/databricks-claude-opus-4-5", "snowflake/claude-opus-5"])
def test_claude_at_a_host_of_chat_completions_is_known_to_think_and_no_more(name: str) -> None:
    found = find_model(name)
    assert found.reasoning is True
    assert found.thinking is None


def test_gateways_that_are_asked_in_the_same_way_know_the_same_levels() -> None:
    found = find_model("vercel-gateway/anthropic/claude-opus-4.8")
    assert found.thinking == find_model("openrouter/anthropic/claude-opus-4.8").thinking


def test_a_host_that_is_asked_in_another_way_takes_over_no_words_for_levels() -> None:
    found = find_model("together/deepseek-ai/DeepSeek-V4-Pro")
    assert found.reasoning is True
    assert found.thinking is None
    assert found.prices is None


def test_claude_behind_chat_completions_gets_no_budgets_of_the_messages_api() -> None:
    model = Model("anthropic", "claude-sonnet-4-5", protocol="openai-chat", base_url="https://gateway.example/v1")
    assert find_model(model).thinking is None
    assert find_model(model).max_output == 64_000


# names of one's own


@pytest.mark.parametrize("base_model", ["gpt-5.2", "openai/gpt-5.2", "gpt-5.2-2025-12-11"])
def test_base_model_names_the_facts_behind_a_deployment(base_model: str) -> None:
    found = find_model(Model("azure", "prod-chat", base_model=base_model))
    assert found.id == "prod-chat"
    assert found.reasoning is True
    assert found.thinking == find_model("openai/gpt-5.2").thinking


def test_base_model_names_the_facts_behind_an_inference_profile() -> None:
    arn = "arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/abc"
    found = find_model(Model("bedrock", arn, base_model="anthropic.claude-opus-5"))
    assert found.thinking == find_model("bedrock/us.anthropic.claude-opus-5").thinking
    assert found.prices is not None


def test_base_model_serves_an_endpoint_of_one_s_own_as_far_as_it_can() -> None:
    model = Model("lab", "m", protocol="anthropic-messages", base_url="https://lab.example", base_model="claude-opus-5")
    found = find_model(model)
    assert (found.reasoning, found.max_output, found.prices) == (True, 128_000, None)


def test_a_base_model_of_a_wrong_kind_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="base_model"):
        ta.prepare("azure/x", "hi", base_model=5, base_url="https://x.example/v1")  # type: ignore[arg-type]


def test_what_a_model_says_itself_wins() -> None:
    control = ThinkingControl(mode="toggle", levels=(OFF, HIGH), native={OFF: False, HIGH: True})
    found = find_model(Model("anthropic", "claude-opus-5", thinking=control, max_output=5))
    assert found.thinking == control
    assert found.max_output == 5
    assert found.context_window == 1_000_000


def test_a_model_said_not_to_think_takes_over_no_control() -> None:
    found = find_model(Model("anthropic", "claude-opus-5", reasoning=False))
    assert found.thinking is None


def test_a_control_of_one_s_own_means_that_the_model_thinks() -> None:
    control = ThinkingControl(mode="toggle", levels=(OFF, HIGH))
    assert find_model(Model("openai", "gpt-4o", thinking=control)).reasoning is True
    assert find_model(Model("ollama", "x", thinking=control)).reasoning is True


def test_doubts_come_along_with_the_facts_they_are_about_and_no_others() -> None:
    doubtful = find_model("openrouter/z-ai/glm-5.3")
    assert "thinking.default_on" in doubtful.unsure
    assert "max_output" in doubtful.unsure
    own = find_model(Model("openrouter", "z-ai/glm-5.3", max_output=5))
    assert "max_output" not in own.unsure


# lists


def test_models_are_listed_for_all_providers_or_for_one() -> None:
    assert len(list_models()) >= 342
    listed = list_models("anthropic")
    assert {model.provider for model in listed} == {"anthropic"}
    assert "claude-opus-5" in [model.id for model in listed]
    assert list_models("kimi") == list_models("moonshotai")
    assert list_models("ollama") == ()


def test_models_of_an_unknown_provider_are_refused() -> None:
    with pytest.raises(UnknownModel, match="'nobody'"):
        list_models("nobody")
    with pytest.raises(UnknownModel):
        find_model("nobody/x")


@pytest.mark.parametrize("model", ["claude-opus-5", "", "/x", "anthropic/"])
def test_what_names_no_model_is_refused(model: str) -> None:
    with pytest.raises(ConfigurationError, match="provider/model"):
        find_model(model)


@pytest.mark.unwatched
def test_ids_that_name_no_row_are_not_kept() -> None:
    find_model("openrouter/nobody/none")
    gc.collect()
    tracemalloc.start()
    try:
        for number in range(300):
            find_model(f"openrouter/nobody/{number}-{'x' * 1000}")
        gc.collect()
        kept = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert kept < 100_000
