"""A file of answers, one JSON object a line, that survives being killed: a line is whole and on the disk, or not there.

Whoever opens it again finds what is there, and cuts off a line that was half written. An id that is asked again gets
another line behind its first one, so that a kill loses neither; the last one counts, and the others go when the file is
closed, all at once.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from thinkaloud.cli.arguments import WrongUse
from thinkaloud.cli.output import reason
from thinkaloud.jsontext import loads_exact


class AnswerFile:
    """Appends answers to a file. Raises WrongUse where its content is none of ours, or another run writes to it.

    done: the ids that have their line already.
    failed: those of them whose line is an error.
    """

    def __init__(self, path: str) -> None:
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o644)
        except OSError as error:
            raise WrongUse(f"{path}: {reason(error)}") from None
        self._path = Path(os.path.realpath(path))  # another file may take its place, but not that of a link to it
        self.done: set[str] = set()
        self.failed: set[str] = set()
        self._last: dict[str, int] = {}  # where the line that counts begins
        self._end = 0
        self._outdated = False
        try:
            if not stat.S_ISREG(os.fstat(self._file).st_mode):
                raise WrongUse(f"{path} is no file that a later run could go on with")
            _lock(self._file, path)
            self._read(path)
        except BaseException:
            os.close(self._file)
            raise

    def append(self, answer: Mapping[str, Any]) -> None:
        """Write a line, and wait until the disk has it."""
        line = left = json.dumps(answer).encode() + b"\n"
        while left:
            left = left[os.write(self._file, left) :]
        os.fsync(self._file)
        self._note(str(answer["id"]), len(line), "error" in answer)

    def close(self) -> None:
        """Leave out the lines that others have followed, and close the file; another run may open it then."""
        try:
            if self._outdated:
                with suppress(OSError):  # no room, or no right: then all lines stay, and the last ones count
                    self._tidy()
        finally:
            if self._file >= 0:
                os.close(self._file)

    def _read(self, path: str) -> None:
        with os.fdopen(os.dup(self._file), "rb") as file:
            file.seek(0)
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):  # half of a line: whoever wrote it was killed
                    break
                if line.strip():
                    self._note(*_told(line, f"{path}:{number}"))
                else:
                    self._end += len(line)
        os.ftruncate(self._file, self._end)

    def _note(self, id: str, length: int, failed: bool) -> None:
        self._outdated = self._outdated or id in self._last
        self._last[id] = self._end
        self._end += length
        self.done.add(id)
        (self.failed.add if failed else self.failed.discard)(id)

    def _tidy(self) -> None:
        """Put a file of the lines that count in the place of this one."""
        other = self._path.with_name(f".{self._path.name}.new")
        counts = set(self._last.values())
        place = 0
        other.unlink(missing_ok=True)  # of a run that was killed here
        try:
            with other.open("xb") as kept, os.fdopen(os.dup(self._file), "rb") as file:
                file.seek(0)
                for line in file:
                    if place in counts:
                        kept.write(line)
                    place += len(line)
                kept.flush()
                other.chmod(stat.S_IMODE(os.fstat(self._file).st_mode))
                os.fsync(kept.fileno())
            if os.name == "nt":  # an open file keeps its place there
                os.close(self._file)
                self._file = -1
            other.replace(self._path)
        finally:
            other.unlink(missing_ok=True)


def _told(line: bytes, place: str) -> tuple[str, int, bool]:
    """The id of a line, its length, and whether it tells of an error."""
    with suppress(ValueError):
        found = loads_exact(line)
        if isinstance(found, dict) and isinstance(found.get("id"), str):
            return str(found["id"]), len(line), "error" in found
    raise WrongUse(f"{place} is no answer of an earlier run; give another file")


def _lock(file: int, path: str) -> None:
    """Keep other runs off, where the system can."""
    try:
        import fcntl
    except ModuleNotFoundError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        replaced = not os.path.samestat(os.fstat(file), os.stat(path))
    except OSError:
        replaced = True
    if replaced:
        raise WrongUse(f"{path} is being written by another run")
