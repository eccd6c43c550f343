"""Fuzzes each target for some minutes of CPU time: `python -m fuzz --each 10 [--only WORD]`, inside `tests`.

Where atheris is installed, half of the time is guided by the code that inputs reach.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from time import process_time

from fuzz.running import Finding, Running
from fuzz.targets import TARGETS


def main() -> int:
    """Fuzz, and tell what was found; 1 where anything was."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--each", type=float, default=10.0, help="minutes of CPU time for each target (10)")
    parser.add_argument("--only", action="append", default=[], help="targets whose name holds this; may be repeated")
    parser.add_argument("--number", type=int, default=1, help="of the dice: the same number gives the same inputs (1)")
    parser.add_argument("--unguided", action="store_true", help="also where atheris is installed")
    arguments = parser.parse_args()
    guided = find_spec("atheris") is not None and not arguments.unguided
    lines = []
    for name in TARGETS:
        if arguments.only and not any(word in name for word in arguments.only):
            continue
        running = Running(name)
        seconds, corpus = 0.0, list[bytes]()
        if guided:
            seconds, corpus = _guided(running, arguments.each * 30)
        began = process_time()
        running.run(arguments.each * 60 - seconds, arguments.number, corpus)
        seconds += process_time() - began
        lines.append(f"{name}: {seconds / 60:.1f} min, {running.inputs} inputs, {len(running.findings)} findings")
        sys.stdout.write(f"{lines[-1]}\n")
        sys.stdout.flush()
    sys.stdout.write("\n".join(["", "In all:", *lines, ""]))
    return int(any(not line.endswith(" 0 findings") for line in lines))


def _guided(running: Running, seconds: float) -> tuple[float, list[bytes]]:
    """Fuzz in a process of its own. Gives the CPU time that was used, and the inputs that reached something new."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "fuzz.guided", running.target, str(seconds), folder]
        subprocess.run(command, check=False, stderr=subprocess.DEVNULL)
        report_file = Path(folder, "report")
        if not report_file.exists():
            sys.stdout.write(f"{running.target}: the guided part ended without a report\n")
            return 0.0, []
        report = json.loads(report_file.read_text())
        for kind, text, data, size in report["findings"]:
            running.findings[kind] = Finding(running.target, kind, text, bytes.fromhex(data), size)
        running.inputs += report["inputs"]
        corpus = [path.read_bytes() for path in Path(folder, "corpus").glob("*")]
        return float(report["seconds"]), corpus


if __name__ == "__main__":
    sys.exit(main())
