"""Where the program writes: a terminal gets styles and no control characters, a pipe gets the text as it is.

What a model writes is not to be trusted: an escape sequence in it could move the cursor, change the title or fill the
clipboard of whoever reads along. Every piece is flushed at once, so that one can watch a model think.
"""

from __future__ import annotations

import os
import re
import sys
from importlib.util import find_spec
from shutil import get_terminal_size
from typing import TextIO

from thinkaloud.cli.line_breaks import LineBreaks

# C0, DEL and C1 become visible signs. Newline and tab stay; a carriage return would let a line overwrite itself.
_VISIBLE: dict[int, str | None] = {
    **{code: chr(0x2400 + code) for code in range(0x20)},
    0x7F: "\u2421",
    **dict.fromkeys(range(0x80, 0xA0), "\ufffd"),
    ord("\n"): "\n",
    ord("\t"): "\t",
    ord("\r"): None,
    # What turns the direction of text around could show a command that is not the one that is copied.
    **dict.fromkeys((0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x2070)), "\ufffd"),
    **dict.fromkeys((0x2028, 0x2029, *range(0xFFF9, 0xFFFC)), "\ufffd"),
    # What has no width and says nothing on a terminal, but could hide something.
    **dict.fromkeys((0x00AD, 0x180E, 0x200B, *range(0x2060, 0x2066), 0xFEFF, *range(0xE0000, 0xE0080)), None),
}
# Joiners belong to Persian, to the scripts of India and to emoji; nowhere behind plain ASCII, where they would hide.
_STRAY_JOINER = re.compile(r"(?<![^\x00-\x7f])[\u200c\u200d]+")


class OutputClosed(Exception):
    """Whoever read the output has closed it."""


def printable(text: str, *, before: str = "") -> str:
    """Text without anything that a terminal would obey: control characters become visible signs.

    before: the character that stands before it.
    """
    if text.isprintable():
        return text
    return _STRAY_JOINER.sub("", before + text)[len(before) :].translate(_VISIBLE)


def one_line(text: str) -> str:
    """Text on a single line, without control characters."""
    return printable(" ".join(text.split()))


def reason(error: OSError) -> str:
    """Why the system refused, in the system's own words."""
    return str(error) if error.errno is None else os.strerror(error.errno)


class Output:
    """One of the program's outputs: sys.stdout or sys.stderr.

    words_whole: break lines between words on a terminal; otherwise the terminal breaks them where they end.

    Styles need a terminal and rich.
    """

    def __init__(self, file: TextIO, *, words_whole: bool = False) -> None:
        self.is_terminal = file.isatty()
        self._file = file
        self._styles = _Styles(file) if self.is_terminal and rich_is_installed() else None
        self._breaks = LineBreaks(get_terminal_size().columns) if self.is_terminal and words_whole else None
        self._at_line_start = True
        self._last = ""

    @property
    def has_styles(self) -> bool:
        """Styles show."""
        return self._styles is not None

    def write(self, text: str, style: str = "") -> None:
        """Write a piece of text at once. Raises OutputClosed when nobody reads any more."""
        if not text:
            return
        self._at_line_start = text.endswith("\n")
        if self.is_terminal:
            last, text = text[-1], printable(text, before=self._last)
            self._last = last
        if self._breaks is not None:
            text = self._breaks.fit(text)
        try:
            if style and self._styles is not None:
                self._styles.write(text, style)
            else:
                self._file.write(text)
            self._file.flush()
        except BrokenPipeError:
            raise OutputClosed from None

    def line(self, text: str, style: str = "") -> None:
        """Write a line of its own."""
        self.end_line()
        self.write(text, style)
        self.write("\n")

    def end_line(self) -> None:
        """Go to the start of a line, unless the output stands there already."""
        if not self._at_line_start:
            self.write("\n")


class _Styles:
    """Writes styled text through rich, exactly as it is: no wrapping, no markup, no highlighting."""

    def __init__(self, file: TextIO) -> None:
        from rich.console import Console
        from rich.segment import Segment, Segments

        self._console = Console(file=file)
        self._segment = Segment
        self._segments = Segments

    def write(self, text: str, style: str) -> None:
        segment = self._segment(text, self._console.get_style(style))
        self._console.print(self._segments([segment]), end="", crop=False, soft_wrap=True)


def rich_is_installed() -> bool:
    """Whether styles can be had."""
    return find_spec("rich") is not None


def terminal_outputs(*, words_whole: bool = False) -> tuple[Output, Output]:
    """Standard output and standard error; says so where a terminal could have styles and rich is missing."""
    out, err = Output(sys.stdout, words_whole=words_whole), Output(sys.stderr)
    if (out.is_terminal or err.is_terminal) and not rich_is_installed():
        err.line('thinkaloud: no styles without rich; to have them: pip install "thinkaloud[cli]"')
    return out, err


def accept_any_text() -> None:
    """Let lone surrogates, and characters that the output's encoding lacks, show as escapes instead of failing."""
    for file in (sys.stdout, sys.stderr):
        reconfigure = getattr(file, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def forget_pending_output() -> None:
    """Send what is still buffered nowhere, so that the interpreter does not fail over it when it exits."""
    with open(os.devnull, "wb") as nowhere:
        for file in (sys.stdout, sys.stderr):
            try:
                os.dup2(nowhere.fileno(), file.fileno())
            except (OSError, ValueError):  # no real file, or closed already
                continue
