"""Jobs over whole tables: read, call a transform, write.

A job is first made ready, which checks all that can be checked without reading the events; then
it runs, and what it did is counted on the way by Spark's observations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from ramify.jobs.description import (
    BacktestJob,
    Coalesce,
    CoalesceJob,
    Job,
    Pipeline,
    Route,
    Sink,
    Source,
    StatisticsJob,
)
from ramify.jobs.faults import told_plainly
from ramify.jobs.formats import format_of_source
from ramify.jobs.progress import Watch
from ramify.jobs.reading import (
    ROWS,
    SUSPECT,
    Table,
    check_there,
    observed,
    read_events,
    read_plain,
    read_subscriptions,
)
from ramify.jobs.reasons import Reasons, reasons
from ramify.jobs.summary import MAIN, Rejected, Summary
from ramify.jobs.writing import check_sink, check_writable, write
from ramify.model import Statistics
from ramify.pipeline.coalescing import coalesce_with_rejects
from ramify.pipeline.comparing import backtest_with_rejects
from ramify.pipeline.content import is_json
from ramify.pipeline.measuring import read_statistics, statistics
from ramify.pipeline.rejects import count_rejects
from ramify.pipeline.routing import route_with_rejects
from ramify.pipeline.schema import FIELDS, SOURCE, TS, quoted

READING, PLANNING, BAD_ROWS = "reading", "planning", "bad rows"


@dataclass(frozen=True, slots=True)
class SetAside:
    """Rows that a job may set aside, and whether it is worth to look."""

    rows: DataFrame
    may_be: Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Counted:
    """Rows that pass by, counted under a name."""

    name: str
    count: Callable[[], int]


@dataclass(frozen=True, slots=True)
class Ready:
    """A job that is checked and planned; its events are not read yet."""

    job: str
    answer: DataFrame
    counted: tuple[Counted, ...]
    set_aside: tuple[SetAside, ...]
    why: str | None = None
    content: str | None = None


# ── before any work ───────────────────────────────────────────────────────────────────────


def sources_of(job: Job) -> tuple[Source, ...]:
    """All that a job reads."""
    found = (
        getattr(job, name, None) for name in ("events", "subscriptions", "deliveries", "current", "candidate")
    )
    return tuple(source for source in found if isinstance(source, Source))


def sinks_of(job: Job) -> tuple[Sink, ...]:
    """All that a job writes."""
    return job.sinks if job.rejects is None else (*job.sinks, job.rejects)


def check_sources(job: Job) -> None:
    """Refuse inputs that are not there, or whose format nobody knows; this needs no Spark."""
    for source in sources_of(job):
        check_there(source)
        format_of_source(source)


def check_sinks(job: Job) -> None:
    """Refuse outputs that cannot be; this needs no Spark."""
    for sink in sinks_of(job):
        check_sink(sink, sources_of(job))


# ── made ready ────────────────────────────────────────────────────────────────────────────


def ready(spark: SparkSession, job: Job, watch: Watch) -> Ready:
    """Check a job and plan it."""
    for sink in sinks_of(job):
        check_writable(spark, sink)
    return _READY[type(job)](spark, job, watch)


def _route(spark: SparkSession, job: Pipeline, watch: Watch) -> Ready:
    with watch.phase(READING):
        events = read_events(spark, job.events, job.route.fields)
        subscriptions = read_subscriptions(spark, job.subscriptions)
        planned_by = statistics_of(spark, job.route)
    with watch.phase(PLANNING), told_plainly("route"), reasons(job.route.strategy) as why:
        routed = route_with_rejects(
            events.rows,
            subscriptions.rows,
            strategy=job.route.strategy,
            fields=job.route.fields,
            identity=job.route.identity,
            statistics=planned_by,
        )
        set_aside = _bad_of(events, routed.rejects, job.route.fields, subscriptions)
        counted = (Counted("events", events.count),)
        if job.coalesce is None:
            return _answering(
                "route", "deliveries", routed.deliveries, counted, set_aside, why, job.route.fields
            )
        return _coalesced("route", routed.deliveries, job.coalesce, counted, set_aside, why, job.route.fields)


def _coalesce(spark: SparkSession, job: CoalesceJob, watch: Watch) -> Ready:
    with watch.phase(READING):
        table = read_events(spark, job.deliveries)
    set_aside = () if table.rejects is None else (SetAside(table.rejects, table.is_suspect),)
    with watch.phase(PLANNING), told_plainly("coalesce"):
        return _coalesced("coalesce", table.rows, job.coalesce, (), set_aside, None, None)


def _statistics(spark: SparkSession, job: StatisticsJob, watch: Watch) -> Ready:
    with watch.phase(READING):
        events = read_events(spark, job.events, job.fields)
    set_aside = () if events.rejects is None else (SetAside(events.rejects, events.is_suspect),)
    with watch.phase(PLANNING), told_plainly("stats"):
        answer = statistics(events.rows, fields=job.fields, top=job.top)
        return _answering("stats", "counts", answer, (Counted("events", events.count),), set_aside)


def _backtest(spark: SparkSession, job: BacktestJob, watch: Watch) -> Ready:
    with watch.phase(READING):
        events = read_events(spark, job.events, job.route.fields)
        sets = [read_subscriptions(spark, source) for source in (job.current, job.candidate)]
    with watch.phase(PLANNING), told_plainly("backtest"), reasons(job.route.strategy) as why:
        current, candidate = (each.rows for each in sets)
        compared = backtest_with_rejects(
            events.rows, current, candidate, strategy=job.route.strategy, fields=job.route.fields
        )
        set_aside = _bad_of(events, compared.rejects, job.route.fields, *sets)
        counted = (Counted("events", events.count),)
        return _answering("backtest", "subscribers", compared.changes, counted, set_aside, why)


_READY: dict[type, Callable[[SparkSession, Any, Watch], Ready]] = {
    Pipeline: _route,
    CoalesceJob: _coalesce,
    StatisticsJob: _statistics,
    BacktestJob: _backtest,
}


def statistics_of(spark: SparkSession, route: Route) -> Statistics | None:
    """The counts to plan by, if any are given."""
    return None if route.statistics is None else read_statistics(read_plain(spark, route.statistics))


def _coalesced(
    job: str,
    deliveries: DataFrame,
    policy: Coalesce,
    counted: tuple[Counted, ...],
    set_aside: tuple[SetAside, ...],
    why: Reasons | None,
    content: str | None,
) -> Ready:
    missing = [name for name in (TS, *policy.key) if name in deliveries.columns]
    is_suspect = reduce(Column.__or__, (F.col(quoted(name)).isNull() for name in missing), F.lit(False))
    watched, passing = _observed("deliveries", deliveries, is_suspect)
    parts = coalesce_with_rejects(
        watched,
        key=policy.key,
        quiet=policy.quiet,
        max_wait=policy.max_wait,
        max_count=policy.max_count,
        keep=policy.keep,
        edge=policy.edge,
        order=policy.order,
    )
    # This would route once more; so it is only done where there are such rows.
    bad = SetAside(parts.rejects, passing.is_suspect)
    return _answering(job, "fired", parts.fired, (*counted, passing.counted), (*set_aside, bad), why, content)


def _answering(
    job: str,
    unit: str,
    answer: DataFrame,
    counted: tuple[Counted, ...],
    set_aside: tuple[SetAside, ...],
    why: Reasons | None = None,
    content: str | None = None,
) -> Ready:
    watched, passing = _observed(unit, answer)
    words = None if why is None else why.words
    return Ready(job, watched, (*counted, passing.counted), set_aside, words, content or FIELDS)


def _bad_of(events: Table, rejects: DataFrame, fields: str | None, *sets: Table) -> tuple[SetAside, ...]:
    """Events are looked at again only if one was suspect, or if only Python can tell."""
    only_python_can_tell = is_json(events.rows.schema, fields)
    found = [
        SetAside(
            rejects.where(F.col(SOURCE) == "event"), lambda: only_python_can_tell or events.is_suspect()
        ),
        SetAside(rejects.where(F.col(SOURCE) != "event"), _always),
    ]
    found += [] if events.rejects is None else [SetAside(events.rejects, events.is_suspect)]
    found += [SetAside(each.rejects, _always) for each in sets if each.rejects is not None]
    return tuple(found)


def _always() -> bool:
    return True


@dataclass(frozen=True, slots=True)
class _Passing:
    counted: Counted
    is_suspect: Callable[[], bool]


def _observed(name: str, rows: DataFrame, is_suspect: Column | None = None) -> tuple[DataFrame, _Passing]:
    observation = Observation()
    suspects = F.count_if(F.lit(False) if is_suspect is None else is_suspect).alias(SUSPECT)
    watched = rows.observe(observation, F.count(F.lit(1)).alias(ROWS), suspects)

    def seen(what: str, otherwise: Callable[[], int]) -> int:
        found = observed(observation)
        return otherwise() if found is None else found[what]

    count = Counted(name, lambda: seen(ROWS, rows.count))
    return watched, _Passing(count, lambda: seen(SUSPECT, lambda: 1) > 0)


# ── run ───────────────────────────────────────────────────────────────────────────────────


def run(job: Job, made: Ready, watch: Watch) -> Summary:
    """Write what a job answers and what it set aside, and say what was done."""
    with watch.phase(MAIN):
        _write_all(made, job.sinks)
    with watch.phase(BAD_ROWS):
        rejects = _write_rejects(made, job.rejects)
    return Summary(
        job=made.job,
        out=tuple(sink.path or sink.format or "" for sink in job.sinks),
        counts={each.name: each.count() for each in made.counted},
        rejects=rejects,
        strategy=made.why,
        phases=tuple(watch.phases),
    )


def _write_all(made: Ready, sinks: Sequence[Sink]) -> None:
    # With several outputs the answer is kept: it is worked out once.
    answer = made.answer.persist() if len(sinks) > 1 else made.answer
    for sink in sinks:
        write(answer, sink, made.content)
    if len(sinks) > 1:
        answer.unpersist()


def _write_rejects(made: Ready, sink: Sink | None) -> tuple[Rejected, ...]:
    bad = [part.rows for part in made.set_aside if part.may_be()]
    if not bad and sink is None:
        return ()
    bad = bad or [part.rows.limit(0) for part in made.set_aside[:1]]
    if not bad:
        return ()
    rows = reduce(DataFrame.unionByName, bad)
    with told_plainly("bad rows"):
        if sink is None:
            return rejected_by_reason(rows)
        rows.persist()
        write(rows, sink)
        found = rejected_by_reason(rows)
        rows.unpersist()
        return found


def rejected_by_reason(rows: DataFrame) -> tuple[Rejected, ...]:
    """Count what was set aside."""
    return tuple(Rejected(row[0], row[1], row[2]) for row in count_rejects(rows).collect())
