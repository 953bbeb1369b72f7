"""The options that the commands over tables share, and the values that they stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from ramify.jobs.description import Session, Sink, Source

FORMATS = "parquet, jsonl, csv, delta or iceberg"

Events = Annotated[
    str | None,
    typer.Option(
        "--events", "-e", metavar="PATH", help="Events: a file, folder or glob; redis:// or kafka://."
    ),
]
SubscriptionTable = Annotated[
    str,
    typer.Option("--subscriptions", "-s", metavar="PATH", help="Subscriptions: a file, a folder or a glob."),
]
Out = Annotated[
    str | None,
    typer.Option(
        "--out", "-o", metavar="PATH", help="Where to: a folder of files; redis://, mqtt://, kafka://."
    ),
]
Rejects = Annotated[
    str | None, typer.Option("--rejects", metavar="PATH", help="Where bad rows go, each with the reason.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what is at --out and --rejects.")]
FormatName = Annotated[
    str | None,
    typer.Option("--format", metavar="NAME", help=f"{FORMATS}; otherwise the suffix of each path says it."),
]
EventsFormat = Annotated[
    str | None, typer.Option("--events-format", metavar="NAME", help="The same, of --events.")
]
OutFormat = Annotated[str | None, typer.Option("--out-format", metavar="NAME", help="The same, of --out.")]
EventsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--events-option", metavar="K=V", help="For the reader of events, such as Delta's versionAsOf=3."
    ),
]
OutOption = Annotated[
    list[str] | None, typer.Option("--out-option", metavar="K=V", help="For the writer of --out.")
]
SchemaText = Annotated[
    str | None,
    typer.Option(
        "--schema", metavar="DDL", help="The columns of events in JSON Lines or CSV; saves a look at all."
    ),
]
FieldsColumn = Annotated[
    str | None,
    typer.Option("--fields", metavar="COLUMN", help="The column with the content; otherwise 'fields'."),
]
StrategyName = Annotated[str, typer.Option("--strategy", metavar="NAME", help="auto, broadcast or join.")]
Master = Annotated[
    str | None,
    typer.Option("--master", metavar="URL", help="Spark's master, such as local[4] or spark://host:7077."),
]
Remote = Annotated[
    str | None, typer.Option("--remote", metavar="URL", help="Spark Connect: sc://host:15002.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--settings", metavar="K=V", help="A setting of Spark; may be given again."),
]
Plan = Annotated[
    bool, typer.Option("--plan", help="Print the physical plan, and why this strategy; events are not read.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Check everything, estimate what would come, write nothing.")
]
SampleSize = Annotated[
    int, typer.Option("--sample", min=1, metavar="N", help="So many events, for --dry-run.")
]


def pairs(given: list[str] | None, option: str) -> dict[str, str]:
    """Read `k=v`, given any number of times."""
    found = {}
    for text in given or ():
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise typer.BadParameter(f"{text!r} is not of the form k=v", param_hint=option)
        found[name.strip()] = value
    return found


def one_of(value: str | None, choices: tuple[str, ...], option: str) -> Any:
    """A value that must be one of a few."""
    if value is not None and value not in choices:
        raise typer.BadParameter(f"{value!r} is not one of {', '.join(choices)}", param_hint=option)
    return value


def session_of(master: str | None, remote: str | None, settings: list[str] | None) -> Session:
    """Which Spark is meant."""
    from ramify.jobs.description import Session

    return Session(master=master, remote=remote, settings=pairs(settings, "--settings"))


def source_of(
    path: str | None,
    format: str | None,
    option: str,
    options: list[str] | None = None,
    schema: str | None = None,
) -> Source:
    """Which table is meant."""
    from ramify.jobs.places import parse_source

    chosen = one_of(format, _table_formats(), "--format")
    if path is None:
        raise typer.BadParameter("is needed", param_hint=option)
    return parse_source(path, format=chosen, options=pairs(options, f"{option}-option"), schema=schema)


def sinks_of(
    path: str | None,
    format: str | None,
    overwrite: bool,
    options: list[str] | None = None,
    is_needed: bool = True,
) -> tuple[Sink, ...]:
    """Where the answer goes; nowhere, where nothing is written."""
    from ramify.jobs.places import parse_sink

    chosen = one_of(format, _table_formats(), "--format")
    if path is None:
        if is_needed:
            raise typer.BadParameter("is needed, except with --plan or --dry-run", param_hint="--out")
        return ()
    more = pairs(options, "--out-option")
    return (parse_sink(path, format=chosen, overwrite=overwrite, options=more),)


def rejects_of(path: str | None, overwrite: bool) -> Sink | None:
    """Where bad rows go."""
    from ramify.jobs.description import Sink

    return None if path is None else Sink(path=path, overwrite=overwrite)


def _table_formats() -> tuple[str, ...]:
    from ramify.jobs.formats import IN_FILES

    return (*IN_FILES, "delta", "iceberg")
