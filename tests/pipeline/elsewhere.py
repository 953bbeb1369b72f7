"""The transforms in a session of another kind, beside what the reference says. As a process of its own:

python -m tests.pipeline.elsewhere master|remote ADDRESS
"""

from __future__ import annotations

import sys
from collections import Counter
from random import Random
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from ramify import pipeline
from tests.pipeline.made import (
    SUBSCRIPTIONS,
    Row,
    as_json,
    event_rows,
    expected,
    pairs,
    subscription_rows,
)
from tests.pipeline.servers import QUICK

SQL = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}
SETTINGS = SQL | {
    "spark.default.parallelism": "2",
    "spark.executor.memory": "600m",
    "spark.driver.memory": "600m",
    "spark.driver.extraJavaOptions": QUICK,
    "spark.executor.extraJavaOptions": QUICK,
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    # A master elsewhere would ask for the name of this machine.
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.pyspark.python": sys.executable,
}

Events = list[tuple[int, str, dict[str, Any]]]


def made(seed: int = 7) -> tuple[list[Row], Events]:
    dice = Random(seed)
    return subscription_rows(dice, 60), event_rows(dice, 60)


def check_route(spark: SparkSession, subscriptions: list[Row], events: Events) -> None:
    wanted = sorted(expected(subscriptions, events))
    table = spark.createDataFrame(subscriptions, SUBSCRIPTIONS)
    for strategy in ("broadcast", "join"):
        assert pairs(pipeline.route(as_json(spark, events), table, strategy=strategy)) == wanted, strategy
    wide = as_json(spark, events).withColumn("payload", F.lit("p"))
    routed = pipeline.route_with_rejects(wide, table)
    assert pairs(routed.deliveries) == wanted
    assert pipeline.count_rejects(routed.rejects).collect() == []


def check_coalesce(spark: SparkSession) -> None:
    rows = spark.createDataFrame([("a", 1), ("a", 1_500), ("b", 2_000), ("a", 9_000)], "who string, ms long")
    timed = rows.withColumn("ts", F.timestamp_millis("ms"))
    fired = pipeline.coalesce(timed, key="who", quiet="2s").withColumn("at", F.unix_millis("fired_at"))
    found = sorted((row.who, row.ms, row["at"], row.merged) for row in fired.collect())
    assert found == [("a", 1_500, 3_500, 2), ("a", 9_000, 11_000, 1), ("b", 2_000, 4_000, 1)]


def check_statistics(spark: SparkSession, events: Events) -> None:
    counts = pipeline.read_statistics(pipeline.statistics(as_json(spark, events)))
    assert counts.events == len(events)
    assert counts.topics == Counter(topic for _, topic, _ in events)


def check_backtest(spark: SparkSession, subscriptions: list[Row], events: Events) -> None:
    before, after = subscriptions[:60], subscriptions[40:]
    got = [_received(rows, events) for rows in (before, after)]
    wanted = {
        who: tuple(len({at for at, other in each if other == who}) for each in _changes(*got))
        for who in {who for each in got for _, who in each}
    }
    current, candidate = (spark.createDataFrame(rows, SUBSCRIPTIONS) for rows in (before, after))
    found = pipeline.backtest(as_json(spark, events), current, candidate).collect()
    assert {row.subscriber: (row.gained, row.lost, row.unchanged) for row in found} == wanted


_Received = set[tuple[int, str]]


def _received(rows: list[Row], events: Events) -> _Received:
    who = {row[0]: row[1] for row in rows}
    return {(at, who[id]) for at, id in expected(rows, events)}


def _changes(before: _Received, after: _Received) -> tuple[_Received, _Received, _Received]:
    return after - before, before - after, after & before


def main(kind: str, address: str) -> None:
    settings = SQL if kind == "remote" else SETTINGS
    spark = pipeline.session(**{kind: address}, settings=settings)
    subscriptions, events = made()
    check_route(spark, subscriptions, events)
    check_coalesce(spark)
    if kind == "remote":  # where tables are of another class; a cluster has nothing new for these
        check_statistics(spark, events)
        check_backtest(spark, subscriptions, events)
    print("all as the reference says, in", type(spark).__module__)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
