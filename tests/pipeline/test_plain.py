"""What is read without Python is read as Python reads it."""

from __future__ import annotations

from random import Random, randrange

from pyspark.sql import SparkSession

from ramify.files.rows import Row, RowReader
from ramify.pipeline.filing import Sample, place_of
from ramify.pipeline.plain import LONGEST, is_plain, probe_and_key
from ramify.pipeline.subscriptions import subscription_table

EDGES = [
    *("#", "+", "/", "//", "/#", "+/#", "a", "a/#", "a//#", "a/+/b", "+/+", "/+", "+/", " ", "a b/+"),
    *(
        "$SYS/#",
        "$share/g/a",
        "a\n",
        "a+",
        "a#",
        "a/#/b",
        "#/",
        "",
        "é/+",
        "😀",
        "a\0",
        "a\tb",
        '"\\/+',
        "+#",
    ),
    "/".join("x" * 32),
    "/".join("+" * 32) + "/#",
    "/".join("+" * 33),
    "x" * LONGEST,
    "+/" + "x" * LONGEST,
]
NOT_PLAIN = {"$SYS/#", "$share/g/a", "a\n", "a+", "a#", "a/#/b", "#/", "", "é/+", "😀", "a\0", "a\tb", "+#"}


def made(count: int) -> list[str]:
    seed = randrange(10**9)
    print(f"seed {seed}")
    dice = Random(seed)
    signs = ("+", "+", "a", "bc", "", "#", "x y", "1", "a+")
    return ["/".join(dice.choices(signs, k=dice.randint(1, 6))) for _ in range(count)]


def test_a_plain_pattern_has_the_probe_and_key_that_the_parser_gives(spark: SparkSession) -> None:
    texts = [*EDGES, *made(500)]
    rows = [(f"s{at}", "someone", text) for at, text in enumerate(texts)]
    table = spark.createDataFrame(rows, "subscription_id string, subscriber string, pattern string")
    probe, key = probe_and_key()
    found = subscription_table(table).select("pattern", is_plain().alias("plain"), probe, key).collect()
    reader, plain = RowReader(), set()
    for text, says_plain, probe_text, key_text in found:
        if says_plain:
            plain.add(text)
            subscription = reader.subscription(Row("someone", text, "s"))
            assert place_of(subscription, Sample()) == (probe_text, key_text, None, None), text
    assert not plain & NOT_PLAIN
    assert {"#", "+", "/", "/#", "a//#", '"\\/+', "a b/+", "x" * LONGEST} <= plain


def test_a_row_that_asks_for_more_than_a_pattern_is_not_plain(spark: SparkSession) -> None:
    names = ("subscription_id", "subscriber", "pattern", "dialect", "match", "where", "group")
    plain = ("s", "someone", "a/+", None, None, None, None)
    others: list[dict[str, str | None]] = [
        {"dialect": "glob"},
        {"match": "exact"},
        {"where": "n = 1"},
        {"where": "("},
        {"group": "g"},
        {"subscription_id": None},
        {"subscriber": None},
        {"pattern": None},
    ]
    given: list[dict[str, str | None]] = [{}, {"dialect": "mqtt"}, *others]
    rows = [dict(zip(names, plain, strict=True)) | other for other in given]
    schema = ", ".join(f"`{name}` string" for name in names)
    table = spark.createDataFrame([tuple(row.values()) for row in rows], schema)
    found = [row[0] for row in subscription_table(table).select(is_plain()).collect()]
    assert found == [True, True, *(False for _ in others)]
