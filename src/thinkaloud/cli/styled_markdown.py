"""Styles Markdown while it comes, piece by piece, without ever taking back what was shown: so nothing flickers.

Marks that a terminal can show go away: `**` becomes bold, backticks become a colour, `#` a heading. What needs to be
seen whole before it could be drawn, such as a table, stays as it is. No more than an open mark is ever held back.
"""

from __future__ import annotations

import re

Piece = tuple[str, str]

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+")
_BULLET = re.compile(r"( *)[*+-][ \t]+")
# The start of a line that may still become one of the three.
_UNDECIDED = re.compile(r" {0,3}(?:#{1,6}[ \t]*|`{0,2}|~{0,2}|[*+-][ \t]*)|[ ]+[*+-]?[ \t]*")
_MARK = re.compile(r"\*\*|\*|`+")


class StyledMarkdown:
    """Turns pieces of Markdown into pieces with rich's styles."""

    def __init__(self) -> None:
        self._held = ""
        self._line_start = True
        self._fence = ""  # the mark that closes the block of code
        self._in_fence_line = False
        self._heading = False
        self._strong = False
        self._emphasis = False
        self._code = ""  # the backticks that close the code
        self._last = ""  # the last sign of the line so far

    def feed(self, text: str) -> list[Piece]:
        """What can be shown now."""
        return self._read(self._held + text, last=False)

    def finish(self) -> list[Piece]:
        """What was held back. A new text may follow."""
        shown = self._read(self._held, last=True)
        self._fence = ""
        self._end_line()
        self._end_paragraph()
        return shown

    def _read(self, text: str, *, last: bool) -> list[Piece]:
        shown: list[Piece] = []
        self._held = ""
        while text:
            line, newline, rest = text.partition("\n")
            whole = bool(newline) or last
            if not self._line(line, shown, whole=whole):
                break
            if newline:
                shown.append(("\n", ""))
                self._end_line()
            text = rest
        return [piece for piece in shown if piece[0]]

    def _end_line(self) -> None:
        self._line_start, self._heading, self._in_fence_line, self._last = True, False, False, ""

    def _end_paragraph(self) -> None:
        """Marks that were never closed end with their paragraph."""
        self._strong, self._emphasis, self._code = False, False, ""

    def _line(self, line: str, shown: list[Piece], *, whole: bool) -> bool:
        """Show a line or the piece of one; False where the rest is held back."""
        if self._line_start:
            if not whole and self._may_become_more(line):
                self._held = line
                return False
            line = self._begun(line, shown)
        if self._fence or self._in_fence_line:
            shown.append((line, "dim" if self._in_fence_line else "cyan"))
        else:
            self._marks(line, shown, whole=whole)
        return True

    def _may_become_more(self, line: str) -> bool:
        if self._fence:
            return len(line) < 64 and not line.lstrip(" ").strip(self._fence[0])
        return len(line) < 64 and _UNDECIDED.fullmatch(line) is not None

    def _begun(self, line: str, shown: list[Piece]) -> str:
        """Look at the start of a line; give what is left of it to be shown."""
        if line:
            self._line_start = False
        found = _FENCE.match(line)
        if self._fence:
            if found and line.strip().startswith(self._fence) and not line.strip().strip(self._fence[0]):
                self._fence, self._in_fence_line = "", True
        elif found:
            self._fence, self._in_fence_line = found[1], True
            self._end_paragraph()
        elif not line.strip():
            self._end_paragraph()
        elif heading := _HEADING.match(line):
            self._heading = True
            return line[heading.end() :]
        elif bullet := _BULLET.match(line):
            shown.append((f"{bullet[1]}• ", ""))
            return line[bullet.end() :]
        return line

    def _marks(self, line: str, shown: list[Piece], *, whole: bool) -> None:
        if not whole and (open_end := re.search(r"[*`]+\Z", line)):
            line, self._held = line[: open_end.start()], open_end[0]
        at = 0
        for found in _MARK.finditer(line):
            before = line[found.start() - 1] if found.start() else self._last
            after = line[found.end() : found.end() + 1]
            style = self._style()
            if self._turned(found[0], before, after):
                shown.append((line[at : found.start()], style))
                at = found.end()
        shown.append((line[at:], self._style()))
        self._last = line[-1:] or self._last

    def _turned(self, mark: str, before: str, after: str) -> bool:
        """Whether a mark begins or ends something; if not, it is a sign like any other."""
        if self._code or mark[0] == "`":
            if self._code not in ("", mark):
                return False
            self._code = "" if self._code else mark
            return True
        is_open = self._strong if mark == "**" else self._emphasis
        # Behind a word or before a space it cannot begin anything: 2 * 3, 2**64.
        if not is_open and (before.isalnum() or not after or after.isspace()):
            return False
        if is_open and before.isspace():
            return False
        if mark == "**":
            self._strong = not is_open
        else:
            self._emphasis = not is_open
        return True

    def _style(self) -> str:
        if self._code:
            return "cyan"
        styles = ("bold" if self._strong or self._heading else "", "italic" if self._emphasis else "")
        return " ".join(filter(None, styles))
