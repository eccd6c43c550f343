"""Models of one's own: registered in code or from a JSON file, in place of the catalog's or beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import thinkaloud as ta
from thinkaloud import Model, Prices, Rates, ThinkingControl, ThinkingLevel, find_model, list_models, load_models
from thinkaloud.errors import ConfigurationError
from thinkaloud.models import catalog

OFF, MINIMAL, LOW, MEDIUM, HIGH, XHIGH, MAX = ThinkingLevel


@pytest.fixture(autouse=True)
def _nothing_stays_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "_registered", {})


def test_a_registered_model_is_found_by_its_name() -> None:
    control = ThinkingControl(mode="toggle", levels=(OFF, HIGH), native={OFF: False, HIGH: True})
    ta.register_model(Model("ollama", "qwen3:32b", reasoning=True, thinking=control, context_window=40_960))
    found = find_model("ollama/qwen3:32b")
    assert (found.reasoning, found.thinking, found.context_window) == (True, control, 40_960)
    assert ta.supported_thinking_levels("ollama/qwen3:32b") == (OFF, HIGH)
    assert [model.id for model in list_models("ollama")] == ["qwen3:32b"]


def test_a_registered_endpoint_needs_no_provider_in_the_table() -> None:
    ta.register_model(Model("lab", "m-1", protocol="openai-chat", base_url="https://lab.example/v1"))
    plan = ta.prepare("lab/m-1", "hi")
    assert plan.url == "https://lab.example/v1/chat/completions"
    assert [model.id for model in list_models("lab")] == ["m-1"]


def test_a_registered_model_wins_over_the_catalog_and_leaves_what_it_does_not_say() -> None:
    ta.register_model(Model("anthropic", "claude-opus-5", max_output=64_000, prices=Prices(rates=Rates(input=1.0))))
    found = find_model("anthropic/claude-opus-5")
    assert found.max_output == 64_000
    assert found.prices == Prices(rates=Rates(input=1.0))
    assert found.thinking is not None
    assert found.context_window == 1_000_000
    assert len(list_models("anthropic")) == 25


def test_a_registered_model_is_found_by_its_dated_name_too() -> None:
    ta.register_model(Model("anthropic", "claude-opus-5", max_output=64_000))
    assert find_model("anthropic/claude-opus-5-20260724").max_output == 64_000


def test_a_provider_may_be_registered_under_any_of_its_names() -> None:
    ta.register_model(Model("kimi", "kimi-9", max_output=7))
    assert find_model("moonshotai/kimi-9").max_output == 7


def test_a_call_s_own_model_wins_over_the_registered_one() -> None:
    ta.register_model(Model("anthropic", "claude-opus-5", max_output=64_000))
    assert find_model(Model("anthropic", "claude-opus-5", max_output=1000)).max_output == 1000


def test_only_models_with_names_are_registered() -> None:
    with pytest.raises(ConfigurationError, match="takes a Model"):
        ta.register_model("anthropic/claude-opus-5")  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="needs a provider and an id"):
        ta.register_model(Model("", "x"))


# from a file


def _file(folder: Path, models: Any) -> Path:
    path = folder / "models.json"
    path.write_text(json.dumps(models))
    return path


FULL: dict[str, Any] = {
    "provider": "lab",
    "id": "m-2",
    "protocol": "openai-chat",
    "base_url": "https://lab.example/v1",
    "dialect": {"effort": "template", "think_tags": {"open": "<t>", "close": "</t>"}, "levels": ["off", "high"]},
    "name": "M 2",
    "reasoning": True,
    "thinking": {"mode": "toggle", "native": {"off": False, "high": True}, "default_on": True},
    "input": ["text", "image"],
    "max_output": 8000,
    "context_window": 32_000,
    "prices": {
        "rates": {"input": 1, "output": 2.5},
        "tiers": [{"above": 16_000, "rates": {"input": 2}}],
        "changes": [{"since": "2027-01-01", "rates": {"output": 3}}],
    },
    "unsure": ["max_output"],
}


def test_a_file_of_models_is_loaded_and_registered(tmp_path: Path) -> None:
    [model] = load_models(_file(tmp_path, {"models": [FULL]}))
    assert model.thinking is not None
    assert model.thinking.levels == (OFF, HIGH)
    assert model.dialect is not None
    assert model.dialect.think_tags == ta.ThinkTags("<t>", "</t>")
    assert model.prices is not None
    assert model.prices.rates.input == 1.0
    assert find_model("lab/m-2") == model
    assert ta.prepare("lab/m-2", "hi", reasoning="off").body["chat_template_kwargs"] == {"enable_thinking": False}


def test_levels_stand_in_order_however_a_file_has_them(tmp_path: Path) -> None:
    thinking = {"mode": "effort", "native": {"high": "hi", "low": "lo"}}
    [model] = load_models(_file(tmp_path, {"models": [{"provider": "lab", "id": "x", "thinking": thinking}]}))
    assert model.thinking is not None
    assert model.thinking.levels == (LOW, HIGH)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"maxoutput": 5}, ["models[1].maxoutput", "max_output"]),
        ({"max_output": "5"}, ["models[1].max_output", "whole number", "str"]),
        ({"max_output": True}, ["models[1].max_output", "whole number", "bool"]),
        ({"max_output": -5}, ["models[1].max_output", "from 0 up"]),
        ({"reasoning": "yes"}, ["models[1].reasoning", "true or false"]),
        ({"name": 5}, ["models[1].name", "a text"]),
        ({"id": None}, ["models[1].id"]),
        ({"input": "text"}, ["models[1].input", "a list"]),
        ({"input": ["text", "smell"]}, ["models[1].input[1]", "'smell'", "image"]),
        ({"thinking": []}, ["models[1].thinking", "an object"]),
        ({"thinking": {}}, ["models[1].thinking.mode", "missing"]),
        ({"thinking": {"mode": "loud"}}, ["models[1].thinking.mode", "'loud'", "adaptive"]),
        ({"thinking": {"mode": "effort", "levels": ["ultra"]}}, ["models[1].thinking.levels[0]", "'ultra'"]),
        ({"thinking": {"mode": "effort", "native": {"ultra": "u"}}}, ["models[1].thinking.native", "'ultra'"]),
        ({"thinking": {"mode": "effort", "native": {"low": []}}}, ["models[1].thinking.native.low", "list"]),
        (
            {"thinking": {"mode": "effort", "levels": ["low"], "native": {"high": "h"}}},
            ["models[1].thinking.native", "'high'", "levels"],
        ),
        ({"prices": {"rates": {"input": "cheap"}}}, ["models[1].prices.rates.input", "a number"]),
        ({"prices": {"rates": {"input": float("nan")}}}, ["models[1].prices.rates.input", "nan"]),
        ({"prices": {"rates": {"input": -1}}}, ["models[1].prices.rates.input", "from 0 up"]),
        ({"prices": {"rates": {"input": 10**400}}}, ["models[1].prices.rates.input", "from 0 up"]),
        (
            {"prices": {"rates": {}, "changes": [{"since": "soon", "rates": {}}]}},
            ["models[1].prices.changes[0].since", "'soon'", "2026-12-01"],
        ),
        ({"prices": {"rates": {}, "tiers": [{"rates": {}}]}}, ["models[1].prices.tiers[0].above", "missing"]),
        ({"dialect": {"effort": "shout"}}, ["models[1].dialect.effort", "'shout'"]),
    ],
)
def test_a_wrong_field_is_named_by_its_place_and_nothing_is_registered(
    tmp_path: Path, change: dict[str, Any], words: list[str]
) -> None:
    path = _file(tmp_path, {"models": [FULL, {"provider": "lab", "id": "x", **change}]})
    with pytest.raises(ConfigurationError) as caught:
        load_models(path)
    assert "models.json" in str(caught.value)
    for word in words:
        assert word in str(caught.value)
    assert catalog._registered == {}


@pytest.mark.parametrize(
    "text", ["", "[]", '{"models": {}}', "{", "[" * 100_000, "\ud800".encode("utf-8", "surrogatepass")]
)
def test_a_file_that_holds_no_models_is_refused(tmp_path: Path, text: str | bytes) -> None:
    path = tmp_path / "models.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ConfigurationError, match=r"models\.json"):
        load_models(path)


def test_a_file_that_is_not_there_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load_models(tmp_path / "none.json")
