"""The command line: what `ramify` understands behind its name.

Here the commands are put together, and here everything that goes wrong in one of them ends: as
a few words on standard error and an exit status, never as a traceback.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ramify.cli import (
    deferred,
    doctor,
    exits,
    explain,
    jobs,
    lint,
    match,
    pipeline,
    serve,
    stream,
    subscriptions,
    translate,
)
from ramify.cli.complaints import complain
from ramify.errors import RamifyError


class _Commands(TyperGroup):
    """Runs a command, and turns what it raises into words and an exit status."""

    def invoke(self, ctx: Any) -> Any:
        try:
            try:
                return super().invoke(ctx)
            finally:
                sys.stdout.flush()  # here, where a closed pipe can still be taken calmly
        except RamifyError as refusal:
            complain(refusal)
            raise typer.Exit(exits.UNUSABLE) from None
        except KeyboardInterrupt:
            raise typer.Exit(exits.INTERRUPTED) from None
        except BrokenPipeError:
            _forget_output()
            raise typer.Exit(exits.PIPE_CLOSED) from None
        except OSError as failure:
            typer.echo(f"ramify: {failure.strerror or failure}", err=True)
            raise typer.Exit(exits.UNUSABLE) from None
        except Exception as bug:
            _report(bug)
            raise


app = typer.Typer(
    cls=_Commands,
    help="Route events to the people who asked for them, by topic pattern and by content.",
    epilog=exits.EPILOG,
    no_args_is_help=True,
    add_completion=False,
    # Plain help shows patterns such as [a] as they are, and comes up faster.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

for name, command in (
    ("match", match.match),
    ("explain", explain.explain),
    ("lint", lint.lint),
    ("translate", translate.translate),
    ("route", jobs.route),
    ("coalesce", jobs.coalesce),
    ("stats", jobs.stats),
    ("backtest", jobs.backtest),
    ("stream", stream.stream),
    ("serve", serve.serve),
    ("doctor", doctor.doctor),
):
    app.command(name, epilog=exits.EPILOG)(command)
app.add_typer(subscriptions.app, name="subscriptions")
app.add_typer(deferred.app, name="deferred")
app.add_typer(pipeline.app, name="pipeline")


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"ramify {version('ramify')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command that the arguments name."""
    for output in (sys.stdout, sys.stderr):
        if hasattr(output, "reconfigure"):
            # A terminal that cannot show a letter gets its number, not a failure.
            output.reconfigure(errors="backslashreplace")
    app(prog_name="ramify")


def _forget_output() -> None:
    """Point standard output to nowhere, so that Python does not try to flush it once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report(bug: Exception) -> None:
    """Say that it is our fault; typer's own exceptions are no bugs and pass by."""
    if isinstance(bug, typer.Exit | typer.Abort) or hasattr(bug, "format_message"):
        return
    if "RAMIFY_DEBUG" in os.environ:
        raise bug
    typer.echo(f"ramify: this is a bug: {type(bug).__name__}: {bug}", err=True)
    typer.echo("Please report it; RAMIFY_DEBUG=1 shows where it happened.", err=True)
    raise typer.Exit(exits.BUG) from None
