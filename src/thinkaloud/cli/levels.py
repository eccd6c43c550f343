"""`thinkaloud levels`: what becomes of each thinking level at a model, or the levels of all models."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from thinkaloud.cli.arguments import WrongUse
from thinkaloud.cli.models import thinking
from thinkaloud.cli.output import Output
from thinkaloud.cli.table import aligned
from thinkaloud.levels import ThinkingLevel, clamp_level
from thinkaloud.model_levels import supported_thinking_levels
from thinkaloud.models.catalog import list_models
from thinkaloud.models.model import Model
from thinkaloud.models.resolve import find_model

HELP = "show what becomes of each thinking level at a model, or the levels of all models"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("model", nargs="?", metavar="MODEL", help="as provider/model")
    parser.add_argument("--all", action="store_true", help="every model that is known, with its levels")


def run(arguments: argparse.Namespace) -> int:
    """Carry the command out."""
    if arguments.all == (arguments.model is not None):
        raise WrongUse("give a model, or --all")
    out = Output(sys.stdout)
    for line in _all() if arguments.all else _one(find_model(arguments.model)):
        out.line(line)
    return 0


def _all() -> Iterator[str]:
    rows = [(f"{model.provider}/{model.id}", thinking(model), _words(model)) for model in list_models()]
    return aligned([("MODEL", "THINKING", "LEVELS"), *rows])


def _words(model: Model) -> str:
    return " ".join(level.value for level in supported_thinking_levels(model)) or "-"


def _one(model: Model) -> Iterator[str]:
    levels = supported_thinking_levels(model)
    yield f"{model.provider}/{model.id}: {_told(model, levels)}"
    if not levels:
        return
    native = {} if model.thinking is None else model.thinking.native
    rows = [("ASKED", "SENT", "AS")]
    for level in ThinkingLevel:
        sent = clamp_level(level, levels)
        value = None if sent is None else native.get(sent)
        rows.append((level.value, "-" if sent is None else sent.value, "-" if value is None else str(value)))
    yield from aligned(rows)


_TOLD = {
    "unknown": "nothing is known of it",
    "none": "does not think; levels are passed over",
    "always_on": "thinks as it likes; no level steers it",
    "thinks": "thinks; how it is steered is not known",
}


def _told(model: Model, levels: tuple[ThinkingLevel, ...]) -> str:
    mode = thinking(model)
    if not levels:
        return _TOLD.get(mode, f"{mode}, without levels")
    if model.thinking is None:
        known = "nothing is known of it" if mode == "unknown" else "it thinks"
        return f"{known}; these are the levels of its family or its endpoint"
    return f"{mode}; {'thinks' if model.thinking.default_on else 'does not think'} when no level is asked"
