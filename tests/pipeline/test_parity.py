"""Broadcast, join, the router and the reference say the same, on the tables of truth and on made-up data."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from random import Random, randrange
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ramify import pipeline
from tests.cases import load
from tests.criteria.cases import CRITERIA_CASES
from tests.pipeline.made import (
    SUBSCRIPTIONS,
    Row,
    as_json,
    event_rows,
    expected,
    pairs,
    subscription_rows,
)

STRATEGIES = ("broadcast", "join")
Event = tuple[int, str, dict[str, Any]]
Case = tuple[str, list[tuple[str, str, str | None]], str, dict[str, Any], set[int]]


def table_cases() -> Iterator[Case]:
    """Every row of every table: its subscriptions, its event, and which of them want it."""
    for at, glob in enumerate(load.glob_match()):
        yield (
            f"glob {at}",
            [("glob", text, None) for text in glob.patterns],
            glob.topic,
            {},
            set(glob.expected),
        )
    for dialect, cases in (("mqtt", load.mqtt_match()), ("wamp", load.wamp_match())):
        for at, case in enumerate(cases):
            yield (
                f"{dialect} {at}",
                [(dialect, case.pattern, None)],
                case.topic,
                {},
                {0} if case.match else set(),
            )
    for at, share in enumerate(load.mqtt_share()):
        yield f"share {at}", [("mqtt", share.pattern, None)], share.topic, {}, {0} if share.match else set()
    for at, each in enumerate(CRITERIA_CASES):
        wanted = {0} if each.expected else set()
        yield f"criteria {at}", [("mqtt", "a/+", each.criteria)], "a/b", each.fields, wanted


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_case_of_the_tables_is_answered_as_they_say_each_in_a_realm_of_its_own(
    spark: SparkSession, strategy: str
) -> None:
    events, subscriptions, wanted = [], [], set()
    for realm, patterns, topic, fields, matching in table_cases():
        events.append((realm, topic, json.dumps(fields)))
        subscriptions += [
            (realm, f"{realm}-{at}", "someone", dialect, text, where)
            for at, (dialect, text, where) in enumerate(patterns)
        ]
        wanted |= {f"{realm}-{at}" for at in matching}
    deliveries = pipeline.route(
        spark.createDataFrame(events, "realm string, topic string, fields string"),
        spark.createDataFrame(subscriptions, f"realm string, {SUBSCRIPTIONS}"),
        strategy=strategy,
    )
    found = [row.subscription_id for row in deliveries.collect()]
    assert len(found) == len(set(found))
    assert set(found) == wanted


@pytest.fixture(scope="module")
def made() -> tuple[list[Row], list[Event], list[tuple[int, str]]]:
    seed = randrange(10**9)
    print(f"seed {seed}")
    dice = Random(seed)
    subscriptions, events = subscription_rows(dice, 400), event_rows(dice, 300)
    return subscriptions, events, sorted(expected(subscriptions, events))


def as_struct(events: DataFrame) -> DataFrame:
    kind = "struct<n: long, f: double, t: string, b: boolean, m: struct<k: int, t: string>>"
    return events.withColumn("fields", F.from_json("fields", kind))


def as_variant(events: DataFrame) -> DataFrame:
    return events.withColumn("fields", F.parse_json("fields"))


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    "form", [lambda events: events, as_struct, as_variant], ids=["json", "struct", "variant"]
)
def test_made_up_events_go_to_whom_the_reference_says(
    spark: SparkSession, made: Any, form: Any, strategy: str
) -> None:
    subscriptions, events, wanted = made
    table = spark.createDataFrame(subscriptions, SUBSCRIPTIONS)
    deliveries = pipeline.route(form(as_json(spark, events)), table, strategy=strategy)
    assert deliveries.columns == ["event_id", "topic", "fields", "subscription_id", "subscriber"]
    assert pairs(deliveries) == wanted


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_maps_of_texts_are_content_too(spark: SparkSession, strategy: str) -> None:
    seed = randrange(10**9)
    print(f"seed {seed}")
    dice = Random(seed)
    subscriptions = subscription_rows(dice, 200)
    events = [(at, topic, {"t": f"{at % 6}", "gone": None}) for at, topic, _ in event_rows(dice, 100)]
    table = as_json(spark, events).withColumn("fields", F.from_json("fields", "map<string, string>"))
    deliveries = pipeline.route(table, spark.createDataFrame(subscriptions, SUBSCRIPTIONS), strategy=strategy)
    assert pairs(deliveries) == sorted(expected(subscriptions, events))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_events_without_content_and_with_other_columns_keep_these(spark: SparkSession, strategy: str) -> None:
    seed = randrange(10**9)
    print(f"seed {seed}")
    dice = Random(seed)
    subscriptions = subscription_rows(dice, 300)
    topics: list[Event] = [(at, topic, {}) for at, topic, _ in event_rows(dice, 100)]
    rows = [(at, topic, 1.5, True) for at, topic, _ in topics]
    table = spark.createDataFrame(rows, "event_id long, topic string, `an odd.name` double, flag boolean")
    deliveries = pipeline.route(table, spark.createDataFrame(subscriptions, SUBSCRIPTIONS), strategy=strategy)
    assert deliveries.columns == ["event_id", "topic", "an odd.name", "flag", "subscription_id", "subscriber"]
    assert pairs(deliveries) == sorted(expected(subscriptions, topics))


def test_more_probes_than_a_join_takes_go_into_the_index(
    spark: SparkSession, made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    subscriptions, events, wanted = made
    monkeypatch.setattr("ramify.pipeline.join.MANY_PROBES", 3)
    table = spark.createDataFrame(subscriptions, SUBSCRIPTIONS)
    assert pairs(pipeline.route(as_json(spark, events), table, strategy="join")) == wanted


# ── realms, times, groups and content all at once, as a table and as a stream ─────────────

OF_ALL = "realm string, valid_from timestamp, valid_to timestamp, group string"
BEGIN = datetime(2026, 1, 1)


def everything(dice: Random, spark: SparkSession) -> tuple[DataFrame, DataFrame]:
    """Events and subscriptions that make use of every column there is."""

    def moment() -> datetime | None:
        return BEGIN + timedelta(hours=dice.randint(0, 9)) if dice.random() < 0.6 else None

    subscribed = [
        (*row, dice.choice(("red", "blue", None)), moment(), moment(), dice.choice((None, "g", "h")))
        for row in subscription_rows(dice, 300)
    ]
    happened = [
        (
            at,
            topic,
            json.dumps(fields),
            BEGIN + timedelta(hours=dice.randint(0, 9)),
            dice.choice(("red", None)),
        )
        for at, topic, fields in event_rows(dice, 200)
    ]
    events = "event_id long, topic string, fields string, ts timestamp, realm string"
    return (
        spark.createDataFrame(happened, events),
        spark.createDataFrame(subscribed, f"{SUBSCRIPTIONS}, {OF_ALL}"),
    )


@pytest.mark.parametrize("form", [as_struct, as_variant], ids=["struct", "variant"])
def test_a_join_an_index_and_a_stream_agree_on_realms_times_groups_and_content(
    spark: SparkSession, tmp_path: Path, form: Any
) -> None:
    seed = randrange(10**9)
    print(f"seed {seed}")
    events, subscriptions = everything(Random(seed), spark)
    events.repartition(3).write.parquet(str(tmp_path / "events"))
    stream = form(spark.readStream.schema(events.schema).parquet(str(tmp_path / "events")))
    wanted = pairs(pipeline.route(form(events), subscriptions, strategy="join"))
    assert wanted
    assert pairs(pipeline.route(form(events), subscriptions, strategy="broadcast")) == wanted
    live = pipeline.live(spark, subscriptions)
    for name, given in (("agreed_fixed", subscriptions), ("agreed_live", live)):
        routed = pipeline.route(stream, given).select("event_id", "subscription_id")
        query = routed.writeStream.format("memory").queryName(name).trigger(availableNow=True).start()
        query.awaitTermination()
        assert pairs(spark.table(name)) == wanted
