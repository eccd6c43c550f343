"""What an installed copy brings along: metadata, extras, types, the program, and every library that is imported."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import distribution, entry_points
from itertools import chain
from pathlib import Path
from typing import Any

import thinkaloud
from thinkaloud.cli import main

ROOT = Path(__file__).parent.parent
SOURCE = Path(thinkaloud.__file__).parent


def _project() -> dict[str, Any]:
    with (ROOT / "pyproject.toml").open("rb") as file:
        project: dict[str, Any] = tomllib.load(file)["project"]
    return project


def _names(requirements: list[str]) -> set[str]:
    return {re.split(r"[\[<>=;~! ]", requirement)[0] for requirement in requirements}


def test_the_installed_version_is_the_one_of_this_checkout() -> None:
    assert distribution("thinkaloud").version == _project()["version"]


def test_the_program_is_an_entry_point() -> None:
    [program] = entry_points(group="console_scripts", name="thinkaloud")
    assert program.load() is main


def test_the_package_says_that_it_is_typed() -> None:
    assert (SOURCE / "py.typed").is_file()


def test_the_facts_about_models_are_part_of_the_package() -> None:
    assert (SOURCE / "models" / "catalog.json").is_file()


def test_the_extras_are_these() -> None:
    assert set(_project()["optional-dependencies"]) == {"cli", "fast", "httpx2", "bedrock", "otel", "vertex", "test"}
    assert set(distribution("thinkaloud").metadata.get_all("Provides-Extra") or ()) == set(
        _project()["optional-dependencies"]
    )


def test_every_requirement_has_a_lower_bound_and_no_upper_one() -> None:
    project = _project()
    requirements = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    bounded = [requirement for requirement in requirements if not requirement.startswith("thinkaloud[")]
    assert [requirement for requirement in bounded if not re.fullmatch(r"[\w-]+>=[\d.]+", requirement)] == []


def test_every_library_that_is_imported_is_required_by_the_project() -> None:
    project = _project()
    extras = project["optional-dependencies"]
    required = _names(project["dependencies"]) | _names(extras["cli"] + extras["fast"] + extras["httpx2"])
    assert _imported(SOURCE) - {"thinkaloud"} <= required


def test_the_tests_need_no_more_than_the_test_extra_says() -> None:
    project = _project()
    extras = project["optional-dependencies"]
    required = _names(project["dependencies"] + extras["test"] + extras["cli"] + extras["fast"] + extras["httpx2"])
    of_ours = {"thinkaloud", *(path.stem.replace("_", "-") for path in (ROOT / "tests").iterdir())}
    oracles = {
        "anthropic",
        "openai",
        "google",
        "botocore",
        "pydantic",
    }  # the official SDKs; tests that need them are skipped where they are missing
    imported = {name.lstrip("_").replace("_", "-") for name in _imported(ROOT / "tests")}
    assert imported - of_ours - oracles <= required


def test_the_changelog_has_a_part_for_this_version() -> None:
    assert f"## [{_project()['version']}]" in (ROOT / "CHANGELOG.md").read_text()


def _imported(folder: Path) -> set[str]:
    """The packages that are imported anywhere in a folder, those of the standard library left out."""
    packages: set[str] = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                packages.update(alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                packages.add(node.module.partition(".")[0])
    return packages - set(sys.stdlib_module_names)
