"""The examples run, against a scripted model on the loopback interface."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("model", ["anthropic/claude-opus-5", "openai/gpt-5.5", "google/gemini-3.6-flash"])
def test_the_thinking_example_shows_blocks_and_signatures(model: str) -> None:
    shown = _run_example("thinking.py", "--local", model)
    signature = "none: this" if model.startswith("google") else "dGhlIGdhcHM"  # Gemini signs calls
    places = [shown.index(part) for part in ("[thinking] Twice", f"signature: {signature}", "[text] **Fourteen")]
    assert places == sorted(places)


def test_the_tools_example_holds_two_turns_that_verify() -> None:
    shown = _run_example("tools.py", "--local")
    assert shown.count("[result] The bell has struck 8 times, every 2 seconds.") == 2
    assert shown.count("[text] Did you count along?") == 2
    assert shown.count("[finished] 2 answers, 1 calls") == 2


def test_the_switch_example_goes_from_one_provider_to_another_and_back() -> None:
    shown = _run_example("switch.py", "--local")
    assert "[notice] thinking_omitted at messages[1].content[0]" in shown
    assert "[kept] thinking of anthropic, signature dGhlIGdhcHM" in shown
    assert shown.count("Did you count along?") == 3


def test_an_example_without_a_key_says_which_one_it_wants() -> None:
    command = [sys.executable, str(ROOT / "examples" / "stream.py"), "anthropic/claude-opus-5"]
    ended = subprocess.run(command, capture_output=True, text=True, env=clean_environment(), check=False)
    assert ended.returncode == 1
    assert "ANTHROPIC_API_KEY" in ended.stderr
