"""`thinkaloud models`: what is known about models, one a line."""

from __future__ import annotations

import argparse
import sys

from thinkaloud.cli.output import Output
from thinkaloud.cli.table import aligned
from thinkaloud.models.catalog import list_models
from thinkaloud.models.model import Model

HELP = "list the models that are known, with their sizes in tokens and prices in USD per million tokens"
_HEADING = ("MODEL", "NAME", "CONTEXT", "OUTPUT", "$ IN", "$ OUT", "THINKING")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("provider", nargs="?", metavar="PROVIDER", help="only the models of one provider")


def run(arguments: argparse.Namespace) -> int:
    """Carry the command out."""
    out = Output(sys.stdout)
    for line in aligned([_HEADING, *map(_row, list_models(arguments.provider))]):
        out.line(line)
    return 0


def _row(model: Model) -> tuple[str, ...]:
    rates = None if model.prices is None else model.prices.rates
    return (
        f"{model.provider}/{model.id}",
        model.name or "-",
        _number(model.context_window),
        _number(model.max_output),
        _number(None if rates is None else rates.input),
        _number(None if rates is None else rates.output),
        thinking(model),
    )


def thinking(model: Model) -> str:
    """How a model thinks: the mode of its control, "thinks" without one, "none" for not at all, or "unknown"."""
    if model.thinking is not None and model.reasoning is not False:
        return model.thinking.mode
    return {None: "unknown", False: "none", True: "thinks"}[model.reasoning]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
