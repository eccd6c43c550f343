"""A file of answers, one JSON object a line, that survives being killed: a line is whole and on the disk, or not there.

Whoever opens it again finds what is there, and cuts off a line that was half written.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from thinkaloud.cli.arguments import WrongUse
from thinkaloud.cli.output import reason
from thinkaloud.jsontext import loads_exact


class AnswerFile:
    """Appends answers to a file. Raises WrongUse where its content is none of ours, or another run writes to it.

    done: the ids that have their line already.
    """

    def __init__(self, path: str) -> None:
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o644)
        except OSError as error:
            raise WrongUse(f"{path}: {reason(error)}") from None
        try:
            if not stat.S_ISREG(os.fstat(self._file).st_mode):
                raise WrongUse(f"{path} is no file that a later run could go on with")
            _lock(self._file, path)
            self.done = self._read(path)
        except BaseException:
            os.close(self._file)
            raise

    def append(self, answer: Mapping[str, Any]) -> None:
        """Write a line, and wait until the disk has it."""
        line = json.dumps(answer).encode() + b"\n"
        while line:
            line = line[os.write(self._file, line) :]
        os.fsync(self._file)

    def close(self) -> None:
        """Close the file; another run may open it then."""
        os.close(self._file)

    def _read(self, path: str) -> set[str]:
        done: set[str] = set()
        kept = 0
        with os.fdopen(os.dup(self._file), "rb") as file:
            file.seek(0)
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):  # half of a line: whoever wrote it was killed
                    break
                kept += len(line)
                if line.strip():
                    done.add(_id_of(line, f"{path}:{number}"))
        os.ftruncate(self._file, kept)
        return done


def _id_of(line: bytes, place: str) -> str:
    with suppress(ValueError):
        found = loads_exact(line)
        if isinstance(found, dict) and isinstance(found.get("id"), str):
            return str(found["id"])
    raise WrongUse(f"{place} is no answer of an earlier run; give another file")


def _lock(file: int, path: str) -> None:
    """Keep other runs off, where the system can."""
    try:
        import fcntl
    except ModuleNotFoundError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise WrongUse(f"{path} is being written by another run") from None
