"""Routing by join: probes and keys as columns, and an equi-join in Catalyst.

The subscriptions are never gathered in one place, so there may be any number of them. Each event
looks for a handful of keys, one for each probe in use. What no key can find (see `filing`) is
found by a shipped index, and its numbers are keys like any other: all meet in the same join.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, BooleanType, StringType

from ramify.model import Path
from ramify.pipeline.content import faults, held, seen_at
from ramify.pipeline.filing import key_of, read_path, words
from ramify.pipeline.schema import DEFAULT_REALM, OURS, REALM, WHERE, quoted
from ramify.pipeline.skew import HASH, SALT, spread_of
from ramify.pipeline.subscriptions import HAS_CRITERIA, KEY, PATH, PROBE, VALUES, WANTED_REALM, told
from ramify.pipeline.vectorised import vectorised

MANY_PROBES = 48
"""Beyond so many probes an event would look for too many keys: the least used go into the index."""

LOOK_UP = OURS + "look_up"
VALUE = OURS + "value"
CRITERIA = OURS + "criteria"
_SEEN = OURS + "seen"
_FAULT = OURS + "fault"
INDEX = 0
"""The number of the look-up that the index is; the others follow."""

NO_VALUE = ""
"""What stands for the value of a look-up that has none; real ones begin with their kind."""


@dataclass(frozen=True, slots=True)
class LookUp:
    """A probe, and the field that is looked at beside it."""

    probe: str
    path: str | None

    @property
    def name(self) -> str:
        """What tells it from the others."""
        return f"{self.probe} {self.path or ''}"


def chosen(counted: Iterable[tuple[LookUp, int]]) -> list[LookUp]:
    """The look-ups that most subscriptions are filed under, no more than an event can afford."""
    ranked = sorted(counted, key=lambda each: (-each[1], each[0].name))
    return [look_up for look_up, _ in ranked[:MANY_PROBES]]


def is_found_by(look_ups: list[LookUp]) -> Column:
    """Whether a subscription is filed under one of these."""
    return _number(look_ups) != INDEX


def filed(subscriptions: DataFrame, look_ups: list[LookUp]) -> DataFrame:
    """The subscriptions that a join finds, a row for each key."""
    values = F.coalesce(VALUES, F.array(F.lit(NO_VALUE)))
    criteria = F.when(F.col(HAS_CRITERIA), F.col(quoted(WHERE)))
    return subscriptions.where(is_found_by(look_ups)).select(
        *told(),
        KEY,
        _number(look_ups).alias(LOOK_UP),
        F.explode(values).alias(VALUE),
        criteria.alias(CRITERIA),
    )


def filed_by_number(table: DataFrame, number: str) -> DataFrame:
    """The subscriptions that the index finds, which has tested all of their criteria."""
    return table.withColumns(
        {
            KEY: F.col(number).cast("string"),
            LOOK_UP: F.lit(INDEX),
            VALUE: F.lit(NO_VALUE),
            CRITERIA: F.lit(None).cast("string"),
        }
    ).drop(number)


def _number(look_ups: list[LookUp]) -> Column:
    """The number of a subscription's look-up, from 1; that of the index if it is none of these."""
    name = F.concat(PROBE, F.lit(" "), F.coalesce(PATH, F.lit("")))
    names = F.array(*(F.lit(each.name) for each in look_ups)).cast("array<string>")
    return F.coalesce(F.array_position(names, name), F.lit(INDEX)).cast("int")


def with_keys(
    events: DataFrame, look_ups: list[LookUp], content: Column | None, numbers: Column | None
) -> DataFrame:
    """A row for each event and key to look for."""
    kept = [quoted(name) for name in events.columns]
    numbered = list(enumerate(look_ups, 1))
    paths = sorted({each.path for each in look_ups if each.path is not None})
    if paths and content is not None:
        events = events.withColumn(_SEEN, _seen(content, [read_path(path) for path in paths]))
    elif paths:
        numbered = [each for each in numbered if each[1].path is None]  # without content no value is met
    split = words(each.probe for _, each in numbered)
    events = events.withColumns(split) if split else events
    keys = [_key(number, each, paths) for number, each in numbered]
    found = F.filter(F.array(*keys), lambda key: key.isNotNull()) if keys else None
    if numbers is not None:
        by_index = F.transform(numbers, lambda number: _struct(INDEX, number.cast("string"), F.lit(NO_VALUE)))
        found = by_index if found is None else F.concat(found, by_index)
    if found is None:
        found = F.filter(F.array(_struct(INDEX, F.lit(""), F.lit(NO_VALUE))), lambda key: F.lit(False))
    return events.select(*kept, F.explode(found).alias(_KEYED)).select(*kept, f"{_KEYED}.*")


_KEYED = OURS + "keyed"


def _key(number: int, look_up: LookUp, paths: list[str]) -> Column:
    has_key, key = key_of(look_up.probe)
    if look_up.path is None:
        return F.when(has_key, _struct(number, key, F.lit(NO_VALUE)))
    value = F.get(F.col(_SEEN), F.lit(paths.index(look_up.path)))
    return F.when(has_key & value.isNotNull(), _struct(number, key, value))


def _struct(number: int, key: Column, value: Column) -> Column:
    return F.struct(F.lit(number).alias(LOOK_UP), key.alias(KEY), value.alias(VALUE))


_ALIKE = (LOOK_UP, KEY, VALUE, WANTED_REALM)


def joined(keyed: DataFrame, table: DataFrame, content: Column | None) -> DataFrame:
    """The events beside the subscriptions whose keys they have, the rest of the criteria tested."""
    keyed = keyed.withColumn(WANTED_REALM, realm_of(keyed)).withColumn(HASH, F.xxhash64(*_ALIKE))
    spread = spread_of(keyed, LOOK_UP)
    filed = spread.over_table(table.withColumn(HASH, F.xxhash64(*_ALIKE)))
    # The hash goes first: sorting by a number is quick, and it decides before a text is looked at.
    met = spread.over_events(keyed).join(filed, [HASH, SALT, *_ALIKE])
    return met if content is None else met.where(_holds(content))


def realm_of(events: DataFrame) -> Column:
    """The realm of each event."""
    known = [F.col(quoted(REALM))] if REALM in events.columns else []
    return F.coalesce(*known, F.lit(DEFAULT_REALM))


def without_faults(events: DataFrame, content: Column) -> DataFrame:
    """The events whose content can be read."""
    return events.where(fault(content).isNull())


# ── what only Python can tell ─────────────────────────────────────────────────────────────


def fault(content: Column) -> Column:
    """Why content that is JSON text cannot be read, or null."""

    def tell_fault(contents: pa.Array) -> pa.Array:
        return pa.array(faults(contents), pa.string())

    return vectorised(tell_fault, StringType(), content)


def _seen(content: Column, paths: list[Path]) -> Column:
    def see(contents: pa.Array) -> pa.Array:
        return pa.array(seen_at(contents, paths), pa.list_(pa.string()))

    return vectorised(see, ArrayType(StringType()), content)


def _holds(content: Column) -> Column:
    """Whether the rest of the criteria holds; rows without criteria cross to Python empty."""
    criteria = F.col(CRITERIA)
    asked = F.when(criteria.isNotNull(), content)

    def judge(criteria: pa.Array, contents: pa.Array) -> pa.Array:
        return pa.array(held(contents, criteria.to_pylist()), pa.bool_())

    return vectorised(judge, BooleanType(), criteria, asked)
