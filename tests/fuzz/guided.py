"""Fuzzes one target guided by what code its inputs reach: `python -m fuzz.guided TARGET SECONDS FOLDER`, needs atheris.

The folder gets the inputs that reached something new, and `report` with what came of it.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import sys
import traceback
import zlib
from pathlib import Path
from random import Random
from time import process_time
from typing import Any, NoReturn

atheris: Any = importlib.import_module("atheris")  # no requirement of ours

_LARGEST = 60_000
_NEVER = 1_000_000  # seconds; what takes too long is found by its CPU time


def main() -> None:
    """Fuzz until the CPU time is used up."""
    name, seconds, folder = sys.argv[1], float(sys.argv[2]), Path(sys.argv[3])
    with atheris.instrument_imports(include=["thinkaloud"]):
        import thinkaloud

        for package in ("wire", "protocols", "ui", "typed", "history", "transport", "models"):
            importlib.import_module(f"thinkaloud.{package}")
        for module in pkgutil.walk_packages(thinkaloud.__path__, "thinkaloud."):
            if ".cli" not in module.name and not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    from fuzz.damage import damaged
    from fuzz.running import PIECES, Running
    from fuzz.targets import TARGETS

    running, seeds = Running(name), TARGETS[name].seeds()
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, body in enumerate(seeds.bodies):
        (corpus / f"seed{number}").write_bytes(body)
    began = process_time()

    def end() -> NoReturn:
        found = [[f.kind, f.text, f.data.hex(), f.size] for f in running.findings.values()]
        report = {"seconds": process_time() - began, "inputs": running.inputs, "findings": found}
        (folder / "report").write_text(json.dumps(report))
        sys.stdout.flush()
        os._exit(0)

    def one(data: bytes) -> None:
        running.attempt(data, PIECES[zlib.crc32(data) % len(PIECES)])
        if process_time() - began > seconds:
            end()

    def mutate(data: bytes, most: int, number: int) -> Any:
        try:
            return damaged(Random(number), data, seeds)[:most]
        except Exception:  # a fault of the fuzzing itself, after which the library that guides it would hang
            traceback.print_exc(file=sys.stdout)
            end()

    options = [
        f"-max_len={_LARGEST}",
        f"-timeout={_NEVER}",
        "-rss_limit_mb=0",
        "-verbosity=0",
        "-handle_int=0",
        "-len_control=0",
    ]
    atheris.Setup([sys.argv[0], *options, str(corpus)], one, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
