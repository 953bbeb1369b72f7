"""A busy topic, a busy customer, or a pattern that takes everything, does not leave one task alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ramify import pipeline
from ramify.pipeline import skew

PARTITIONS = 8
EVENTS = 3_000
LARGEST = 0.3
"""The share of the largest task; one of eight would be 0.125, and a hot key alone has half."""


@pytest.fixture
def shuffled(spark: SparkSession) -> Iterator[SparkSession]:
    """Joins that send all rows of a key to one task, small as the tables are."""
    settings = {
        "spark.sql.autoBroadcastJoinThreshold": "-1",
        "spark.sql.shuffle.partitions": str(PARTITIONS),
    }
    before = {key: spark.conf.get(key) for key in settings}
    for key, value in settings.items():
        spark.conf.set(key, value)
    yield spark
    for key, old in before.items():
        assert old is not None
        spark.conf.set(key, old)


def events(spark: SparkSession) -> DataFrame:
    """Half of all on one topic, and half of all of one customer."""
    at = F.col("id")
    return spark.range(EVENTS).select(
        at.alias("event_id"),
        F.when(at % 2 == 0, "busy/topic").otherwise(F.concat(F.lit("plant/"), at)).alias("topic"),
        F.struct(F.when(at % 4 < 2, 7).otherwise(at).alias("customer")).alias("fields"),
    )


def largest_share(deliveries: DataFrame) -> tuple[float, int]:
    counted = deliveries.groupBy(F.spark_partition_id().alias("task")).count().collect()
    counts = [row["count"] for row in counted]
    return max(counts) / sum(counts), sum(counts)


def subscribed(spark: SparkSession, *rows: tuple[str, str | None]) -> DataFrame:
    numbered = [(f"s{at}", "someone", *row) for at, row in enumerate(rows)]
    return spark.createDataFrame(
        numbered, "subscription_id string, subscriber string, pattern string, where string"
    )


TOPICS = [("busy/topic", None), *((f"plant/{at}", None) for at in range(1, EVENTS, 2))]
CUSTOMERS = [("#", f"customer = {at}") for at in sorted({7, *range(2, EVENTS, 4), *range(3, EVENTS, 4)})]
EVERYTHING = [("#", None)]


@pytest.mark.parametrize("rows", [TOPICS, CUSTOMERS, EVERYTHING], ids=["a topic", "a customer", "everything"])
def test_no_task_gets_more_than_its_share(
    shuffled: SparkSession, rows: list[tuple[str, str | None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    table, given = subscribed(shuffled, *rows), events(shuffled)
    share, count = largest_share(pipeline.route(given, table, strategy="join"))
    assert (share < LARGEST, count) == (True, EVENTS), share
    monkeypatch.setattr(skew, "HOT", 2.0)  # nothing is
    share, count = largest_share(pipeline.route(given, table, strategy="join"))
    assert (share >= 0.5, count) == (True, EVENTS), share
