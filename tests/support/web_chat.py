"""Runs the web example as a process of its own, and a gate that any thread can open."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio.to_thread
from attrs import define, field

from support.program import clean_environment

EXAMPLE = Path(__file__).parents[2] / "examples" / "web_chat"


@contextmanager
def running_web_chat(*arguments: str, backend: str = "asyncio", base_url: str = "") -> Iterator[str]:
    """The address of the running example. base_url: the server that its models are asked at; it is gone at the end."""
    chosen = ["--trio"] if backend == "trio" else []
    environment = {"ANTHROPIC_API_KEY": "none", "OPENAI_API_KEY": "none"}
    if base_url:
        environment |= {"ANTHROPIC_BASE_URL": base_url, "OPENAI_BASE_URL": f"{base_url}/v1"}
    command = [sys.executable, str(EXAMPLE), "--port", "0", *chosen, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=clean_environment(environment)) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://\S+", process.stdout.readline().decode())
            assert found, "the example has not told its address"
            yield found.group()
        finally:
            process.kill()


@define(eq=False)
class ThreadGate:
    """A gate of a delivery that is opened from another thread than the server's."""

    _open: threading.Event = field(factory=threading.Event)

    def open(self) -> None:
        """Let the delivery go on."""
        self._open.set()

    async def wait(self) -> None:
        """Wait in the server; a client that leaves ends the wait."""
        await anyio.to_thread.run_sync(self._open.wait, abandon_on_cancel=True)


def seconds_until(condition: Callable[[], bool], *, at_most: float) -> float:
    """How long a condition on another thread's counts takes to hold."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < at_most, f"it did not happen within {at_most} s"
        threading.Event().wait(0.005)
    return time.monotonic() - began
