"""`ramify stream`: routes a stream of events until it is stopped."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from ramify.cli import exits
from ramify.cli import job_options as given
from ramify.cli.documents import show_json
from ramify.cli.options import Json
from ramify.cli.spark import spark_for
from ramify.cli.stream_report import Report

if TYPE_CHECKING:
    from ramify.jobs.description import Coalesce, Pipeline
    from ramify.jobs.streaming import RunningStream

POLL = 0.2
GRACE = 60.0
"""Seconds that a micro-batch has to end in."""


def stream(
    source: Annotated[
        str, typer.Option("--from", metavar="PATH|URL", help="Events: a folder, or redis, mqtt, kafka://…?….")
    ],
    subscriptions: given.SubscriptionTable,
    sink: Annotated[
        str, typer.Option("--to", metavar="PATH|URL", help="Where deliveries go: a folder, or a URL.")
    ],
    checkpoint: Annotated[
        str | None,
        typer.Option("--checkpoint", metavar="FOLDER", help="What it remembers; beside the files of --to."),
    ] = None,
    coalesce_key: Annotated[
        list[str] | None,
        typer.Option("--coalesce-key", metavar="COLUMN", help="Let each key act once; may be given again."),
    ] = None,
    quiet: Annotated[
        str | None, typer.Option("--quiet", metavar="TIME", help="Fire after so long without another: 30s.")
    ] = None,
    max_wait: Annotated[
        str | None, typer.Option("--max-wait", metavar="TIME", help="Fire at the latest after so long.")
    ] = None,
    keep: Annotated[str, typer.Option("--keep", metavar="WHICH", help="last or first.")] = "last",
    watermark: Annotated[
        str, typer.Option("--watermark", metavar="TIME", help="How late an event may be to be coalesced.")
    ] = "10s",
    trigger: Annotated[
        str, typer.Option("--trigger", metavar="TIME", help="Time from a micro-batch to the next.")
    ] = "1s",
    once: Annotated[bool, typer.Option("--once", help="Take all that is there, then end.")] = False,
    refresh: Annotated[
        str, typer.Option("--refresh", metavar="TIME", help="How often to look for changed subscriptions.")
    ] = "5s",
    rejects: given.Rejects = None,
    from_format: Annotated[
        str | None, typer.Option("--from-format", metavar="NAME", help="Of files: parquet, jsonl or csv.")
    ] = None,
    to_format: Annotated[
        str | None, typer.Option("--to-format", metavar="NAME", help="Of files: parquet, jsonl or csv.")
    ] = None,
    from_option: Annotated[
        list[str] | None, typer.Option("--from-option", metavar="K=V", help="For the reader of events.")
    ] = None,
    to_option: Annotated[
        list[str] | None, typer.Option("--to-option", metavar="K=V", help="For the writer of deliveries.")
    ] = None,
    schema: given.SchemaText = None,
    fields: given.FieldsColumn = None,
    master: given.Master = None,
    remote: given.Remote = None,
    settings: given.Settings = None,
    as_json: Json = False,
) -> None:
    """Route a stream of events, without end.

    Files are written exactly once, whatever happens on the way; elsewhere a delivery may come twice and
    is known by its delivery_id. Changed subscriptions are taken up without a restart. SIGTERM and
    Ctrl-C end it after the micro-batch that is under way; the next run goes on from the checkpoint.

    \b
    Examples:
      ramify stream --from events/ -s subscriptions.jsonl --to deliveries.parquet
      ramify stream --from 'mqtt://127.0.0.1?topic=plant/#' -s subscriptions.jsonl \\
        --to 'redis://127.0.0.1/0?stream=inbox:{subscriber}' --checkpoint plant.checkpoint
    """
    from ramify.jobs.description import Pipeline, Route, Source, Stream
    from ramify.jobs.places import parse_sink, parse_source

    formats = ("parquet", "jsonl", "csv", "delta", "iceberg")
    described = Pipeline(
        events=parse_source(
            source,
            format=given.one_of(from_format, formats[:3], "--from-format"),
            options=given.pairs(from_option, "--from-option"),
            schema=schema,
        ),
        subscriptions=Source(path=subscriptions),
        sinks=(
            parse_sink(
                sink,
                format=given.one_of(to_format, formats, "--to-format"),
                options=given.pairs(to_option, "--to-option"),
            ),
        ),
        route=Route(fields=fields),
        coalesce=_coalesce(coalesce_key, quiet, max_wait, keep),
        rejects=given.rejects_of(rejects, overwrite=False),
        stream=Stream(
            checkpoint=checkpoint or "",
            trigger=trigger,
            until_caught_up=once,
            watermark=watermark,
            refresh=refresh,
        ),
        session=given.session_of(master, remote, settings),
    )
    run_stream(described, as_json)


def _coalesce(key: list[str] | None, quiet: str | None, max_wait: str | None, keep: str) -> Coalesce | None:
    from ramify.jobs.description import Coalesce

    if key is None:
        if quiet is not None or max_wait is not None:
            raise typer.BadParameter("is needed with --quiet and --max-wait", param_hint="--coalesce-key")
        return None
    if quiet is None:
        raise typer.BadParameter("is needed with --coalesce-key", param_hint="--quiet")
    which = given.one_of(keep, ("last", "first"), "--keep")
    return Coalesce(key=tuple(key), quiet=quiet, max_wait=max_wait, keep=which)


def run_stream(described: Pipeline, as_json: bool) -> None:
    """Run a stream to its end, and say on the way how it is doing."""
    from ramify.jobs.stream_checks import check_stream
    from ramify.jobs.streaming import stream

    check_stream(described)
    report = Report(as_json, is_live=sys.stderr.isatty() and not as_json)
    with spark_for(described.session, described.name) as spark, _stopping() as stopping:
        running = stream(spark, described)
        report.refreshed(running.subscriptions.refreshed())
        try:
            _follow(running, stopping, report)
        finally:
            report.end_line()
            running.stop(grace=GRACE if stopping.is_asked else 0.0)
            _take(running, report)
        report.show()
    if report.rejects:
        raise typer.Exit(exits.SET_ASIDE)


def _follow(running: RunningStream, stopping: _Stopping, report: Report) -> None:
    while running.is_active and not stopping.is_asked:
        refreshed = running.look(time.monotonic())
        if refreshed is not None:
            report.refreshed(refreshed)
        _take(running, report)
        report.draw(time.monotonic())
        time.sleep(POLL)
        running.check()


def _take(running: RunningStream, report: Report) -> None:
    for batch in running.batches():
        report.took(batch)
        if report.is_json:
            show_json(asdict(batch))
            sys.stdout.flush()


class _Stopping:
    """Whether we were asked to end; a second time ends at once."""

    is_asked = False

    def ask(self, number: int, _: object) -> None:
        if self.is_asked:
            raise KeyboardInterrupt
        self.is_asked = True


@contextmanager
def _stopping() -> Iterator[_Stopping]:
    """Take note of SIGTERM and Ctrl-C; Spark's own way would end a micro-batch in its midst."""
    stopping = _Stopping()
    before = {number: signal.signal(number, stopping.ask) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield stopping
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
