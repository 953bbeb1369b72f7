"""What a job would make of all events, estimated from a sample of them."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, to_builtins
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ramify.jobs.batch import PLANNING, READING, rejected_by_reason, statistics_of
from ramify.jobs.description import Pipeline
from ramify.jobs.faults import told_plainly
from ramify.jobs.progress import Watch
from ramify.jobs.reading import read_events, read_subscriptions
from ramify.jobs.reasons import reasons
from ramify.jobs.summary import Rejected
from ramify.pipeline.routing import route_with_rejects
from ramify.pipeline.schema import COUNT, SUBSCRIBER

SAMPLE = 10_000
TOP = 10
SEED = 7
"""The same sample each time, so that two dry runs can be compared."""

SAMPLING = "sampling"


class Receiver(Struct, frozen=True):
    """A subscriber, and how many deliveries it would get of all events."""

    subscriber: str
    deliveries: int


class Estimate(Struct, frozen=True, kw_only=True):
    """What routing all events would give."""

    events: int
    sampled: int
    deliveries: int
    """Of all events."""
    subscribers: int
    """Those that get something of the sample."""
    top: tuple[Receiver, ...]
    rejects: tuple[Rejected, ...]
    """Of the sample, and of all subscriptions."""
    strategy: str | None

    def document(self) -> dict[str, Any]:
        """The same for scripts."""
        found: dict[str, Any] = to_builtins(self)
        return found


def estimate(spark: SparkSession, job: Pipeline, watch: Watch, size: int = SAMPLE) -> Estimate:
    """Route a sample, and scale what comes out."""
    with watch.phase(READING):
        events = read_events(spark, job.events, job.route.fields)
        subscriptions = read_subscriptions(spark, job.subscriptions)
        planned_by = statistics_of(spark, job.route)
    with watch.phase(SAMPLING), told_plainly(job.events.path or "events"):
        total = events.uncounted.count()
        sample = _sample(events.rows, total, size).persist()
        taken = sample.count()
    with watch.phase(PLANNING), told_plainly("route"), reasons(job.route.strategy) as why:
        routed = route_with_rejects(
            sample,
            subscriptions.rows,
            strategy=job.route.strategy,
            fields=job.route.fields,
            identity=job.route.identity,
            statistics=planned_by,
        )
        per = routed.deliveries.groupBy(SUBSCRIBER).agg(F.count(F.lit(1)).alias(COUNT)).persist()
        made, receivers = per.agg(F.coalesce(F.sum(COUNT), F.lit(0)), F.count(F.lit(1))).collect()[0]
        top = per.orderBy(F.desc(COUNT), SUBSCRIBER).limit(TOP).collect()
        rejects = routed.rejects
        if subscriptions.rejects is not None:
            rejects = rejects.unionByName(subscriptions.rejects)
        found = rejected_by_reason(rejects)
        for kept in (per, sample):
            kept.unpersist()
    share = total / taken if taken else 0.0
    return Estimate(
        events=total,
        sampled=taken,
        deliveries=round(made * share),
        subscribers=receivers,
        top=tuple(Receiver(row[0], round(row[1] * share)) for row in top),
        rejects=found,
        strategy=why.words,
    )


def _sample(rows: DataFrame, total: int, size: int) -> DataFrame:
    if total <= size:
        return rows
    # About so many: a limit would cut off the end, and the end may be unlike the beginning.
    return rows.sample(fraction=size / total, seed=SEED)
