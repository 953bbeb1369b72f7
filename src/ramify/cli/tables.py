"""Shows rows: framed on a terminal, in plain columns where another program reads them.

Whatever a file holds is shown as text. What is not printable, such as the codes that move a
terminal's cursor, is written as an escape.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer

LONGEST_CELL = 200

Rows = Sequence[Sequence[str]]


def show_table(columns: Sequence[str], rows: Rows) -> None:
    """Print a table on standard output."""
    cells = [[_cell(text) for text in row] for row in rows]
    if sys.stdout.isatty():
        _show_framed(columns, cells)
    else:
        typer.echo(plain(columns, cells))


def plain(columns: Sequence[str], rows: Rows) -> str:
    """The rows in aligned columns, two spaces apart."""
    lines = [columns, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def printable(text: str) -> str:
    """The text with an escape for each character that would not show."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def counted(number: int, noun: str) -> str:
    """A number of things."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _cell(text: str) -> str:
    return printable(text if len(text) <= LONGEST_CELL else f"{text[:LONGEST_CELL]}…")


def _show_framed(columns: Sequence[str], rows: Rows) -> None:
    # Only here, because most commands that are piped need none of it.
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*columns)
    for row in rows:
        # As Text, a pattern such as [red] is not taken for markup.
        table.add_row(*(Text(cell, overflow="fold") for cell in row))
    Console().print(table)
