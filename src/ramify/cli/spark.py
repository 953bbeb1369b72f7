"""A Spark for a command: started without its noise, stopped at the end, its jobs cancelled by Ctrl-C."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ramify.jobs.description import Session
    from ramify.jobs.progress import OnProgress, Progress


@contextmanager
def spark_for(session: Session, name: str) -> Iterator[SparkSession]:
    """The session that a command asks for; one that runs already is used and left alone."""
    from ramify import pipeline  # first: it says what to do where there is no PySpark

    from pyspark.sql import SparkSession  # isort: skip

    if (running := SparkSession.getActiveSession()) is not None:
        yield running
        return
    _tell(f"starting Spark {session.remote or session.master or ''}".rstrip())
    with quietly():
        spark = pipeline.session(session.master, session.remote, name=name, settings=session.settings)
    _tell("")
    try:
        yield spark
    finally:
        spark.stop()


@contextmanager
def quietly() -> Iterator[None]:
    """What Java writes to standard error from here on goes to a file that is thrown away.

    A process keeps the standard error that it was started with; so only the start is redirected.
    """
    if "RAMIFY_DEBUG" in os.environ:
        yield
        return
    warnings.simplefilter("ignore")
    _show_only_our_own_log()
    sys.stderr.flush()
    kept = os.dup(2)
    with TemporaryFile() as nowhere:
        os.dup2(nowhere.fileno(), 2)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(kept, 2)
            os.close(kept)


def _show_only_our_own_log() -> None:
    """py4j writes a stack of Python to the root of all logs at every Ctrl-C."""
    handler = logging.StreamHandler()
    handler.setLevel(logging.WARNING)
    handler.addFilter(logging.Filter("ramify"))
    logging.getLogger().addHandler(handler)


@contextmanager
def progress_bar() -> Iterator[OnProgress | None]:
    """A bar on the terminal with the tasks that Spark has done; nothing where nobody looks."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("tasks"))
    bars = Bars(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True)
    task = bars.add_task("", total=None)

    def show(progress: Progress) -> None:
        bars.start()
        stages = f" · stage {progress.stages}" if progress.stages else ""
        bars.update(
            task, description=progress.phase + stages, total=progress.tasks or None, completed=progress.done
        )

    try:
        yield show
    finally:
        bars.stop()


def _tell(words: str) -> None:
    """A line that the next one overwrites, where somebody looks."""
    if sys.stderr.isatty():
        typer.echo(f"\r\x1b[2K{words}{' …' if words else ''}", nl=False, err=True)
