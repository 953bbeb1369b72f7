"""Statistics feed the planner; a backtest says what would have been different."""

from __future__ import annotations

from pyspark.sql import SparkSession

from ramify import Router, pipeline

SUBSCRIPTIONS = "subscription_id string, subscriber string, pattern string, where string"


def test_statistics_count_topics_and_values_and_change_a_plan(spark: SparkSession) -> None:
    rows = [("t", f'{{"side": "back", "customer": {at}, "m": {{"x": true}}, "l": [1]}}') for at in range(50)]
    events = spark.createDataFrame(
        [*rows, ("u", None), (None, "{}"), ("u", "{oops")], "topic string, fields string"
    )
    found = pipeline.read_statistics(pipeline.statistics(events, top=5))
    assert found.events == 52
    assert found.topics == {"t": 50, "u": 2}
    assert found.values["side"] == {"back": 50}
    assert found.values["m.x"] == {True: 50}
    assert set(found.values["customer"].values()) == {1}
    assert len(found.values["customer"]) == 5
    assert "l" not in found.values
    router = Router(statistics=found)
    subscription = router.subscribe("t", "me", where="side = 'back' and customer = 7")
    assert router.plan(subscription).keys == ("customer = 7",)


def test_statistics_read_structs_and_events_without_content(spark: SparkSession) -> None:
    events = spark.createDataFrame(
        [("t", (1, "x")), ("t", (1, None))], "topic string, fields struct<n: int, s: string>"
    )
    assert pipeline.read_statistics(pipeline.statistics(events)).values == {"n": {1: 2}, "s": {"x": 1}}
    assert pipeline.read_statistics(pipeline.statistics(events.drop("fields"))).topics == {"t": 2}


def test_a_backtest_says_who_would_gain_lose_and_keep_how_many_events(spark: SparkSession) -> None:
    events = spark.createDataFrame(
        [(f"a/{at % 4}", f'{{"n": {at}}}') for at in range(20)], "topic string, fields string"
    )
    current = spark.createDataFrame(
        [
            ("1", "ann", "a/0", None),
            ("2", "ann", "+/0", None),
            ("3", "bob", "a/+", "n < 10"),
            ("4", "cat", "a/3", None),
        ],
        SUBSCRIPTIONS,
    )
    candidate = spark.createDataFrame(
        [
            ("1", "ann", "a/0", None),
            ("2", "ann", "a/1", None),
            ("3", "bob", "a/+", "n >= 8"),
            ("5", "dan", "#", None),
        ],
        SUBSCRIPTIONS,
    )
    for strategy in ("broadcast", "join"):
        found = pipeline.backtest(events, current, candidate, strategy=strategy)
        assert found.columns == ["subscriber", "gained", "lost", "unchanged"]
        assert sorted(map(tuple, found.collect())) == [
            ("ann", 5, 0, 5), ("bob", 10, 8, 2), ("cat", 0, 5, 0), ("dan", 20, 0, 0),
        ]  # fmt: skip
