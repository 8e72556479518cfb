"""Columns of text: the same on a terminal and in a pipe, never cut."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence


def columns(
    headings: Sequence[str], rows: Iterable[Sequence[str]], right: Collection[str] = ()
) -> str:
    """A table with two spaces between columns; those named in `right` are aligned to the right."""
    table = [list(headings), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]

    def line(row: Sequence[str]) -> str:
        cells = [
            cell.rjust(width) if heading in right else cell.ljust(width)
            for heading, cell, width in zip(headings, row, widths, strict=True)
        ]
        return "  ".join(cells).rstrip()

    return "\n".join(map(line, table))
