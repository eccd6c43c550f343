"""The `thinkaloud` program: watch a model think, ask one, replay a captured answer, serve scripted ones."""

from thinkaloud.cli.program import main

__all__ = ["main"]
