"""Realms, times, share groups, bad rows and bad tables."""

from __future__ import annotations

import logging
from collections import Counter
from datetime import datetime, timedelta
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ramify import Router, pipeline
from ramify.errors import CallerError, InvalidTable
from tests.pipeline.made import pairs

STRATEGIES = ("broadcast", "join")
NOON = datetime(2026, 1, 1, 12)
both = pytest.mark.parametrize("strategy", STRATEGIES)


def events_on(spark: SparkSession, *topics: str | None) -> DataFrame:
    return spark.createDataFrame(list(enumerate(topics)), "event_id long, topic string")


def subscribed(spark: SparkSession, *rows: tuple[Any, ...], more: str = "") -> DataFrame:
    return spark.createDataFrame(
        list(rows), f"subscription_id string, subscriber string, pattern string{more}"
    )


# ── realms and times ──────────────────────────────────────────────────────────────────────


@both
def test_realms_are_apart_and_a_missing_one_is_the_default(spark: SparkSession, strategy: str) -> None:
    events = spark.createDataFrame(
        [(0, "a", "red"), (1, "a", None), (2, "a", "default")], "event_id long, topic string, realm string"
    )
    table = subscribed(
        spark, ("r", "x", "a", "red"), ("d", "x", "a", None), ("*", "x", "+", "red"), more=", realm string"
    )
    found = pipeline.route(events, table, strategy=strategy)
    assert pairs(found) == [(0, "*"), (0, "r"), (1, "d"), (2, "d")]


@both
def test_history_is_routed_with_the_subscriptions_of_its_time(spark: SparkSession, strategy: str) -> None:
    hours = [NOON + timedelta(hours=at) for at in range(4)]
    events = spark.createDataFrame(
        [(at, "a", hour) for at, hour in enumerate(hours)], "event_id long, topic string, ts timestamp"
    )
    table = subscribed(
        spark,
        ("until", "x", "a", None, hours[1]),
        ("from", "x", "a", hours[2], None),
        ("between", "x", "a", hours[1], hours[3]),
        ("ever", "x", "a", None, None),
        ("ever", "x", "a", hours[3], None),
        more=", valid_from timestamp, valid_to timestamp",
    )
    found = pipeline.route(events, table, strategy=strategy)
    assert pairs(found) == [
        (0, "ever"), (0, "until"), (1, "between"), (1, "ever"), (2, "between"), (2, "ever"), (2, "from"),
        (3, "ever"), (3, "ever"), (3, "from"),
    ]  # fmt: skip


# ── share groups ──────────────────────────────────────────────────────────────────────────

GROUPS = (
    ("g1", "x", "$share/workers/a/+", None),
    ("g2", "y", "$share/workers/a/+", None),
    ("g3", "z", "$share/workers/a/+", None),
    ("h1", "x", "a/#", "named"),
    ("h2", "y", "a/1", "named"),
    ("h3", "y", "*1", "named"),
    ("alone", "z", "a/#", None),
)


def grouped(spark: SparkSession) -> DataFrame:
    table = subscribed(spark, *GROUPS, more=", group string")
    return table.withColumn("dialect", F.when(F.col("subscription_id") == "h3", "glob"))


@both
def test_one_member_of_each_group_gets_an_event_and_all_members_get_some(
    spark: SparkSession, strategy: str
) -> None:
    topics = [f"a/{at % 3}" for at in range(90)]
    found = pairs(pipeline.route(events_on(spark, *topics), grouped(spark), strategy=strategy))
    router = Router()
    for id, who, pattern, group in GROUPS:
        router.subscribe(pattern, who, id=id, group=group, dialect="glob" if id == "h3" else "mqtt")
    for event, topic in enumerate(topics):
        ids = {id for at, id in found if at == event}
        assert ids <= {match.subscription.id for match in router.match(topic, collapse_groups=False)}
        assert sorted(id[0] for id in ids) == ["a", "g", "h"]
    assert all(count >= 9 for count in Counter(id for _, id in found if id in ("g1", "g2", "g3")).values())
    assert len({id for _, id in found}) == len(GROUPS)


def test_groups_choose_the_same_whatever_the_strategy_the_partitions_and_the_order(
    spark: SparkSession,
) -> None:
    events = events_on(spark, *(f"a/{at % 3}" for at in range(60)))
    first = pairs(pipeline.route(events, grouped(spark), strategy="broadcast"))
    again = events.repartition(3).orderBy(F.desc("event_id"))
    assert pairs(pipeline.route(again, grouped(spark), strategy="join")) == first
    assert (
        pairs(pipeline.route(again, grouped(spark).orderBy(F.desc("subscription_id")), strategy="broadcast"))
        == first
    )


@both
def test_two_events_that_are_alike_in_all_columns_are_two(spark: SparkSession, strategy: str) -> None:
    events = spark.createDataFrame([("a/1",), ("a/1",)], "topic string")
    assert pipeline.route(events, grouped(spark), strategy=strategy).count() == 6


# ── bad rows ──────────────────────────────────────────────────────────────────────────────


