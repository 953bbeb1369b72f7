"""`ramify route`, `coalesce`, `stats`, `backtest`: jobs over whole tables, on Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ramify.cli import job_options as given
from ramify.cli.options import Json
from ramify.cli.spark import progress_bar, spark_for
from ramify.cli.summaries import show_checked, show_estimate, show_plan, show_summary

if TYPE_CHECKING:
    from ramify.jobs.description import Job, Session

STRATEGIES = ("auto", "broadcast", "join")
SAMPLE = 10_000


def route(
    subscriptions: given.SubscriptionTable,
    events: given.Events = None,
    out: given.Out = None,
    rejects: given.Rejects = None,
    overwrite: given.Overwrite = False,
    format: given.FormatName = None,
    events_format: given.EventsFormat = None,
    out_format: given.OutFormat = None,
    events_option: given.EventsOption = None,
    out_option: given.OutOption = None,
    schema: given.SchemaText = None,
    fields: given.FieldsColumn = None,
    strategy: given.StrategyName = "auto",
    identity: Annotated[
        list[str] | None,
        typer.Option("--identity", metavar="COLUMN", help="Tells an event from others; may be given again."),
    ] = None,
    statistics: Annotated[
        str | None, typer.Option("--statistics", metavar="PATH", help="What ramify stats wrote, to plan by.")
    ] = None,
    master: given.Master = None,
    remote: given.Remote = None,
    settings: given.Settings = None,
    plan: given.Plan = False,
    dry_run: given.DryRun = False,
    sample: given.SampleSize = SAMPLE,
    as_json: Json = False,
) -> None:
    """Find who gets each event of a table.

    A row is written for each event and subscription that wants it.

    \b
    Example:
      ramify route -e 'events/*.parquet' -s subscriptions.jsonl -o deliveries.parquet
    """
    from ramify.jobs.description import Pipeline, Route, Source

    job = Pipeline(
        events=given.source_of(events, events_format or format, "--events", events_option, schema),
        subscriptions=Source(path=subscriptions),
        sinks=given.sinks_of(out, out_format or format, overwrite, out_option, not (plan or dry_run)),
        route=Route(
            strategy=given.one_of(strategy, STRATEGIES, "--strategy"),
            fields=fields,
            identity=None if identity is None else tuple(identity),
            statistics=None if statistics is None else Source(path=statistics),
        ),
        rejects=given.rejects_of(rejects, overwrite),
    )
    carry_out(job, given.session_of(master, remote, settings), plan, dry_run, sample, as_json)


def coalesce(
    key: Annotated[
        list[str], typer.Option("--key", "-k", metavar="COLUMN", help="What comes once; may be given again.")
    ],
    quiet: Annotated[
        str, typer.Option("--quiet", metavar="TIME", help="Fire after so long without another, such as 30s.")
    ],
    deliveries: Annotated[
        str | None,
        typer.Option("--deliveries", "--events", "-e", metavar="PATH", help="A table with ts and the key."),
    ] = None,
    out: given.Out = None,
    max_wait: Annotated[
        str | None, typer.Option("--max-wait", metavar="TIME", help="Fire at the latest after so long.")
    ] = None,
    max_count: Annotated[
        int | None, typer.Option("--max-count", metavar="N", help="Fire at the latest after so many.")
    ] = None,
    keep: Annotated[str, typer.Option("--keep", metavar="WHICH", help="last or first.")] = "last",
    edge: Annotated[
        str, typer.Option("--edge", metavar="WHICH", help="trailing, leading or both.")
    ] = "trailing",
    rejects: given.Rejects = None,
    overwrite: given.Overwrite = False,
    format: given.FormatName = None,
    events_format: given.EventsFormat = None,
    out_format: given.OutFormat = None,
    events_option: given.EventsOption = None,
    out_option: given.OutOption = None,
    schema: given.SchemaText = None,
    master: given.Master = None,
    remote: given.Remote = None,
    settings: given.Settings = None,
    plan: given.Plan = False,
    dry_run: given.DryRun = False,
    as_json: Json = False,
) -> None:
    """Let each key of a table act once per burst.

    \b
    Example:
      ramify coalesce -e deliveries.parquet -k subscriber --quiet 30s --max-wait 5m -o fired.parquet
    """
    from ramify.jobs.description import Coalesce, CoalesceJob

    job = CoalesceJob(
        deliveries=given.source_of(
            deliveries, events_format or format, "--deliveries", events_option, schema
        ),
        coalesce=Coalesce(
            key=tuple(key),
            quiet=quiet,
            max_wait=max_wait,
            max_count=max_count,
            keep=given.one_of(keep, ("last", "first"), "--keep"),
            edge=given.one_of(edge, ("trailing", "leading", "both"), "--edge"),
        ),
        sinks=given.sinks_of(out, out_format or format, overwrite, out_option, not (plan or dry_run)),
        rejects=given.rejects_of(rejects, overwrite),
    )
    carry_out(job, given.session_of(master, remote, settings), plan, dry_run, SAMPLE, as_json)


def stats(
    events: given.Events = None,
    out: given.Out = None,
    top: Annotated[
        int, typer.Option("--top", min=1, metavar="N", help="Keep so many topics, and values of each field.")
    ] = 1_000,
    rejects: given.Rejects = None,
    overwrite: given.Overwrite = False,
    format: given.FormatName = None,
    events_format: given.EventsFormat = None,
    out_format: given.OutFormat = None,
    events_option: given.EventsOption = None,
    out_option: given.OutOption = None,
    schema: given.SchemaText = None,
    fields: given.FieldsColumn = None,
    master: given.Master = None,
    remote: given.Remote = None,
    settings: given.Settings = None,
    plan: given.Plan = False,
    dry_run: given.DryRun = False,
    as_json: Json = False,
) -> None:
    """Count the topics and values of a table of events, to plan by.

    \b
    Example:
      ramify stats -e 'events/*.parquet' -o statistics.parquet
    """
    from ramify.jobs.description import StatisticsJob

    job = StatisticsJob(
        events=given.source_of(events, events_format or format, "--events", events_option, schema),
        sinks=given.sinks_of(out, out_format or format, overwrite, out_option, not (plan or dry_run)),
        fields=fields,
        top=top,
        rejects=given.rejects_of(rejects, overwrite),
    )
    carry_out(job, given.session_of(master, remote, settings), plan, dry_run, SAMPLE, as_json)


def backtest(
    current: Annotated[str, typer.Option("--current", metavar="PATH", help="The subscriptions in force.")],
    candidate: Annotated[
        str, typer.Option("--candidate", metavar="PATH", help="Those that may replace them.")
    ],
    events: given.Events = None,
    out: given.Out = None,
    rejects: given.Rejects = None,
    overwrite: given.Overwrite = False,
    format: given.FormatName = None,
    events_format: given.EventsFormat = None,
    out_format: given.OutFormat = None,
    events_option: given.EventsOption = None,
    out_option: given.OutOption = None,
    schema: given.SchemaText = None,
    fields: given.FieldsColumn = None,
    strategy: given.StrategyName = "auto",
    master: given.Master = None,
    remote: given.Remote = None,
    settings: given.Settings = None,
    plan: given.Plan = False,
    dry_run: given.DryRun = False,
    as_json: Json = False,
) -> None:
    """Compare two sets of subscriptions over past events: gained, lost, unchanged, per subscriber.

    \b
    Example:
      ramify backtest -e 'events/*.parquet' --current now.jsonl --candidate next.jsonl -o changes.csv
    """
    from ramify.jobs.description import BacktestJob, Route, Source

    job = BacktestJob(
        events=given.source_of(events, events_format or format, "--events", events_option, schema),
        current=Source(path=current),
        candidate=Source(path=candidate),
        sinks=given.sinks_of(out, out_format or format, overwrite, out_option, not (plan or dry_run)),
        route=Route(strategy=given.one_of(strategy, STRATEGIES, "--strategy"), fields=fields),
        rejects=given.rejects_of(rejects, overwrite),
    )
    carry_out(job, given.session_of(master, remote, settings), plan, dry_run, SAMPLE, as_json)


def carry_out(job: Job, session: Session, plan: bool, dry_run: bool, sample: int, as_json: bool) -> None:
    """Do a job, or show what it would be."""
    from ramify.jobs.batch import check_sinks, check_sources, ready, run
    from ramify.jobs.description import Pipeline
    from ramify.jobs.estimating import estimate
    from ramify.jobs.progress import Watch

    check_sources(job)
    check_sinks(job)
    with spark_for(session, "ramify") as spark:
        with progress_bar() as on_progress:
            watch = Watch(spark, on_progress)
            if dry_run and isinstance(job, Pipeline):
                guess = estimate(spark, job, watch, sample)
            else:
                made = ready(spark, job, watch)
                summary = None if plan or dry_run else run(job, made, watch)
        if dry_run and isinstance(job, Pipeline):
            show_estimate(guess, as_json)
        elif summary is not None:
            show_summary(summary, as_json)
        else:
            (show_plan if plan else show_checked)(made, as_json)
