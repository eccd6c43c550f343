"""Token counts of Gemini in the library's one meaning: thoughts and the results of server tools come on top here."""

from __future__ import annotations

from thinkaloud.usage import Usage

COUNTS = (
    "promptTokenCount",
    "candidatesTokenCount",
    "thoughtsTokenCount",
    "cachedContentTokenCount",
    "toolUsePromptTokenCount",
)


def usage_of(counts: dict[str, int]) -> Usage:
    """The usage that these counts tell. What is missing stays unknown."""
    get = counts.get
    thoughts = get("thoughtsTokenCount")
    return Usage(
        _sum(get("promptTokenCount"), get("toolUsePromptTokenCount")),
        _sum(get("candidatesTokenCount"), thoughts),
        thoughts,
        get("cachedContentTokenCount"),
    )


def _sum(a: int | None, b: int | None) -> int | None:
    if a is None or b is None:
        return b if a is None else a
    return a + b
