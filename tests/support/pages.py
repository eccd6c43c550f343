"""Reads pages of Markdown for tests: their fenced blocks with the marks before them, headings, links and names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen

ROOT = Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"

_FENCE = re.compile(r"^(?:<!-- (\w[\w ]*): ([^\n]+?) -->\n)?```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^(#+) (.+)$", re.MULTILINE)
_LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")
_NAME = re.compile(r"(?<![\w.`])ta\.([A-Za-z_]\w*)")


@frozen
class Fence:
    """One fenced block.

    line: where its code begins.
    mark, said: the comment before it, such as `<!-- not run: it needs an account -->`; "" without one.
    follows: it stands right behind the block before it, with nothing but blank lines between.
    """

    page: Path
    line: int
    language: str
    code: str
    mark: str
    said: str
    follows: bool


def fences(page: Path) -> list[Fence]:
    """All fenced blocks of a page, in order."""
    text = page.read_text()
    found: list[Fence] = []
    end = -1
    for match in _FENCE.finditer(text):
        mark, said, language, code = match.group(1) or "", match.group(2) or "", match.group(3), match.group(4)
        follows = end >= 0 and not text[end : match.start()].strip()
        line = text.count("\n", 0, match.start(4)) + 1
        found.append(Fence(page, line, language, code, mark, said, follows))
        end = match.end()
    return found


def prose(page: Path) -> str:
    """The page without its fenced blocks."""
    return _FENCE.sub("", page.read_text())


def headings(page: Path) -> list[tuple[int, str]]:
    """Level and text of every heading."""
    return [(len(marks), text.strip()) for marks, text in _HEADING.findall(prose(page))]


def anchors(page: Path) -> set[str]:
    """What a link to a heading of the page may end in."""
    kept = (re.sub(r"[^\w\- ]", "", text.lower()) for _, text in headings(page))
    return {text.replace(" ", "-") for text in kept}


def links(page: Path) -> Iterator[str]:
    """Where the links of a page lead."""
    yield from _LINK.findall(prose(page))


def public_names(page: Path) -> set[str]:
    """What the page, prose and code, calls by `ta.`."""
    return set(_NAME.findall(page.read_text()))
