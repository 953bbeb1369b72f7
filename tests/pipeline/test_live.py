"""Streams are routed as tables are, and subscriptions that change are taken up between micro-batches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from ramify import pipeline
from ramify.errors import CallerError, InvalidTable
from tests.pipeline.made import pairs

EVENTS = "event_id long, topic string, fields string"
SUBSCRIPTIONS = "subscription_id string, subscriber string, pattern string, where string, group string"


class Stream:
    """A folder of event files that is read as a stream."""

    def __init__(self, spark: SparkSession, folder: Path, schema: str = EVENTS) -> None:
        self._spark, self._folder, self._schema = spark, folder, schema
        folder.mkdir()
        self.events = spark.readStream.schema(schema).json(str(folder))

    def add(self, *rows: tuple[Any, ...]) -> None:
        """Put a file of events into the folder."""
        table = self._spark.createDataFrame(list(rows), self._schema)
        table.coalesce(1).write.mode("append").json(str(self._folder))


@contextmanager
def running(table: DataFrame, name: str) -> Iterator[StreamingQuery]:
    """A query that writes to a table in memory."""
    query = table.writeStream.format("memory").queryName(name).outputMode("append").start()
    try:
        yield query
    finally:
        query.stop()


def subscribed(spark: SparkSession, *rows: tuple[Any, ...]) -> DataFrame:
    return spark.createDataFrame([(*row, *(None,) * (5 - len(row))) for row in rows], SUBSCRIPTIONS)


@pytest.fixture
def stream(spark: SparkSession, tmp_path: Path) -> Stream:
    return Stream(spark, tmp_path / "events")


def test_changed_subscriptions_are_taken_up_between_micro_batches(
    spark: SparkSession, stream: Stream
) -> None:
    live = pipeline.live(spark, subscribed(spark, ("old", "ann", "a/+")))
    stream.add((1, "a/b", None))
    with running(pipeline.route(stream.events, live), "changing") as query:
        query.processAllAvailable()
        live.refresh(subscribed(spark, ("new", "bob", "a/#"), ("n", "bob", "a/+", "n = 2", "workers")))
        stream.add((2, "a/b", '{"n": 2}'), (3, "a/b", '{"n": 3}'))
        query.processAllAvailable()
        found = pairs(spark.table("changing"))
    assert found == [(1, "old"), (2, "n"), (2, "new"), (3, "new")]
    assert (live.version, live.count) == (2, 2)


def test_many_refreshes_leave_few_files_and_the_newest_holds(spark: SparkSession, stream: Stream) -> None:
    from ramify.pipeline.shipped import KEPT, _folder

    live = pipeline.live(spark, subscribed(spark, ("0", "x", "a")))
    with running(pipeline.route(stream.events, live), "refreshed") as query:
        for at in range(1, 7):
            live.refresh(subscribed(spark, (str(at), "x", "a")))
            if at % 3 == 0:  # so that some versions are never opened
                stream.add((at, "a", None))
                query.processAllAvailable()
        assert pairs(spark.table("refreshed")) == [(3, "3"), (6, "6")]
    whole = [file for file in _folder().glob(f"{live.name}.*") if file.stat().st_size]
    assert len(whole) == KEPT


def test_a_source_that_is_called_is_asked_again_and_its_bad_rows_are_told(spark: SparkSession) -> None:
    sets = iter([[("1", "x", "a")], [("2", "x", "a"), ("bad", "x", "a/#/b")]])
    live = pipeline.live(spark, lambda: subscribed(spark, *next(sets)))
    events = spark.createDataFrame([(7, "a", None)], EVENTS)
    routed = pipeline.route(events, live)
    assert pairs(routed) == [(7, "1")]
    assert live.rejects.count() == 0
    assert live.refresh() == 2
    assert pairs(routed) == [(7, "2")]
    assert [row.source for row in live.rejects.collect()] == ["subscription"]


def test_a_refused_refresh_leaves_the_old_subscriptions_in_force(spark: SparkSession) -> None:
    live = pipeline.live(spark, subscribed(spark, ("1", "x", "a")))
    table = subscribed(spark, ("2", "x", "a"))
    with pytest.raises(InvalidTable, match="'pattern' is missing"):
        live.refresh(table.drop("pattern"))
    with pytest.raises(InvalidTable, match="cannot come, go or change"):
        live.refresh(table.withColumn("valid_from", F.current_timestamp()))
    assert pairs(pipeline.route(spark.createDataFrame([(7, "a", None)], EVENTS), live)) == [(7, "1")]
    with pytest.raises(CallerError, match="a join cannot follow them"):
        pipeline.route(table.select(F.lit("a").alias("topic")), live, strategy="join")


def test_bad_events_of_a_stream_are_a_stream_of_their_own(spark: SparkSession, stream: Stream) -> None:
    table = subscribed(spark, ("1", "x", "a", "n = 1"), ("bad", "x", "a/#/b"))
    fixed = pipeline.route_with_rejects(stream.events, table)
    live = pipeline.route_with_rejects(stream.events, pipeline.live(spark, table))
    stream.add((1, "a", '{"n": 1}'), (2, None, "{}"), (3, "a", "{oops"), (4, "a", "[1]"))
    with (
        running(fixed.deliveries, "fixed"),
        running(fixed.rejects, "fixed_bad"),
        running(live.deliveries, "live"),
        running(live.rejects, "live_bad"),
    ):
        for query in spark.streams.active:
            query.processAllAvailable()
        for name in ("fixed", "live"):
            assert pairs(spark.table(name)) == [(1, "1")]
            reasons = [row.reason for row in spark.table(f"{name}_bad").collect()]
            assert len(reasons) == 3
            assert sum("not JSON" in reason for reason in reasons) == 1


def test_a_stream_of_subscriptions_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "subscriptions"
    folder.mkdir()
    streaming = spark.readStream.schema(SUBSCRIPTIONS).json(str(folder))
    events = spark.createDataFrame([(7, "a", None)], EVENTS)
    with pytest.raises(CallerError, match="the subscriptions are a stream"):
        pipeline.route(events, streaming)
    with pytest.raises(CallerError, match="a stream of subscriptions"):
        pipeline.live(spark, streaming)
