"""Shared fixtures: every async test runs on asyncio and on trio."""

from __future__ import annotations

import gc
import signal

import pytest
from hypothesis import settings

from support.secret_watch import pytest_runtest_call as pytest_runtest_call
from thinkaloud import jsontext

# Machines differ, and clocks are no judges: a slow example is no failure.
settings.register_profile("thinkaloud", deadline=None, print_blob=True)
settings.load_profile("thinkaloud")

# Started in the background by a shell, a process ignores Ctrl-C, and so would every program that a test starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over the collected tests, which stay to the end: there are very many."""
    gc.collect()
    gc.freeze()


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """The event loop that an async test runs on."""
    return str(request.param)


@pytest.fixture(params=["orjson", "standard library"])
def json_decoder(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The JSON decoder behind `jsontext.loads`: what a test sees must not hang on which one is installed."""
    if request.param == "orjson":
        monkeypatch.setattr(jsontext, "orjson_loads", pytest.importorskip("orjson").loads)
    else:
        monkeypatch.setattr(jsontext, "orjson_loads", None)
    return str(request.param)
