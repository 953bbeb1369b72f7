"""Coalescing a table means what the deferred queue means, driven by the times of the rows."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random, randrange
from typing import Any

import pytest
from pyspark.sql import SparkSession

from ramify import pipeline
from ramify.deferred import FIRST, LAST, DeferredQueue, Edge, Policy
from ramify.errors import InvalidPolicy, InvalidTable
from ramify.pipeline.durations import microseconds

START = datetime(2026, 1, 1, tzinfo=UTC)
SCHEMA = "device string, ts timestamp, number long"

POLICIES = [
    {"quiet": "5s"},
    {"quiet": "5s", "keep": "first"},
    {"quiet": "5s", "max_wait": "12s"},
    {"quiet": 0},
    {"quiet": "5s", "max_wait": 12, "max_count": 3},
    {"quiet": "5s", "edge": "leading"},
    {"quiet": "5s", "max_wait": "12s", "edge": "leading"},
    {"quiet": "5s", "edge": "both"},
    {"quiet": "5s", "max_wait": "12s", "edge": "both", "keep": "first"},
    {"quiet": "5s", "max_count": 2, "edge": "both"},
]

Row = tuple[str, int, int]


def made(dice: Random) -> list[Row]:
    """Key, second and number; four keys often pushed in one second, one of them without end."""
    rows = [(dice.choice("abcd"), dice.randrange(200), at) for at in range(250)]
    return rows + [("hot", second, 1_000 + second) for second in range(150)]


def by_queue(rows: list[Row], policy: dict[str, Any]) -> list[tuple[str, int, int]]:
    """What a queue gives out if it is drained at the time of each row, and then takes it."""
    queue = DeferredQueue(
        Policy(
            microseconds(policy["quiet"]),
            microseconds(policy["max_wait"]) if "max_wait" in policy else None,
            policy.get("max_count"),
            Edge(policy.get("edge", "trailing")),
            FIRST if policy.get("keep") == "first" else LAST,
        )
    )
    fired = []
    for key, second, number in sorted(rows, key=lambda row: row[1:]):
        now = second * 1_000_000
        fired += queue.drain(now)
        queue.push(key, number, now=now)
    fired += queue.drain(float("inf"))
    return sorted((item.key, item.data, int(item.deadline)) for item in fired)


@pytest.fixture
def tiny_batches(spark: SparkSession) -> Iterator[None]:
    """So small that bursts go over their ends."""
    name = "spark.sql.execution.arrow.maxRecordsPerBatch"
    usual = str(spark.conf.get(name))
    spark.conf.set(name, "7")
    yield
    spark.conf.set(name, usual)


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_a_table_fires_as_a_queue_does_that_its_times_drive(
    spark: SparkSession, tiny_batches: None, policy: dict[str, Any]
) -> None:
    seed = randrange(10**9)
    print(f"seed {seed}")
    rows = made(Random(seed))
    table = spark.createDataFrame([(key, START + timedelta(seconds=at), n) for key, at, n in rows], SCHEMA)
    fired = pipeline.coalesce(table, key="device", order=["number"], **policy)
    assert fired.columns == ["device", "ts", "number", "fired_at", "merged"]
    found = fired.selectExpr("device", "number", "unix_micros(fired_at) as at", "merged").collect()
    start = int(START.timestamp()) * 1_000_000
    assert sorted((row.device, row.number, row.at - start) for row in found) == by_queue(rows, policy)
    if policy.get("edge", "trailing") == "trailing":
        assert sum(row.merged for row in found) == len(rows)


def test_rows_without_time_or_key_are_set_aside(spark: SparkSession) -> None:
    table = spark.createDataFrame([("a", START, 1), (None, START, 2), ("a", None, 3)], SCHEMA)
    done = pipeline.coalesce_with_rejects(table, key=["device", "number"], quiet=timedelta(seconds=5))
    assert [row.number for row in done.fired.collect()] == [1]
    reasons = {row.reason for row in done.rejects.collect()}
    assert reasons == {"the time is null", "the key column 'device' is null"}


def test_what_cannot_be_carried_out_is_refused(spark: SparkSession) -> None:
    table = spark.createDataFrame([], SCHEMA)
    for wrong in ({"quiet": "soon"}, {"quiet": -1}, {"quiet": 5, "keep": "best"}, {"quiet": 5, "edge": "no"},
                  {"quiet": "5s", "max_wait": "1s"}):  # fmt: skip
        with pytest.raises(InvalidPolicy):
            pipeline.coalesce(table, key="device", **wrong)
    with pytest.raises(InvalidTable, match="'ts' is missing"):
        pipeline.coalesce(table.drop("ts"), key="device", quiet=1)
    with pytest.raises(InvalidTable, match="'who' is missing"):
        pipeline.coalesce(table, key="who", quiet=1)


def test_durations_are_read_as_people_write_them() -> None:
    assert [microseconds(each) for each in ("250ms", "30s", "1.5m", "1h", "1d", 2, timedelta(seconds=1))] == [
        250_000, 30_000_000, 90_000_000, 3_600_000_000, 86_400_000_000, 2_000_000, 1_000_000,
    ]  # fmt: skip
