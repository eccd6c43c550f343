"""The README and the guides say what is so: every block runs against a local model, and every name and link is there.

Blocks of a page run in order and share their names. A block in `text` behind another is what that one prints. A comment
before a block says what else is to be done with it:

    <!-- not run: REASON -->  it cannot run here
    <!-- file: NAME -->       it is written to a file, which blocks of shell may run
    <!-- needs: LIBRARY -->   it is passed over where a library of others is not installed
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

import thinkaloud
from support.docs_model import docs_model
from support.pages import DOCS, ROOT, Fence, anchors, fences, headings, links, public_names
from support.program import PROGRAM, clean_environment
from thinkaloud.cli import main
from thinkaloud.testing import serve_in_thread

README = ROOT / "README.md"
GUIDES = (
    "getting-started",
    "streaming",
    "thinking-levels",
    "conversations",
    "tools-and-runs",
    "providers",
    "persistence",
    "errors-and-retries",
    "web-backends",
    "testing",
    "migrating",
)
PAGES = [README, DOCS / "index.md", DOCS / "developing.md", *(DOCS / f"{name}.md" for name in GUIDES)]
GUIDE_HEADINGS = ["Purpose", "When to use", "How it works", "Example", "API surface", "Gotchas"]
MARKS = {"", "not run", "file", "needs"}
LANGUAGES = {"python", "sh", "json", "text", "html", "js", "http", ""}
NEVER_ENDING = {"serve", "chat", "demo"}  # of the program: they wait for people

ADDRESSES = {
    "ANTHROPIC_BASE_URL": "anthropic-messages",
    "OPENAI_BASE_URL": "openai-responses",
    "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": "bedrock-converse",
    "OLLAMA_HOST": "openai-chat",
}
KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "AWS_BEARER_TOKEN_BEDROCK", "GEMINI_API_KEY", "DEEPSEEK_API_KEY")


def _named(page: Path) -> str:
    return page.stem


@pytest.fixture
def local_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    """A model on this machine that the environment leads to, and an empty working directory."""
    monkeypatch.chdir(tmp_path)
    for name in set(os.environ) - set(clean_environment()):
        monkeypatch.delenv(name)
    with serve_in_thread(docs_model()) as server:
        for variable, protocol in ADDRESSES.items():
            monkeypatch.setenv(variable, server.base_url(protocol))
        for variable in KEYS:
            monkeypatch.setenv(variable, "none-of-yours")
        monkeypatch.setenv("AWS_REGION", "eu-west-1")
        yield server


@pytest.fixture
def own_tables(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Providers and models that a page registers are gone after it."""
    from thinkaloud.models import catalog
    from thinkaloud.models.providers import PROVIDERS

    monkeypatch.setattr(catalog, "_registered", {})
    before = dict(PROVIDERS)
    yield
    PROVIDERS.clear()
    PROVIDERS.update(before)


def _is_async(fence: Fence) -> bool:
    return fence.language == "python" and not fence.mark and ("await " in fence.code or "async " in fence.code)


def _runs() -> Iterator[tuple[Path, str]]:
    """Each page on asyncio, and those with async code of their own on trio too."""
    for page in PAGES:
        yield page, "asyncio"
        if any(map(_is_async, fences(page))):
            yield page, "trio"


RUNS = list(_runs())


