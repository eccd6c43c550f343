"""Recorded answers of real providers and authored fault cases, found through the environment, as test parameters.

`THINKALOUD_SHARED` names a folder with `recordings/` and `cases/`. Where it is unset, the tests that need it are
skipped; the streams of `support.streams` prove the same behaviour on a small scale.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import pytest
from _pytest.mark import ParameterSet
from attrs import frozen

T = TypeVar("T")

VARIABLE = "THINKALOUD_SHARED"
UNSET = f"{VARIABLE} is unset: it names the folder with recordings/ and cases/"


def shared_folder() -> Path | None:
    """The folder that the environment names; None where it names none."""
    value = os.environ.get(VARIABLE)
    return Path(value) if value else None


@frozen(slots=False)
class Recording:
    """One recorded answer with what its provider's own SDK makes of it."""

    wire: str
    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name

    @cached_property
    def meta(self) -> dict[str, Any]:
        return _json(self.folder / "meta.json")

    @cached_property
    def expected(self) -> dict[str, Any]:
        return _json(self.folder / "expected.json")

    @cached_property
    def body(self) -> bytes:
        (path,) = self.folder.glob("response.*")
        return path.read_bytes()

    @property
    def streamed(self) -> bool:
        """Whether the body is a stream: an HTTP error never is."""
        return not (self.folder / "response.json").exists()

    @property
    def endpoint(self) -> str:
        return str(self.meta["endpoint"])

    @property
    def status(self) -> int:
        return int(self.meta["status"])

    @property
    def headers(self) -> dict[str, str]:
        return {"content-type": str(self.meta["content_type"]), **self.meta.get("headers", {})}


@frozen(slots=False)
class Case:
    """One authored case: bytes or a history, and the outcome that is right."""

    path: Path

    @property
    def name(self) -> str:
        return f"{self.path.parent.name}/{self.path.stem}"

    @cached_property
    def data(self) -> dict[str, Any]:
        return _json(self.path)

    @property
    def wire(self) -> str:
        return str(self.data["wire"])

    @property
    def expect(self) -> dict[str, Any]:
        found: dict[str, Any] = self.data["expect"]
        return found

    @cached_property
    def pieces(self) -> tuple[bytes, ...]:
        """The body as the network hands it over."""
        if "stream" in self.data:
            return tuple(piece.encode("utf-8") for piece in self.data["stream"])
        if "stream_b64" in self.data:
            return tuple(base64.b64decode(piece) for piece in self.data["stream_b64"])
        made = self.data["stream_gen"]
        body = (made["prefix"] + made["repeat"] * made["times"] + made["suffix"]).encode("utf-8")
        size = int(made["piece_bytes"])
        return tuple(body[start : start + size] for start in range(0, len(body), size))

    @property
    def has_stream(self) -> bool:
        return not self.data.keys().isdisjoint({"stream", "stream_b64", "stream_gen"})

    @property
    def is_generated(self) -> bool:
        """The body is large."""
        return "stream_gen" in self.data


def _json(path: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return value


def recordings(wire: str) -> list[Recording]:
    """All recordings of a wire, by name; none where the folder is unknown."""
    folder = shared_folder()
    if folder is None:
        return []
    return [Recording(wire, path) for path in sorted((folder / "recordings" / wire).iterdir()) if path.is_dir()]


def recorded_wires() -> set[str]:
    """The wires that have recordings."""
    folder = shared_folder()
    return set() if folder is None else {path.name for path in (folder / "recordings").iterdir() if path.is_dir()}


def cases() -> list[Case]:
    """All cases of all wires, by name; none where the folder is unknown."""
    folder = shared_folder()
    return [] if folder is None else [Case(path) for path in sorted((folder / "cases").glob("*/*.json"))]


def parameters(values: Iterable[T], id: Callable[[T], str]) -> list[ParameterSet]:
    """Parameters with readable ids; a single skipped one where the shared folder is unset."""
    if shared_folder() is None:
        return [pytest.param(None, id="unset", marks=pytest.mark.skip(reason=UNSET))]
    return [pytest.param(value, id=id(value)) for value in values]


needs_shared = pytest.mark.skipif(shared_folder() is None, reason=UNSET)
