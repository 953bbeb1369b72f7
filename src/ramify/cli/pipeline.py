"""`ramify pipeline`: check and run a whole pipeline that one TOML file describes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ramify.cli import exits
from ramify.cli import job_options as given
from ramify.cli.documents import show_json
from ramify.cli.jobs import SAMPLE, carry_out
from ramify.cli.options import Json
from ramify.cli.stream import run_stream
from ramify.cli.tables import counted, printable

if TYPE_CHECKING:
    from ramify.jobs.pipeline_file import Checked

app = typer.Typer(
    help="Check and run a whole pipeline that one TOML file describes.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

PipelineFile = Annotated[str, typer.Argument(metavar="FILE", help="The pipeline, in TOML.")]

EXAMPLE = """\
# A pipeline: events find their subscriptions, are coalesced, and are written.
# Paths are relative to this file. ${NAME} is a variable of the environment.
name = "plant alerts"

[events]
path = "events/*.parquet"               # a file, a folder or a glob
# format = "jsonl"                      # where the suffix does not say it

[subscriptions]
path = "subscriptions.jsonl"

[route]
strategy = "auto"                       # auto, broadcast, join
# fields = "content"                    # the column with the content

[coalesce]                              # leave it out to write every delivery
key = ["subscriber", "topic"]
quiet = "30s"
max_wait = "5m"

[[sinks]]                               # one or more
path = "fired.parquet"
# overwrite = true

[rejects]                               # bad rows, each with the reason
path = "rejects.jsonl"

# [stream]                              # with this table, the pipeline goes on until it is stopped
# checkpoint = "checkpoint"

[session]
# master = "spark://host:7077"          # otherwise this machine, all cores
settings = { "spark.driver.memory" = "2g" }
"""


@app.command(epilog=exits.EPILOG)
def check(file: PipelineFile, as_json: Json = False) -> None:
    """Find all that is wrong with a pipeline file, by line; Spark is not started.

    \b
    Example:
      ramify pipeline check pipeline.toml
    """
    checked = _read(file)
    if as_json:
        show_json(_document(file, checked))
    else:
        _show(file, checked)
    if checked.flaws:
        raise typer.Exit(exits.NO)


@app.command(epilog=exits.EPILOG)
def run(
    file: PipelineFile,
    plan: given.Plan = False,
    dry_run: given.DryRun = False,
    sample: given.SampleSize = SAMPLE,
    as_json: Json = False,
) -> None:
    """Run a pipeline: a batch to its end, a stream until it is stopped.

    \b
    Example:
      ramify pipeline run pipeline.toml
    """
    checked = _read(file)
    described = checked.pipeline
    if described is None:
        _show(file, checked)
        raise typer.Exit(exits.UNUSABLE)
    if described.is_stream:
        run_stream(described, as_json)
    else:
        carry_out(described, described.session, plan, dry_run, sample, as_json)


@app.command(epilog=exits.EPILOG)
def example() -> None:
    """Print a pipeline file to begin with.

    \b
    Example:
      ramify pipeline example > pipeline.toml
    """
    typer.echo(EXAMPLE, nl=False)


def _read(file: str) -> Checked:
    from ramify.jobs.pipeline_file import read_pipeline

    return read_pipeline(Path(file), os.environ)


def _show(file: str, checked: Checked) -> None:
    for flaw in checked.flaws:
        typer.echo(f"{printable(file)}:{flaw.line}: {printable(str(flaw))}", err=True)
    if not checked.flaws:
        described = checked.pipeline
        kind = "stream" if described is not None and described.is_stream else "batch"
        sinks = counted(0 if described is None else len(described.sinks), "sink")
        typer.echo(f"{printable(file)}: fine; a {kind} with {sinks}")


def _document(file: str, checked: Checked) -> dict[str, object]:
    flaws = [{"line": flaw.line, "key": flaw.key, "words": flaw.words} for flaw in checked.flaws]
    return {"file": printable(file), "is_fine": not flaws, "flaws": flaws}
