"""The guide's table of notices tells codes that there are, with the facts that they have."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import thinkaloud as ta
from thinkaloud.testing import Failure, MemoryTransport, Scripted, no_backoff

ROOT = Path(__file__).parent.parent


def told() -> dict[str, set[str]]:
    """The rows of the table: each code with the keys of its detail."""
    text = (ROOT / "docs" / "errors-and-retries.md").read_text().partition("### What notices tell")[2]
    rows = re.findall(r"^\| (`.+?) \| .*? \| (.*)\|$", text.partition("###")[0], re.MULTILINE)
    words = [(re.findall(r"`(\w+)`", codes), set(re.findall(r"`(\w+)`", keys))) for codes, keys in rows]
    return {code: keys for codes, keys in words for code in codes}


def test_each_code_of_the_table_is_one_of_the_code() -> None:
    sources = (path for path in (ROOT / "src" / "thinkaloud").rglob("*.py") if "testing" not in path.parts)
    nodes = (node for path in sources for node in ast.walk(ast.parse(path.read_text())))
    literals = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    assert len(told()) >= 20
    assert told().keys() <= literals


@pytest.mark.anyio
async def test_a_retry_and_a_fallback_have_the_facts_of_the_table() -> None:
    script = Scripted([Failure(529), Failure(529), "Blue."])
    async with ta.Client(
        api_key={"anthropic": "none", "openai": "none"}, transport=MemoryTransport(script), retries=1
    ) as client:
        with no_backoff():
            message = await client.complete("anthropic/claude-opus-5", "Hi", fallbacks=["openai/gpt-5.2"])
    assert {notice.code: set(notice.detail) for notice in message.notices} == {
        code: told()[code] for code in ("retrying", "fallback")
    }


def test_a_level_that_was_changed_has_the_facts_of_the_table() -> None:
    (notice,) = ta.prepare("anthropic/claude-haiku-4-5", "Hi", reasoning="max").notices
    assert set(notice.detail) == told()[notice.code]
