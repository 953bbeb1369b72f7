"""Made-up subscriptions and events in all dialects, from a seed, over so few letters that they often meet."""

from __future__ import annotations

import json
from collections.abc import Iterable
from random import Random
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from ramify.criteria import parse_criteria
from ramify.model import ALWAYS, Subscription
from ramify.patterns import parse_pattern
from tests.implementations import by_reference, by_router

WORDS = ("a", "b", "ab", "é", "$s", "")
TEXTS = ("", "x", "xy", "yx", "é", "5")
NUMBERS = (0, 1, 2, 2.5, -1, 2**53, 2**53 + 1, 10**30)

EVENTS = "event_id long, topic string, fields string"
SUBSCRIPTIONS = "subscription_id string, subscriber string, dialect string, pattern string, where string"

Row = tuple[Any, ...]


def subscription_rows(dice: Random, count: int) -> list[Row]:
    """Rows in all dialects, half of them with criteria."""
    return [
        (f"s{at}", f"client {at % 7}", *_pattern(dice), _criteria(dice) if dice.random() < 0.5 else None)
        for at in range(count)
    ]


def event_rows(dice: Random, count: int) -> list[tuple[int, str, dict[str, Any]]]:
    return [(at, _topic(dice), content(dice)) for at in range(count)]


def content(dice: Random) -> dict[str, Any]:
    """Fields of the types that the struct of `as_struct` has, or missing, or null."""
    made = {
        "n": dice.choice((0, 1, 2, 2**53, 2**53 + 1, None)),
        "f": dice.choice((0.0, 1.0, 2.5, -0.0, None)),
        "t": dice.choice((*TEXTS, None)),
        "b": dice.choice((True, False, None)),
        "m": {"k": dice.choice((1, 2, None)), "t": dice.choice(TEXTS)},
    }
    return {name: value for name, value in made.items() if dice.random() < 0.8}


def as_json(spark: SparkSession, events: Iterable[tuple[int, str, dict[str, Any]]]) -> DataFrame:
    return spark.createDataFrame([(at, topic, json.dumps(each)) for at, topic, each in events], EVENTS)


def subscriptions_of(rows: Iterable[Row]) -> list[Subscription]:
    return [
        Subscription(id, who, parse_pattern(text, dialect), parse_criteria(where) if where else ALWAYS)
        for id, who, dialect, text, where in rows
    ]


def expected(rows: list[Row], events: Iterable[tuple[int, str, dict[str, Any]]]) -> set[tuple[int, str]]:
    """What the reference says; the router says the same of every twentieth event."""
    subscriptions = subscriptions_of(rows)
    found = set()
    for at, topic, fields in events:
        wanted = by_reference(subscriptions, topic, fields)
        if at % 20 == 0:
            assert by_router(subscriptions, topic, fields) == wanted
        found |= {(at, id) for id in wanted}
    return found


def pairs(deliveries: DataFrame) -> list[tuple[int, str]]:
    return sorted((row.event_id, row.subscription_id) for row in deliveries.collect())


def _topic(dice: Random) -> str:
    return dice.choice("/.").join(dice.choices(WORDS, k=dice.randint(1, 4)))


def _pattern(dice: Random) -> tuple[str, str]:
    while True:
        dialect = dice.choice(("mqtt", "wamp", "path", "glob", "nats"))
        separator, one, rest = _SIGNS[dialect]
        words = [one if dice.random() < 0.4 else dice.choice(WORDS) for _ in range(dice.randint(1, 4))]
        if rest and dice.random() < 0.3:
            words.append(rest)
        text = separator.join(words)
        if dialect == "nats" and "" in words:
            continue
        if text:
            return dialect, text


_SIGNS = {
    "mqtt": ("/", "+", "#"),
    "wamp": (".", "_", "*"),
    "path": ("/", "*", None),
    "glob": ("", "*", "/"),
    "nats": (".", "*", ">"),
}


def _criteria(dice: Random, depth: int = 0) -> str:
    if depth < 2 and dice.random() < 0.45:
        left, right = _criteria(dice, depth + 1), _criteria(dice, depth + 1)
        return dice.choice(
            (f"({left} and {right})", f"({left} and {right})", f"({left} or {right})", f"not ({left})")
        )
    path = dice.choice(("n", "f", "t", "b", "m.k", "m.t", "gone", "m"))
    value = dice.choice([_literal(dice.choice(NUMBERS)), _literal(dice.choice(TEXTS)), "true"])
    return dice.choice(
        (
            f"{path} = {value}",
            f"{path} = {value}",
            f"{path} != {value}",
            f"{path} in ({value}, 1, 'x')",
            f"{path} >= {value}",
            f"{path} between 0 and 2.5",
            f"{path} like 'x%'",
            f"exists({path})",
        )
    )


def _literal(value: float | str) -> str:
    return f"'{value}'" if isinstance(value, str) else str(value)
