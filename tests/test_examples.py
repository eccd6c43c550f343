"""The examples and every block of Python in the README run, against a scripted model on the loopback interface."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.program import clean_environment
from thinkaloud.testing import demo_script, serve_in_thread

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def _blocks(language: str) -> Iterator[str]:
    """The fenced blocks of a language, each moved down to the line where it stands in the README."""
    for found in FENCE.finditer(README):
        if found.group(1) == language:
            yield "\n" * README.count("\n", 0, found.start(2)) + found.group(2)


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


def test_the_readme_opens_with_a_sentence_and_two_commands() -> None:
    title, sentence, *_ = README.split("\n\n")
    assert title == "# thinkaloud"
    assert sentence.count(".") == 1
    assert [found.group(2).strip() for found in FENCE.finditer(README)][:2] == [
        'pip install ".[cli]" && thinkaloud demo',
        'pip install -e ".[test]" && pytest',
    ]


@pytest.mark.anyio
async def test_the_blocks_of_the_readme_run_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    names: dict[str, Any] = {}
    blocks = list(_blocks("python"))
    with serve_in_thread(demo_script()) as server:
        for provider, protocol in (("ANTHROPIC", "anthropic-messages"), ("OPENAI", "openai-chat")):
            monkeypatch.setenv(f"{provider}_API_KEY", "none")
            monkeypatch.setenv(f"{provider}_BASE_URL", server.base_url(protocol))
        for block in blocks:
            code = compile(block, "README.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            running = eval(code, names)
            if inspect.isawaitable(running):
                await running
    tests = [value for name, value in names.items() if name.startswith("test_")]
    for test in tests:
        await test()
    assert len(blocks) >= 12
    assert len(server.requests) >= 8
    assert len(tests) == 1


def test_every_file_and_folder_that_the_readme_names_is_there() -> None:
    table = README.split("## Where things are")[1].split("## ")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    named = [name for row in rows for name in re.findall(r"`([^`]+)`", row)]
    source = ROOT / "src" / "thinkaloud"
    assert [name for name in named if not (source / name).exists()] == []
    shown = {path.name + "/" * path.is_dir() for path in source.iterdir()} - {"__init__.py", "py.typed", "__pycache__/"}
    assert shown - set(named) <= {
        "attempts.py",
        "cost.py",
        "digests.py",
        "fragments.py",
        "model_levels.py",
        "stored.py",
    }


def test_every_option_that_the_readme_names_is_known_to_the_program() -> None:
    program = README.split("## The program")[1].split("## ")[0]
    options = set(re.findall(r"(--[a-z-]+)", program))
    source = "".join(path.read_text() for path in (ROOT / "src" / "thinkaloud" / "cli").glob("*.py"))
    assert {option for option in options if f'"{option}"' not in source} == set()
