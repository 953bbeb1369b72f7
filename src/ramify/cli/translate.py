"""`ramify translate`: a pattern in another dialect, and what is lost on the way."""

from __future__ import annotations

from typing import Annotated

import typer

from ramify.cli import exits
from ramify.cli.documents import show_json
from ramify.cli.options import Json
from ramify.cli.tables import printable
from ramify.model import Dialect
from ramify.patterns import Translation, parse_pattern
from ramify.patterns import translate as translated


def translate(
    pattern: Annotated[str, typer.Argument(metavar="PATTERN", help="The pattern.")],
    to: Annotated[Dialect, typer.Option("--to", help="The dialect to say it in.")],
    dialect: Annotated[Dialect, typer.Option("--from", help="The dialect it is in.")] = Dialect.MQTT,
    match: Annotated[
        str | None, typer.Option("--match", help="How wamp reads it: exact, prefix or wildcard.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Say a pattern in another dialect.

    The pattern goes to standard output, and what it does not say as the original did to standard
    error. Without any such pattern the exit status is 1.

    \b
    Example:
      ramify translate 'plant/+/temp' --from mqtt --to nats
    """
    translation = translated(parse_pattern(pattern, dialect, match=match), to)
    if as_json:
        show_json(_document(translation))
    else:
        _show(translation)
    if translation.pattern is None:
        raise typer.Exit(exits.NO)


def _show(translation: Translation) -> None:
    if translation.pattern is not None:
        typer.echo(printable(translation.pattern.text))
    if translation.match is not None:
        typer.echo(f"needs: --match {translation.match}", err=True)
    heading = "lost" if translation.pattern is not None else "no pattern"
    for loss in translation.lost:
        typer.echo(f"{heading}: {printable(loss)}", err=True)


def _document(translation: Translation) -> dict[str, object]:
    pattern = translation.pattern
    return {
        "pattern": None if pattern is None else pattern.text,
        "dialect": None if pattern is None else pattern.dialect.value,
        "match": translation.match,
        "is_exact": translation.is_exact,
        "lost": list(translation.lost),
    }
