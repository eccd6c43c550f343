"""The many names of one model: dated snapshots, regions, variants and hosts' prefixes around the id of a catalog row.

Pure text, by table: what one provider calls a date, another calls a version.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from thinkaloud.models.bedrock_ids import bare_id

_DAY = r"-20\d{6}"
_ISO_DAY = r"-20\d\d-\d\d-\d\d"

# What may stand after the name of a model, by provider: none of it changes the facts.
_SUFFIXES: dict[str, str] = {
    "anthropic": rf"({_DAY}|-latest|-0)$",
    "openai": rf"{_ISO_DAY}$",
    "google": r"(-preview-\d\d-(\d\d|20\d\d)|-0\d\d)$",
    "google-vertex": r"(-preview-\d\d-(\d\d|20\d\d)|-0\d\d)$",
    "openrouter": rf"({_DAY}|{_ISO_DAY})$",
}
_SUFFIX_OF = {provider: re.compile(pattern) for provider, pattern in _SUFFIXES.items()}
# A day, a version and a context length: anthropic.claude-haiku-4-5-20251001-v1:0:200k
_BEDROCK_VERSION = re.compile(rf"({_DAY})?(-v\d+(:\d+)?(:\d+k)?|-\d+:\d+(:\d+k)?)?$")

# What stands before an id in a resource name.
_RESOURCES = ("models/", "publishers/google/models/", "publishers/anthropic/models/")


def names(provider: str, id: str) -> Iterator[str]:
    """The names to look a model up by, the most exact one first."""
    seen = set()
    for name in _names(provider, id):
        for form in (name, name.lower()):
            if form and form not in seen:
                seen.add(form)
                yield form


def stem(provider: str, id: str) -> str:
    """The id without all that changes no facts: rows and wishes with the same stem are the same model."""
    name = id.lower()
    if provider == "bedrock":
        return _BEDROCK_VERSION.sub("", bare_id(name))
    name = name.partition("@")[0]
    suffix = _SUFFIX_OF.get(provider)
    return name if suffix is None else suffix.sub("", name)


def variant(id: str) -> str:
    """The variant that a gateway's id names after a colon, such as "free"; "" for none."""
    return id.partition(":")[2]


def _names(provider: str, id: str) -> Iterator[str]:
    yield id
    for resource in _RESOURCES:
        id = id.removeprefix(resource)
    yield id
    if provider == "bedrock":
        yield bare_id(id)
    if provider == "openrouter":
        yield id.partition(":")[0]
