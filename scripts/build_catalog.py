"""Builds the catalog that the library ships from a table of facts about models.

    python scripts/build_catalog.py PATH/TO/models.json

Writes src/thinkaloud/models/catalog.json: one model a line, in the terms of `thinkaloud.models.model.Model`, and only
what the library uses. What the table leaves open about caches is filled in by the providers' own rules, see `_rates`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parent.parent / "src" / "thinkaloud" / "models" / "catalog.json"

Row = dict[str, Any]

# Names of facts: the table's and ours.
_UNSURE = {
    "price_per_mtok": ("prices",),
    "api": ("protocol",),
    "thinking.budget": ("thinking.min_budget", "thinking.max_budget"),
}
_CACHES = ("cache_read", "cache_write", "cache_write_1h")


def main(arguments: list[str]) -> int:
    """Build the file, and say how many models are in it."""
    if len(arguments) != 1:
        sys.stderr.write("usage: build_catalog.py PATH/TO/models.json\n")
        return 2
    table = json.loads(Path(arguments[0]).read_text("utf-8"))
    TARGET.write_text(catalog(table), "utf-8")
    sys.stdout.write(f"{len(table['models'])} models in {TARGET}\n")
    return 0


def catalog(table: Row) -> str:
    """The text of the file."""
    lines = ",\n".join(json.dumps(model(row), separators=(",", ":"), ensure_ascii=False) for row in table["models"])
    head = json.dumps({"schema": 1, "updated": table["updated"]}, separators=(",", ":"))
    return f'{head[:-1]},"models":[\n{lines}\n]}}\n'


def model(row: Row) -> Row:
    """One model in the terms of `Model`."""
    facts = {
        "provider": row["provider"],
        "id": row["id"],
        "protocol": row["api"],
        "name": row["name"],
        "reasoning": row["reasoning"],
        "thinking": None if row["thinking"]["mode"] == "none" else thinking(row["thinking"]),
        "input": row["input"],
        "max_output": row["max_output"],
        "context_window": row["context_window"],
        "prices": prices(row),
        "unsure": [name for fact in row["unsure"] for name in _UNSURE.get(fact, (fact,))],
    }
    return {name: value for name, value in facts.items() if value not in (None, [])}


def thinking(control: Row) -> Row:
    """How thinking is steered, in the terms of `ThinkingControl`; its levels are those that have a native value."""
    assert list(control["native"]) == control["levels"]
    assert control["can_disable"] == ("off" in control["levels"])
    budget = control.get("budget") or {}
    facts = {
        "mode": control["mode"],
        "native": control["native"],
        "default_on": control["default_on"],
        "min_budget": budget.get("min"),
        "max_budget": budget.get("max"),
        "dynamic_budget": budget.get("dynamic"),
        "budget_accepted": control.get("budget_accepted", False),
        "effort_levels": effort_levels(control.get("effort_param")),
        "effort_cap_when_off": control.get("effort_cap_when_off"),
        "param": control.get("param"),
        "off_param": control.get("off_param"),
    }
    return {name: value for name, value in facts.items() if name == "mode" or value not in (None, [], {}, False)}


def effort_levels(text: str | None) -> list[str]:
    """The words after the colon of "...also accepted: low, medium, high"."""
    return [] if text is None else [word.strip() for word in text.partition(":")[2].split(",")]


def prices(row: Row) -> Row | None:
    """The prices, in the terms of `Prices`; None where none is known."""
    base = _rates(row, row["price_per_mtok"], {})
    if not base:
        return None
    found: Row = {"rates": base}
    if tiers := row.get("price_tiers"):
        found["tiers"] = [{"above": tier["input_tokens_above"], "rates": _rates(row, tier, base)} for tier in tiers]
    if changes := row.get("price_changes"):
        found["changes"] = [{"since": change["from"], "rates": _rates(row, change, base)} for change in changes]
    return found


def _rates(row: Row, given: Row, base: Row) -> Row:
    """Rates of a row, a tier or a change. What is left open about caches follows from the price of input.

    Claude's hosts charge 1.25 times the input for a write that lives five minutes, and twice the input for one that
    lives an hour (Anthropic's documentation). Where a tier or a change names a new price of input alone, its caches
    keep their ratio to it, as in all rows that name both. A cache read for nothing, where the base has no price for
    it, is a gap of the source and no price.
    """
    rates = {name: float(given[name]) for name in ("input", "output", *_CACHES) if given.get(name) is not None}
    if base and "cache_read" not in base and rates.get("cache_read") == 0:
        del rates["cache_read"]
    if "input" not in rates:
        return rates
    if base:
        for name in _CACHES:
            if name in base and name not in rates:
                rates[name] = round(rates["input"] * base[name] / base["input"], 6)
    elif "claude" in row["id"]:
        rates.setdefault("cache_write", round(rates["input"] * 1.25, 6))
        rates.setdefault("cache_write_1h", rates["input"] * 2)
    return rates


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