@pytest.mark.usefixtures("own_tables")
@pytest.mark.parametrize(("page", "backend"), RUNS, ids=[f"{page.stem}-{backend}" for page, backend in RUNS])
def test_the_blocks_of_a_page_run_in_order(
    page: Path, backend: str, local_model: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    names: dict[str, Any] = {"__name__": "page"}
    shown = ""
    for fence in fences(page):
        where = f"{page.name}, line {fence.line}"
        if fence.language == "text" and fence.follows:
            assert shown.strip() == fence.code.strip(), where
            continue
        try:
            shown = _carried_out(fence, names, backend, capsys)
        except Exception as error:
            raise AssertionError(f"{where}: {type(error).__name__}: {error}") from error
    for name, value in list(names.items()):
        if name.startswith("test_"):
            outcome = value()
            if inspect.iscoroutine(outcome):
                anyio.run(_awaited, outcome, backend=backend)


async def _awaited(coroutine: Any) -> None:
    await coroutine


def _carried_out(fence: Fence, names: dict[str, Any], backend: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Do what a block is for, and give what it printed."""
    capsys.readouterr()
    if fence.mark == "not run" or (fence.mark == "needs" and importlib.util.find_spec(fence.said) is None):
        return ""
    if fence.mark == "file":
        Path(fence.said).write_text(fence.code)
        return ""
    if fence.language == "python":
        _run_python(fence, names, backend)
    elif fence.language == "sh":
        return "".join(_run_shell(line, capsys) for line in _commands(fence))
    elif fence.language == "json":
        json.loads(fence.code)
    return capsys.readouterr().out


def _run_python(fence: Fence, names: dict[str, Any], backend: str) -> None:
    source = "\n" * (fence.line - 1) + fence.code
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    code = compile(source, str(fence.page), "exec", flags=flags, dont_inherit=True)
    if code.co_flags & inspect.CO_COROUTINE:
        anyio.run(_awaited, eval(code, names), backend=backend)
    else:
        exec(code, names)


def _commands(fence: Fence) -> Iterator[list[str]]:
    for line in fence.code.replace("\\\n", " ").splitlines():
        for command in line.split("&&"):
            if words := shlex.split(command, comments=True):
                yield words


def _run_shell(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    program, *arguments = words
    if program == "pip":
        _check_extras(" ".join(arguments))
        return ""
    if program == "export":
        assert all("=" in word for word in arguments)
        return ""
    if program == "thinkaloud":
        if arguments[0] in NEVER_ENDING:
            with pytest.raises(SystemExit) as ended:
                main([*arguments, "--help"])
            assert ended.value.code == 0
            _check_options(arguments, capsys.readouterr().out)
            return ""
        assert main(arguments) == 0, f"{words}: {capsys.readouterr().err}"
        return capsys.readouterr().out
    if program in ("python", "pytest"):
        return _run_program(program, arguments)
    raise AssertionError(f"{program!r} is no command that is run here; mark the block as not run, with the reason")


def _check_options(arguments: list[str], told: str) -> None:
    unknown = [word for word in arguments if word.startswith("--") and word.split("=")[0] not in told]
    assert not unknown, f"thinkaloud {arguments[0]} does not know {unknown}"


def _run_program(program: str, arguments: list[str]) -> str:
    """Run what the page wrote to a file; programs of the checkout need only be there."""
    if not arguments:
        return ""
    if not Path(arguments[0]).exists():
        assert (ROOT / arguments[0]).exists(), f"{arguments[0]} is not there"
        return ""
    command = [sys.executable, *(["-m", "pytest", "-q", "-p", "no:cacheprovider"] if program == "pytest" else [])]
    own = {**os.environ, "PYTEST_ADDOPTS": ""}  # how this run is spread over workers is nothing to it
    ended = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False, env=own)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def _check_extras(text: str) -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        known = set(tomllib.load(file)["project"]["optional-dependencies"])
    for extras in re.findall(r"\[([\w,]+)\]", text):
        assert set(extras.split(",")) <= known, f"{extras} is no extra"


@pytest.mark.parametrize("page", PAGES, ids=_named)
def test_every_block_says_what_it_is_and_why_it_is_not_run(page: Path) -> None:
    for fence in fences(page):
        assert fence.language in LANGUAGES, f"line {fence.line}: {fence.language}"
        assert fence.mark in MARKS, f"line {fence.line}: {fence.mark}"
        if fence.language in ("html", "js", "http"):
            assert fence.mark == "not run", f"line {fence.line}"


def test_a_comment_that_is_no_mark_stands_nowhere() -> None:
    told = [comment for page in PAGES for comment in re.findall(r"<!-- ([\w ]+): .*? -->\n(?!```)", page.read_text())]
    assert told == []


@pytest.mark.parametrize("name", GUIDES)
def test_every_guide_has_the_same_headings(name: str) -> None:
    assert [text for level, text in headings(DOCS / f"{name}.md") if level == 2] == GUIDE_HEADINGS


def test_every_page_of_the_folder_is_known_here_and_told_in_the_index() -> None:
    there = {path.stem for path in DOCS.glob("*.md")} - {"index"}
    assert there == {*GUIDES, "developing"}
    listed = set(links(DOCS / "index.md"))
    assert {f"{name}.md" for name in there} <= listed


@pytest.mark.parametrize("page", [*PAGES, *sorted(DOCS.glob("reference/*.md"))], ids=_named)
def test_links_lead_somewhere(page: Path) -> None:
    for link in links(page):
        if link.startswith("https://"):
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("page", PAGES, ids=_named)
def test_what_a_page_calls_by_name_is_public(page: Path) -> None:
    assert public_names(page) <= set(thinkaloud.__all__) | {"testing", "ui"}


def test_the_readme_opens_with_a_sentence_and_two_commands() -> None:
    title, sentence, *_ = README.read_text().split("\n\n")
    assert title == "# thinkaloud"
    assert sentence.count(".") == 1
    assert [fence.code.strip() for fence in fences(README)][:2] == [
        'pip install ".[cli]" && thinkaloud demo',
        'pip install -e ".[test]" && pytest',
    ]


def test_every_provider_stands_in_the_table_of_the_guide() -> None:
    from thinkaloud.models.providers import PROVIDERS

    table = (DOCS / "providers.md").read_text().split("## API surface")[0]
    assert [name for name in PROVIDERS if f"`{name}`" not in table] == []


def test_every_variable_that_holds_an_address_stands_in_the_guide() -> None:
    from thinkaloud.models.providers import PROVIDERS

    guide = (DOCS / "providers.md").read_text()
    surfaces: list[Any] = [surface for row in PROVIDERS.values() for surface in (row, *row.surfaces)]
    variables = {surface.base_url_variable for surface in surfaces if surface.base_url_variable}
    assert "OPENAI_BASE_URL" in variables
    assert {name for name in variables if f"`{name}`" not in guide} == set()


@pytest.mark.parametrize("page", [README, DOCS / "providers.md"], ids=_named)
def test_the_number_of_models_is_that_of_the_catalog(page: Path) -> None:
    [told] = re.findall(r"(\d+) models", page.read_text())
    assert int(told) == len(thinkaloud.list_models())


def test_the_page_about_developing_names_what_is_there() -> None:
    table = (DOCS / "developing.md").read_text().split("## Where things are")[1].split("\n## ")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    source = ROOT / "src" / "thinkaloud"
    assert [name for row in rows for name in re.findall(r"`([^`]+)`", row) if not (source / name).exists()] == []


def test_the_reference_is_what_the_docstrings_say() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "build_reference.py"), "--check"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_the_program_that_is_installed_is_the_one_that_the_pages_run() -> None:
    assert PROGRAM.exists()
