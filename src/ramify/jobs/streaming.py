"""`stream`: events come in, find their subscriptions, are coalesced, and go on; until it is stopped.

Each output is a query of its own with its own checkpoint: one for each sink, and one for bad rows.
Subscriptions are looked at from time to time, and changes are taken up without a restart.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from ramify.errors import JobFailed, RamifyError
from ramify.jobs.batch import statistics_of
from ramify.jobs.checkpoints import Checkpoint, place_of_checkpoint
from ramify.jobs.description import Coalesce, Pipeline, Sink, Stream
from ramify.jobs.faults import sentence
from ramify.jobs.reading import ROWS, SUSPECT
from ramify.jobs.stream_checks import check_stream
from ramify.jobs.stream_sinks import Output, start_query
from ramify.jobs.stream_sources import EVENTS, Events, stream_events
from ramify.jobs.watched import Refreshed, WatchedSubscriptions
from ramify.pipeline.coalescing import coalesce_with_rejects
from ramify.pipeline.durations import UNITS, microseconds
from ramify.pipeline.routing import Routed, route_with_rejects
from ramify.pipeline.schema import FIELDS
from ramify.pipeline.streaming import PROVIDER, ROCKSDB

DELIVERIES, REJECTS = "deliveries", "rejects"
GRACE = 60.0
"""Seconds that a micro-batch has to end in when the stream is stopped."""

_OURS = re.compile(r"ramify\.errors\.\w+: ([^\n]*)")


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """What one micro-batch of one query has done."""

    query: str
    number: int
    events: int
    """Read, bad ones included."""
    deliveries: int
    rejects: int
    """Bad events; of the query that writes them, all that it wrote."""
    late: int
    """Deliveries that came too late to be coalesced, or had no key."""
    seconds: float
    watermark: str | None = None


@dataclass(slots=True)
class RunningStream:
    """A stream that has been started."""

    checkpoint: Checkpoint
    subscriptions: WatchedSubscriptions
    queries: dict[str, StreamingQuery]
    _seen: dict[str, int] = field(default_factory=dict)

    @property
    def is_active(self) -> bool:
        """Whether any of its queries still runs."""
        return any(query.isActive for query in self.queries.values())

    def look(self, now: float) -> Refreshed | None:
        """Take up changed subscriptions, if it is time to look for them."""
        return self.subscriptions.look(now)

    def batches(self) -> Iterator[MicroBatch]:
        """The micro-batches that have ended since this was last asked."""
        for name, query in self.queries.items():
            for progress in query.recentProgress:
                number = int(progress["batchId"])
                if number > self._seen.get(name, -1) and "addBatch" in progress["durationMs"]:
                    self._seen[name] = number
                    yield _batch(name, progress)

    def check(self) -> None:
        """Raise what has ended a query; then the others are stopped as well."""
        for name, query in self.queries.items():
            failure = query.exception()
            if failure is not None:
                self.stop(grace=0.0)
                raise failure_of(failure, name)

    def stop(self, grace: float = GRACE) -> None:
        """End after the micro-batches that are under way."""
        for query in self.queries.values():
            _settle(query, time.monotonic() + grace)
            query.stop()
        self.checkpoint.close()

    def wait(self, every: float = 0.2) -> list[MicroBatch]:
        """Wait until it ends by itself, and say what was done; subscriptions are followed meanwhile."""
        done: list[MicroBatch] = []
        while self.is_active:
            self.check()
            self.look(time.monotonic())
            done += self.batches()
            time.sleep(every)
        self.check()
        done += self.batches()
        self.stop()
        return done


def stream(spark: SparkSession, described: Pipeline) -> RunningStream:
    """Start a stream; it goes on until it is stopped, or has caught up if that was asked for."""
    how = check_stream(described)
    checkpoint = Checkpoint(place_of_checkpoint(described), described)
    try:
        return _started(spark, described, how, checkpoint)
    except BaseException:
        checkpoint.close()
        raise


def _started(spark: SparkSession, described: Pipeline, how: Stream, checkpoint: Checkpoint) -> RunningStream:
    every = microseconds(how.refresh) / UNITS["s"]
    planned_by = statistics_of(spark, described.route)
    subscriptions = WatchedSubscriptions(spark, described.subscriptions, planned_by, every, time.monotonic())
    running = RunningStream(checkpoint, subscriptions, {})
    try:
        for name, output in _outputs(spark, described, how, checkpoint, subscriptions):
            running.queries[name] = start_query(output, name, checkpoint.of(name), how)
    except BaseException:
        running.stop(grace=0.0)
        raise
    return running


def _outputs(
    spark: SparkSession,
    described: Pipeline,
    how: Stream,
    checkpoint: Checkpoint,
    subscriptions: WatchedSubscriptions,
) -> Iterator[tuple[str, Output]]:
    content, identity = described.route.fields or FIELDS, described.route.identity

    def read(name: str) -> Events:
        return stream_events(spark, described.events, described.route.fields, checkpoint, name)

    for name, sink in _named(described.sinks):
        deliveries = _routed(read(name).rows, subscriptions, described).deliveries
        if described.coalesce is not None:
            deliveries = _coalesced(spark, deliveries, described.coalesce, how)
        counted = deliveries.observe(DELIVERIES, F.count(F.lit(1)).alias(ROWS))
        yield name, Output(counted, sink, content, identity)
    if described.rejects is not None:
        events = read(REJECTS)
        bad = _routed(events.rows, subscriptions, described).rejects
        bad = bad if events.broken is None else bad.unionByName(events.broken)
        yield REJECTS, Output(bad.observe(REJECTS, F.count(F.lit(1)).alias(ROWS)), described.rejects, content)


def _named(sinks: tuple[Sink, ...]) -> Iterator[tuple[str, Sink]]:
    for number, sink in enumerate(sinks, 1):
        yield DELIVERIES if number == 1 else f"{DELIVERIES}-{number}", sink


def _routed(events: DataFrame, subscriptions: WatchedSubscriptions, described: Pipeline) -> Routed:
    route = described.route
    return route_with_rejects(
        events, subscriptions.live, strategy=route.strategy, fields=route.fields, identity=route.identity
    )


def _coalesced(spark: SparkSession, deliveries: DataFrame, policy: Coalesce, how: Stream) -> DataFrame:
    # The state of a stream's buckets is too large for Spark's own default.
    spark.conf.set(PROVIDER, ROCKSDB)
    return coalesce_with_rejects(
        deliveries,
        key=policy.key,
        quiet=policy.quiet,
        max_wait=policy.max_wait,
        max_count=policy.max_count,
        keep=policy.keep,
        edge=policy.edge,
        order=policy.order,
        lateness=how.watermark,
    ).fired


# ── what has happened ─────────────────────────────────────────────────────────────────────


def _batch(name: str, progress: Any) -> MicroBatch:
    metrics = progress["observedMetrics"]
    coalesced = [
        _metric(metrics, key, kind) for key in metrics if key.startswith("coalesce") for kind in _LATE
    ]
    is_of_rejects = name == REJECTS
    return MicroBatch(
        query=name,
        number=int(progress["batchId"]),
        events=_metric(metrics, EVENTS, ROWS),
        deliveries=_metric(metrics, DELIVERIES, ROWS),
        rejects=_metric(metrics, REJECTS, ROWS) if is_of_rejects else _metric(metrics, EVENTS, SUSPECT),
        late=sum(coalesced),
        seconds=progress["durationMs"].get("triggerExecution", 0) / 1_000,
        watermark=(progress.get("eventTime") or {}).get("watermark"),
    )


_LATE = ("late", "unkeyed")


def _metric(metrics: Any, name: str, what: str) -> int:
    row = metrics.get(name)
    return 0 if row is None else int(row[what] or 0)


def _settle(query: StreamingQuery, deadline: float) -> None:
    """Wait for the end of the micro-batch that is under way, or for the beginning of the next."""
    before = query.lastProgress
    while query.isActive and time.monotonic() < deadline:
        if not query.status["isTriggerActive"] or query.lastProgress != before:
            return
        time.sleep(0.02)


def failure_of(failure: PySparkException, name: str) -> RamifyError:
    """What ended a query, in a sentence: ours, if it was one of our own errors."""
    ours = _OURS.findall(str(failure))
    if not ours:
        return JobFailed(name, sentence(str(failure)))
    place, _, reason = ours[-1].partition(": ")
    return JobFailed(place, reason)
