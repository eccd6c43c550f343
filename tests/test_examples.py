"""The examples run, against a scripted model on the loopback interface."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from support.program import clean_environment

ROOT = Path(__file__).parent.parent


def _run_example(name: str, *arguments: str) -> str:
    command = [sys.executable, str(ROOT / "examples" / name), *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, env=clean_environment(), check=False)
    assert ended.stderr == ""
    assert ended.returncode == 0
    return ended.stdout


def test_the_stream_example_shows_thinking_then_the_answer_then_the_call() -> None:
    shown = _run_example("stream.py", "--local")
    places = [shown.index(part) for part in ("[thinking]", "Twice as many", "[answer]", "Fourteen", "[tool call]")]
    assert places == sorted(places)


def test_the_turn_two_example_sends_stored_thinking_back() -> None:
    shown = _run_example("turn_two.py", "--local")
    assert "signature dGhlIGdhcHM" in shown
    assert "[turn two] Did you count along?" in shown


def test_an_example_without_a_key_says_which_one_it_wants() -> None:
    command = [sys.executable, str(ROOT / "examples" / "stream.py"), "anthropic/claude-opus-5"]
    ended = subprocess.run(command, capture_output=True, text=True, env=clean_environment(), check=False)
    assert ended.returncode == 1
    assert "ANTHROPIC_API_KEY" in ended.stderr
