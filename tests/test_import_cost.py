"""What `import thinkaloud` loads: nothing that a user does not need yet."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {
    "anthropic",
    "botocore",
    "cattrs",
    "google",
    "h11",
    "httpcore",
    "httpcore2",
    "httpx",
    "httpx2",
    "openai",
    "pydantic",
    "rich",
    "ssl",
    "trio",
}


def _loaded_by(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


@pytest.mark.parametrize("module", ["thinkaloud", "thinkaloud.cli", "thinkaloud.client", "thinkaloud.plan"])
def test_importing_loads_no_http_library_and_nothing_optional(module: str) -> None:
    loaded = _loaded_by(f"import {module}")
    assert "thinkaloud" in loaded
    assert not loaded & HEAVY


def test_the_package_alone_does_not_even_load_its_own_vocabulary() -> None:
    assert not _loaded_by("import thinkaloud") & {"anyio", "attr", "attrs", "json", "orjson"}


def test_having_every_public_name_loads_no_http_library_either() -> None:
    loaded = _loaded_by("from thinkaloud import *\nassert Client and complete_sync and parse")
    assert not loaded & HEAVY


def test_preparing_a_request_loads_no_http_library_either() -> None:
    loaded = _loaded_by("import thinkaloud\nthinkaloud.prepare('anthropic/claude-opus-5', 'Hi', reasoning='high')")
    assert not loaded & HEAVY


def test_parsing_a_captured_answer_loads_no_http_library_either() -> None:
    body = b'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n'
    loaded = _loaded_by(f"import thinkaloud\nassert thinkaloud.parse('openai-chat', [{body!r}]).text == 'Hi'")
    assert not loaded & HEAVY


def test_the_check_would_see_an_http_library() -> None:
    assert _loaded_by("import httpx, rich") & HEAVY >= {"httpx", "rich"}
