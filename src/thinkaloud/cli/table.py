"""Columns of text: cells of a table under each other, two spaces apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from thinkaloud.cli.output import one_line


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Give a line for each row; all rows have the same number of cells."""
    cells = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
