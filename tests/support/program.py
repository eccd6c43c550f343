"""Runs the `thinkaloud` program: as a process of its own, on pipes or on a terminal, or inside the test."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from thinkaloud.models.providers import PROVIDERS

PROGRAM = Path(sys.executable).parent / "thinkaloud"


def clean_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment without anybody's keys and base URLs."""
    private = {name for row in PROVIDERS.values() for name in (*row.key_variables, row.base_url_variable)}
    kept = {name: value for name, value in os.environ.items() if name not in private}
    return {**kept, "PYTHONIOENCODING": "utf-8", "TERM": "xterm-256color", **(extra or {})}


def run_program(
    *arguments: str, input: bytes = b"", environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run the installed program on pipes until it ends."""
    return subprocess.run(
        [PROGRAM, *arguments], input=input, capture_output=True, env=clean_environment(environment), check=False
    )


@contextmanager
def started_program(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start the installed program on pipes; it is gone at the end, whatever happens."""
    with subprocess.Popen(
        [PROGRAM, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=clean_environment(),
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def read_until(process: subprocess.Popen[bytes], wanted: bytes) -> bytes:
    """Read the output as it comes, until something has come."""
    assert process.stdout is not None
    seen = b""
    while wanted not in seen:
        piece = os.read(process.stdout.fileno(), 65536)
        assert piece, f"{wanted!r} never came, only {seen!r}"
        seen += piece
    return seen


def on_a_terminal(*command: str | Path, environment: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Run a command with a terminal as input, output and error output; give its exit code and all that it showed."""
    keyboard, screen = pty.openpty()
    with subprocess.Popen(
        command, stdin=screen, stdout=screen, stderr=screen, env=clean_environment(environment), close_fds=True
    ) as process:
        os.close(screen)
        shown = b"".join(_until_closed(keyboard))
    os.close(keyboard)
    return process.returncode, shown.decode()


def _until_closed(terminal: int) -> Iterator[bytes]:
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # how Linux tells that the last process has left the terminal
            return
        if not piece:
            return
        yield piece


def standard_input(data: bytes) -> io.TextIOWrapper:
    """Something to put in the place of sys.stdin."""
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8")
