"""A parser that goes on past what the answer can do without: what is odd is told, once per kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from thinkaloud.errors import MalformedStream
from thinkaloud.protocols.base import ParseContext, Parser
from thinkaloud.protocols.fields import JsonObject

_T = TypeVar("_T")

Tolerated = Callable[[Callable[[JsonObject, str], Any], JsonObject, str], Any]
"""Reads a field and passes over one of a wrong type, as `TolerantParser.tolerated` does."""


class TolerantParser(Parser):
    """Remembers what it has told. Subclasses read."""

    def __init__(self, context: ParseContext) -> None:
        super().__init__(context)
        self._told: set[tuple[str, str]] = set()

    def tell_once(self, code: str, kind: str, text: str) -> None:
        """Tell of something odd, once per kind."""
        if (code, kind) not in self._told:
            self._told.add((code, kind))
            self.builder.notice(code, f"{text}: {kind!r}", detail={"kind": kind})

    def tolerated(self, read: Callable[[JsonObject, str], _T], data: JsonObject, name: str) -> _T | None:
        """Read a field that the answer can do without: a wrong type is told, and the field passed over.

        None where the field is absent or passed over.
        """
        if name not in data:
            return None
        try:
            return read(data, name)
        except MalformedStream as fault:
            self.tell_once("unreadable_field", name, str(fault))
            return None
