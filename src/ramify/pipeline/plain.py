"""Reads the plainest subscriptions without Python: MQTT's patterns, and no more than that.

Sets of many millions are mostly of these. What is plain is decided narrowly, and is good for sure;
whatever is not, a bad row included, is read by the parsers. Both file a pattern under the same key.
"""

from __future__ import annotations

import msgspec
from pyspark.sql import Column
from pyspark.sql import functions as F

from ramify.model import Rest
from ramify.patterns.mqtt import NOTATION, RULES
from ramify.pipeline.filing import DEEP, EXACT
from ramify.pipeline.schema import (
    DIALECT,
    GROUP,
    MATCH,
    PATTERN,
    SUBSCRIBER,
    SUBSCRIPTION_ID,
    WHERE,
    quoted,
)

LONGEST = 256
"""So many characters at most: Java's regular expressions go deeper with each level."""

# What can be printed in ASCII, without the signs that mean something. `$` would let a last newline pass.
_LEVEL = r"(?:[+]|[\x20-\x22\x24-\x2a\x2c-\x2e\x30-\x7e]*)"
_PLAIN = rf"\A(?:{_LEVEL}(?:/{_LEVEL}){{0,{DEEP - 1}}}(?:/#)?|#)\z"


def is_plain() -> Column:
    """Whether a row is one of these."""
    pattern = F.col(PATTERN)
    asks_for_more = [F.col(quoted(name)) for name in (MATCH, WHERE, GROUP)]
    tests = [
        (F.col(SUBSCRIPTION_ID) != "") & (F.col(SUBSCRIBER) != ""),
        F.coalesce(F.col(DIALECT).isin("", "mqtt"), F.lit(True)),
        *(F.coalesce(each == "", F.lit(True)) for each in asks_for_more),
        F.length(pattern).between(1, LONGEST) & ~pattern.startswith("$"),
        pattern.rlike(_PLAIN),
    ]
    all_hold = tests[0]
    for test in tests[1:]:
        all_hold &= test
    return F.coalesce(all_hold, F.lit(False))


def probe_and_key() -> tuple[Column, Column]:
    """What `filing.place_of` says of a plain pattern."""
    pattern = F.col(PATTERN)
    has_rest = pattern.endswith(NOTATION.rest or "")
    levels = F.split(F.regexp_replace(pattern, "/?#$", ""), RULES.separator, -1)
    words = F.when(pattern == "#", F.array().cast("array<string>")).otherwise(levels)
    numbered = F.transform(words, lambda word, at: F.struct(word.alias("word"), at.alias("at")))
    literal = F.filter(numbered, lambda each: each["word"] != NOTATION.one)
    places = F.array_join(F.transform(literal, lambda each: each["at"].cast("string")), ",")
    rest = F.when(has_rest, NOTATION.rest_takes.value).otherwise(Rest.NONE.value)
    rules = msgspec.json.encode((RULES.separator, RULES.wildcard_takes_empty, RULES.hides_internal)).decode()
    size = F.size(words).cast("string")
    probe = F.concat(F.lit(f'{rules[:-1]},"'), rest, F.lit('",'), size, F.lit(",["), places, F.lit("]]"))
    key = F.array_join(F.transform(literal, lambda each: each["word"]), RULES.separator)
    is_exact = ~has_rest & ~pattern.contains(NOTATION.one)
    return F.when(is_exact, EXACT).otherwise(probe), F.when(is_exact, pattern).otherwise(key)
