"""Says on standard error what is wrong, with a caret under the very column where that is known."""

from __future__ import annotations

import typer
from rich.cells import cell_len

from ramify.cli.tables import printable
from ramify.errors import InvalidText, RamifyError
from ramify.files import Loaded

WIDEST = 76
MOST_LISTED = 10


def complain(refusal: RamifyError) -> None:
    """Say why a command cannot do its work."""
    if isinstance(refusal, InvalidText):
        typer.echo(f"ramify: {refusal.reason}", err=True)
        typer.echo(pointed_at(refusal.text, refusal.column), err=True)
    else:
        typer.echo(f"ramify: {printable(str(refusal))}", err=True)


def complain_of_lines(path: str, loaded: Loaded) -> None:
    """List the first of the lines that were set aside."""
    for note in loaded.notes:
        typer.echo(f"{path}: {note}", err=True)
    for bad in loaded.bad[:MOST_LISTED]:
        typer.echo(f"{path}:{bad.line}: {printable(bad.reason)}", err=True)
    more = len(loaded.bad) - MOST_LISTED
    if more > 0:
        typer.echo(f"{path}: and {more:,} more bad lines; see: ramify subscriptions check", err=True)


def pointed_at(text: str, column: int) -> str:
    """The part of a text around a column, and a caret below that column."""
    start = max(0, min(column - 1 - WIDEST // 2, len(text) - WIDEST))
    before = printable(text[start : column - 1])
    after = printable(text[column - 1 : start + WIDEST])
    return f"  {before}{after}\n  {' ' * cell_len(before)}^"