@both
def test_bad_rows_are_set_aside_with_a_reason_and_the_rest_goes_on(
    spark: SparkSession, strategy: str
) -> None:
    events = spark.createDataFrame(
        [
            (0, "a", "{}"),
            (1, None, "{}"),
            (2, "a", "{oops"),
            (3, "a", "[1]"),
            (4, "a", None),
            (5, "a", '{"n": 1}'),
        ],
        "event_id long, topic string, fields string",
    )
    table = subscribed(
        spark,
        ("good", "x", "a", None, None),
        ("where", "x", "+", "n = 1", None),
        ("pattern", "x", "a/#/b", None, None),
        ("criteria", "x", "a", "n = ", None),
        ("dialect", "x", "a", None, "latin"),
        ("null", "x", None, None, None),
        ("twice", "x", "b", None, None),
        ("twice", "x", "c", None, None),
        more=", where string, dialect string",
    )
    routed = pipeline.route_with_rejects(events, table, strategy=strategy)
    assert pairs(routed.deliveries) == [(0, "good"), (4, "good"), (5, "good"), (5, "where")]
    reasons = sorted((row.source, row.reason) for row in routed.rejects.collect())
    assert [source for source, _ in reasons] == ["event"] * 3 + ["subscription"] * 5
    said = " | ".join(reason for _, reason in reasons)
    for part in (
        "the topic is null", "the content is not JSON", "the content is not an object", "'#' stands only as",
        "unknown dialect 'latin'", "pattern is null", "the id twice is given again", "n = ",
    ):  # fmt: skip
        assert part in said
    assert sum(row["count"] for row in pipeline.count_rejects(routed.rejects).collect()) == 8
    assert any('"event_id":2' in row.row for row in routed.rejects.collect())


@both
def test_content_that_nobody_asks_about_is_not_read(spark: SparkSession, strategy: str) -> None:
    events = spark.createDataFrame([(0, "a", "{oops")], "event_id long, topic string, fields string")
    routed = pipeline.route_with_rejects(events, subscribed(spark, ("s", "x", "a")), strategy=strategy)
    assert pairs(routed.deliveries) == [(0, "s")]
    assert routed.rejects.count() == 0


@both
def test_no_subscriptions_make_no_deliveries(spark: SparkSession, strategy: str) -> None:
    nobody = subscribed(spark, ("s", "x", "a")).where("subscriber = 'nobody'")
    assert pipeline.route(events_on(spark, "a"), nobody, strategy=strategy).count() == 0


# ── bad tables ────────────────────────────────────────────────────────────────────────────

EVENT = "topic string"
SUBSCRIPTION = "subscription_id string, subscriber string, pattern string"


@pytest.mark.parametrize(
    ("events", "subscriptions", "said"),
    [
        ("title string", SUBSCRIPTION, "events: the column 'topic' is missing"),
        ("topic int", SUBSCRIPTION, "events: the column 'topic' is int, wanted text"),
        (f"{EVENT}, fields int", SUBSCRIPTION, "events: the column 'fields' is int, wanted a struct"),
        (f"{EVENT}, fields map<int,int>", SUBSCRIPTION, "events: the column 'fields' is map<int,int>"),
        (
            f"{EVENT}, subscriber string",
            SUBSCRIPTION,
            "events: the column 'subscriber' is a name that the answer",
        ),
        (
            EVENT,
            "subscription_id string, subscriber string",
            "subscriptions: the column 'pattern' is missing",
        ),
        (EVENT, f"{SUBSCRIPTION}, where int", "subscriptions: the column 'where' is int, wanted text"),
        (EVENT, f"{SUBSCRIPTION}, valid_to timestamp", "events: the column 'ts' is missing"),
        (
            f"{EVENT}, ts timestamp_ntz",
            f"{SUBSCRIPTION}, valid_to timestamp",
            "events: the column 'ts' is timestamp_ntz",
        ),
    ],
)
def test_a_table_without_what_is_needed_is_refused_by_column_before_any_job(
    spark: SparkSession, events: str, subscriptions: str, said: str
) -> None:
    # A table whose rows cannot be had: whoever ran a job on it would fail in another way.
    tables = [
        spark.createDataFrame([], schema).where(F.raise_error(F.lit("a job ran")).isNull())
        for schema in (events, subscriptions)
    ]
    with pytest.raises(InvalidTable, match=said.replace("(", r"\(")):
        pipeline.route(*tables)


def test_a_content_column_of_another_name_is_taken_if_it_is_there(spark: SparkSession) -> None:
    events = spark.createDataFrame([(0, "a", '{"n": 1}')], "event_id long, topic string, body string")
    table = subscribed(spark, ("s", "x", "a", "n = 1"), more=", where string")
    assert pairs(pipeline.route(events, table, fields="body")) == [(0, "s")]
    with pytest.raises(InvalidTable, match="'load' is missing"):
        pipeline.route(events, table, fields="load")


def test_auto_says_why_it_chose(
    spark: SparkSession, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = subscribed(spark, ("s", "x", "a"))
    with caplog.at_level(logging.INFO, "ramify.pipeline"):
        pipeline.route(events_on(spark, "a"), table)
        monkeypatch.setattr("ramify.pipeline.tasks.LARGE", 1)
        assert pipeline.route(events_on(spark, "a"), table).count() == 1
    assert [record.message.split(":")[0] for record in caplog.records] == [
        "strategy broadcast",
        "strategy join",
    ]
    with pytest.raises(CallerError, match="unknown strategy 'fast'"):
        pipeline.route(events_on(spark, "a"), table, strategy="fast")
