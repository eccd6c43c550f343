"""Every model that the catalog knows, with its facts."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

from support.shared import shared_folder
from thinkaloud.levels import ThinkingLevel
from thinkaloud.models.model import Model, ThinkingControl


def catalogued(protocol: str) -> list[Model]:
    """The models that are reached over a protocol, in the catalog's order."""
    try:
        listed: list[Model] = list(import_module("thinkaloud.models.catalog").list_models())
    except ImportError:
        listed = _of_the_shared_file()
    return [model for model in listed if model.protocol == protocol]


def _of_the_shared_file() -> list[Model]:
    folder = shared_folder()
    if folder is None:
        return []
    return [_model(row) for row in json.loads((folder / "catalog" / "models.json").read_text("utf-8"))["models"]]


def _model(row: dict[str, Any]) -> Model:
    return Model(
        row["provider"],
        row["id"],
        protocol=row["api"],
        reasoning=row["reasoning"],
        thinking=_control(row["thinking"]),
        max_output=row["max_output"],
        unsure=tuple(row.get("unsure", ())),
    )


def _control(told: dict[str, Any]) -> ThinkingControl | None:
    if told["mode"] == "none":
        return None
    budget, cap = told.get("budget", {}), told.get("effort_cap_when_off")
    words = told.get("effort_param", "").partition(": ")[2]
    return ThinkingControl(
        mode=told["mode"],
        levels=tuple(map(ThinkingLevel, told["levels"])),
        native={ThinkingLevel(level): value for level, value in told["native"].items()},
        default_on=told["default_on"],
        min_budget=budget.get("min"),
        max_budget=budget.get("max"),
        dynamic_budget=budget.get("dynamic"),
        budget_accepted=told.get("budget_accepted", False),
        effort_levels=tuple(map(ThinkingLevel, words.split(", "))) if words else (),
        effort_cap_when_off=None if cap is None else ThinkingLevel(cap),
        param=told.get("param"),
        off_param=told.get("off_param"),
    )
