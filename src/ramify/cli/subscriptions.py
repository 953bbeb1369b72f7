"""`ramify subscriptions`: check a file of subscriptions, or convert it into another format."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer

from ramify.cli import exits
from ramify.cli.documents import bad_line_document, show_json
from ramify.cli.inputs import STANDARD, load_subscriptions
from ramify.cli.options import File, Json
from ramify.cli.tables import counted, printable, show_table
from ramify.files import Loaded, format_of, save, write

app = typer.Typer(
    help="Check and convert files of subscriptions.", no_args_is_help=True, rich_markup_mode=None
)


@app.command(epilog=exits.EPILOG)
def check(file: File, as_json: Json = False) -> None:
    """Count the subscriptions of a file, and list its bad lines.

    \b
    Example:
      ramify subscriptions check subscriptions.csv
    """
    loaded = load_subscriptions(file, quiet=True)
    dialects = Counter(subscription.pattern.dialect.value for subscription in loaded.subscriptions)
    if as_json:
        show_json(_document(file, loaded, dialects))
    else:
        _show(loaded, dialects)
    _exit(loaded)


@app.command(epilog=exits.EPILOG)
def convert(
    file: File,
    out: Annotated[
        str,
        typer.Argument(metavar="OUT", help="Where to write; the suffix says the format, - is JSON Lines."),
    ],
) -> None:
    """Write the good lines of a file into another, whole or not at all.

    \b
    Example:
      ramify subscriptions convert subscriptions.csv subscriptions.parquet
    """
    _check_target(out)
    loaded = load_subscriptions(file)
    if out == STANDARD:
        write(loaded.subscriptions, sys.stdout.buffer)
    else:
        save(loaded.subscriptions, out)
        typer.echo(
            f"wrote {counted(len(loaded.subscriptions), 'subscription')} to {printable(out)}", err=True
        )
    _exit(loaded)


def _check_target(out: str) -> None:
    """Refuse a name that says no format before a long load, not after it."""
    if out != STANDARD:
        format_of(Path(out))


def _show(loaded: Loaded, dialects: Counter[str]) -> None:
    good, bad = counted(len(loaded.subscriptions), "subscription"), counted(len(loaded.bad), "bad line")
    typer.echo(f"{good}, {bad}")
    for note in loaded.notes:
        typer.echo(note)
    if dialects:
        show_table(
            ("dialect", "subscriptions"), [(name, f"{count:,}") for name, count in dialects.most_common()]
        )
    if loaded.bad:
        show_table(("line", "reason", "text"), [(str(bad.line), bad.reason, bad.text) for bad in loaded.bad])


def _document(file: str, loaded: Loaded, dialects: Counter[str]) -> dict[str, Any]:
    return {
        "file": printable(file),
        "subscriptions": len(loaded.subscriptions),
        "dialects": dict(dialects.most_common()),
        "bad": [bad_line_document(bad) for bad in loaded.bad],
        "notes": list(loaded.notes),
    }


def _exit(loaded: Loaded) -> None:
    if loaded.bad:
        raise typer.Exit(exits.SET_ASIDE)
