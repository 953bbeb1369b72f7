"""The arguments and options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

Subscriptions = Annotated[
    str,
    typer.Option(
        "--subscriptions",
        "-s",
        metavar="FILE",
        help="Subscriptions: .jsonl, .ndjson, .csv or .parquet; - is JSON Lines on standard input.",
    ),
]
File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="Subscriptions: .jsonl, .ndjson, .csv or .parquet; - is JSON Lines on standard input.",
    ),
]
FieldsText = Annotated[
    str | None, typer.Option("--fields", "-f", metavar="JSON", help="The fields of the event, an object.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
