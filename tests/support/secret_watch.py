"""Looks for the keys that the suite calls with in all that is shown: a test that lets one show fails.

Watched while a test runs: every error of ours with its text, its fields and its traceback with the locals of our
frames; the repr of every client, plan, request and credential; what `prepare()` shows; every log record; what was
printed.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import thinkaloud
from thinkaloud.auth.api_key import ApiKey
from thinkaloud.auth.bearer import BearerAuth
from thinkaloud.client import Client
from thinkaloud.errors import ThinkaloudError
from thinkaloud.plan import Plan
from thinkaloud.wire.http import HttpRequest

KEYS = (
    "test-key",
    "secret-key",
    "azure-key",
    "sk-very-secret",
    "key-for-tests-0123456789",
    "sk-golden-0123456789",
    "key-of-the-environment",
    "key-from-env",
    "test-auth-token",
)
"""Values that tests use as keys, and for nothing else."""

_SOURCE = str(Path(thinkaloud.__file__).parent)
_WATCHED = (Client, Plan, HttpRequest, ApiKey, BearerAuth)
_LONGEST = 100_000  # characters of a text that are looked at
_MOST = 200  # things of one test that are looked at


class Watch:
    """What one test showed."""

    def __init__(self) -> None:
        self.errors: list[ThinkaloudError] = []
        self.values: list[Any] = []
        self.records: list[str] = []

    def leaks(self) -> list[str]:
        """Where a key shows."""
        return [f"{where}: {text[:300]}" for where, text in self._shown() if any(key in text for key in KEYS)]

    def _shown(self) -> Iterator[tuple[str, str]]:
        for record in self.records:
            yield "a log record", record
        for error in self.errors:
            kind = type(error).__name__
            yield f"the text of {kind}", str(error)
            yield f"the fields of {kind}", repr(vars(error))
            yield f"the traceback of {kind}", _traced(error)
        for value in self.values:
            yield f"the repr of {type(value).__name__}", _said(value)
            if isinstance(value, Plan) and hasattr(value, "request"):
                yield "the headers of a plan", repr(value.headers)
                yield "the body of a plan", value.request.body.decode()


def _traced(error: BaseException) -> str:
    """The locals of our own frames: a test's frames hold the keys that it calls with."""
    frames: list[str] = []
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename.startswith(_SOURCE):
            frames += [f"{frame.f_code.co_qualname}: {name}={_said(value)}" for name, value in frame.f_locals.items()]
    chained = error.__context__
    return "\n".join([*frames, *([] if chained is None else [str(chained), _traced(chained)])])


def _said(value: object) -> str:
    if isinstance(value, bytes | bytearray):
        return ""  # what a server said, before anything is made of it
    if isinstance(value, str):
        return value[:_LONGEST]
    if isinstance(value, list | tuple | dict) and len(value) > _MOST:
        return ""
    try:
        return repr(value)
    except Exception:  # an object that was not made to its end
        return ""


@contextmanager
def watching() -> Iterator[Watch]:
    """Note what is made and said inside."""
    watch = Watch()
    undo: list[Callable[[], None]] = []

    def note(kind: type, into: list[Any]) -> None:
        before = kind.__dict__["__init__"]

        def init(self: Any, *args: Any, **options: Any) -> None:
            if len(into) < _MOST:
                into.append(self)
            before(self, *args, **options)

        kind.__init__ = init  # type: ignore[misc]
        undo.append(lambda: setattr(kind, "__init__", before))

    note(ThinkaloudError, watch.errors)
    for kind in _WATCHED:
        note(kind, watch.values)
    handler = _Handler(watch.records)
    logger = logging.getLogger()
    logger.addHandler(handler)
    try:
        yield watch
    finally:
        logger.removeHandler(handler)
        for step in undo:
            step()


class _Handler(logging.Handler):
    def __init__(self, records: list[str]) -> None:
        super().__init__()
        self._records = records

    def emit(self, record: logging.LogRecord) -> None:
        if len(self._records) < _MOST:
            self._records.append(f"{record.getMessage()} {record.__dict__}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Run a test under watch, and let it fail where a key shows."""
    if item.get_closest_marker("shows_keys") is not None or item.get_closest_marker("unwatched") is not None:
        yield
        return
    with watching() as watch:
        yield
        leaks = watch.leaks()
    assert not leaks, "a key shows in " + "\n".join(leaks)
