"""The file of facts: every row of the table is in it as the table has it, and it is read when it is needed."""

from __future__ import annotations

import json
import os
import pkgutil
import subprocess
import sys
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import thinkaloud as ta
from thinkaloud import ThinkingLevel, find_model, list_models
from thinkaloud.models import catalog
from thinkaloud.models.ids import stem

ROOT = Path(__file__).parent.parent
SHARED = os.environ.get("THINKALOUD_SHARED")
TABLE = Path(SHARED or "") / "catalog" / "models.json"
needs_table = pytest.mark.skipif(
    SHARED is None or not TABLE.is_file(), reason="THINKALOUD_SHARED does not name a folder with the table of models"
)


@cache
def shipped() -> dict[str, Any]:
    data = pkgutil.get_data("thinkaloud.models", "catalog.json")
    assert data is not None
    table: dict[str, Any] = json.loads(data)
    return table


@cache
def rows() -> dict[tuple[str, str], dict[str, Any]]:
    return {(row["provider"], row["id"]): row for row in json.loads(TABLE.read_text("utf-8"))["models"]}


def build_script() -> ModuleType:
    spec = spec_from_file_location("build_catalog", ROOT / "scripts" / "build_catalog.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_file_is_json_with_one_model_on_a_line_and_every_line_is_found() -> None:
    keys = [(row["provider"], row["id"]) for row in shipped()["models"]]
    assert list(catalog._rows()) == keys
    assert len(set(keys)) == len(keys) == 342


def test_every_row_reads_as_a_model() -> None:
    models = list_models()
    assert len([model for model in models if model.reasoning]) == 299
    for model in models:
        assert model.protocol is not None
        assert model.reasoning is (model.thinking is not None)
        if model.thinking is not None:
            assert list(model.thinking.levels) == sorted(model.thinking.levels)
            assert set(model.thinking.native) == set(model.thinking.levels)


def test_models_that_think_without_a_control_have_no_levels() -> None:
    uncontrolled = [model for model in list_models() if model.reasoning and not ta.supported_thinking_levels(model)]
    assert len(uncontrolled) == 34
    for model in uncontrolled:
        assert find_model(f"{model.provider}/{model.id}").reasoning is True
        assert ta.clamp_thinking_level(model, "high") is None


def test_no_two_models_with_different_facts_have_the_same_stem() -> None:
    found: dict[tuple[str, str], list[ta.Model]] = {}
    for model in list_models():
        found.setdefault((model.provider, stem(model.provider, model.id)), []).append(model)
    for same in found.values():
        assert len({(model.reasoning, model.protocol, repr(model.thinking)) for model in same}) == 1, same


def test_importing_and_preparing_without_a_lookup_reads_no_file() -> None:
    script = (
        "import thinkaloud as ta\nfrom thinkaloud.models import catalog\nta.Client, ta.prepare\n"
        "assert catalog._rows.cache_info().currsize == 0\n"
        "ta.find_model('anthropic/claude-opus-5')\n"
        "assert catalog._row.cache_info().currsize <= 2, catalog._row.cache_info()\n"
        "assert catalog._stems.cache_info().currsize == 0"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


# against the table


@needs_table
def test_the_file_is_what_the_script_makes_of_the_table() -> None:
    text = build_script().catalog(json.loads(TABLE.read_text("utf-8")))
    data = pkgutil.get_data("thinkaloud.models", "catalog.json")
    assert data == text.encode()


@needs_table
@pytest.mark.parametrize("name", [f"{provider}/{id}" for provider, id in catalog._rows()])
def test_every_model_is_as_the_table_has_it(name: str) -> None:
    provider, _, id = name.partition("/")
    row, model = rows()[provider, id], find_model(name)
    control = row["thinking"]
    assert (model.protocol, model.name, model.reasoning) == (row["api"], row["name"], row["reasoning"])
    assert (model.max_output, model.context_window) == (row["max_output"], row["context_window"])
    assert list(model.input or ()) == row["input"]
    assert [level.value for level in ta.supported_thinking_levels(name)] == control["levels"]
    if control["mode"] == "none":
        assert model.thinking is None
    else:
        found = model.thinking
        assert found is not None
        assert {level.value: value for level, value in found.native.items()} == control["native"]
        assert (found.mode, found.default_on, found.can_disable) == (
            control["mode"],
            control["default_on"],
            control["can_disable"],
        )
        assert (found.param, found.off_param) == (control.get("param"), control.get("off_param"))
        budget = control.get("budget") or {}
        assert (found.min_budget, found.max_budget, found.dynamic_budget) == (
            budget.get("min"),
            budget.get("max"),
            budget.get("dynamic"),
        )
        cap = control.get("effort_cap_when_off")
        assert found.effort_cap_when_off == (None if cap is None else ThinkingLevel(cap))
    prices = row["price_per_mtok"]
    for kind in ("input", "output", "cache_read"):
        assert (None if model.prices is None else getattr(model.prices.rates, kind)) == prices[kind]
    tiers = () if model.prices is None else model.prices.tiers
    assert [(tier.above, tier.rates.input, tier.rates.output) for tier in tiers] == [
        (tier["input_tokens_above"], tier["input"], tier["output"]) for tier in row.get("price_tiers", [])
    ]
    changes = () if model.prices is None else model.prices.changes
    assert [(change.since.isoformat(), change.rates.input) for change in changes] == [
        (change["from"], change["input"]) for change in row.get("price_changes", [])
    ]
