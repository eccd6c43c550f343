"""Runs the `thinkaloud` program: as a process of its own, on pipes or on a terminal, or inside the test."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import select
import subprocess
import sys
import termios
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from thinkaloud.models.providers import PROVIDERS

PROGRAM = Path(sys.executable).parent / "thinkaloud"
_PATIENCE = 60.0  # seconds after which a program that says nothing hangs


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
        [PROGRAM, *arguments],
        input=input,
        capture_output=True,
        env=clean_environment(environment),
        check=False,
        timeout=4 * _PATIENCE,
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
        assert _comes(process.stdout.fileno(), _PATIENCE), f"{wanted!r} never came, only {seen!r}"
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


class Terminal:
    """A terminal with a program in it: keys go in, what it shows comes out."""

    def __init__(self, keyboard: int, process: subprocess.Popen[bytes]) -> None:
        self._keyboard = keyboard
        self.process = process
        self.shown = ""
        self._rest = ""

    def type(self, keys: str) -> None:
        """Press keys; "\\n" is Enter, "\\x03" Ctrl-C, "\\x04" Ctrl-D."""
        os.write(self._keyboard, keys.encode())

    def until(self, wanted: str) -> str:
        """Read until something shows, and give what has come since the last time."""
        seen = self._rest
        while wanted not in seen:
            assert _comes(self._keyboard, _PATIENCE), f"{wanted!r} never came, only {seen!r}"
            piece = os.read(self._keyboard, 65536)
            assert piece, f"{wanted!r} never came, only {seen!r}"
            seen += piece.decode()
        end = seen.index(wanted) + len(wanted)
        self._rest = seen[end:]
        self.shown += seen[:end]
        return seen[:end]

    def press(self, key: str) -> None:
        """Press a key until something shows: one that comes just before the program listens is lost."""
        for _ in range(10):
            self.type(key)
            if _comes(self._keyboard, 2.0):
                return
        raise AssertionError(f"nothing came of {key!r}")

    def ended(self) -> int:
        """Read to the end; give the exit code."""
        self.shown += b"".join(_until_closed(self._keyboard)).decode()
        return self.process.wait(timeout=_PATIENCE)


@contextmanager
def at_a_terminal(*arguments: str, environment: Mapping[str, str] | None = None) -> Iterator[Terminal]:
    """Start the installed program on a terminal of its own; it is gone at the end, whatever happens."""
    keyboard, screen = pty.openpty()
    with subprocess.Popen(
        [PROGRAM, *arguments],
        stdin=screen,
        stdout=screen,
        stderr=screen,
        env=clean_environment(environment),
        start_new_session=True,
        preexec_fn=_own_terminal,
    ) as process:
        os.close(screen)
        try:
            yield Terminal(keyboard, process)
        finally:
            if process.poll() is None:
                process.kill()
            os.close(keyboard)


def _own_terminal() -> None:
    """Make the terminal the one that sends Ctrl-C to the program."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _comes(terminal: int, seconds: float) -> bool:
    """Whether something shows within these seconds."""
    return bool(select.select([terminal], [], [], seconds)[0])


def _until_closed(terminal: int) -> Iterator[bytes]:
    while True:
        assert _comes(terminal, _PATIENCE), "the program neither ends nor says anything"
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
