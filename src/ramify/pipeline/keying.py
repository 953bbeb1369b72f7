"""What coalescing must know of a row, in columns of our own: its key, its time, and a tie-break.

Batch and stream take them from here, so that they see the same keys in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, IntegralType, LongType, StringType, StructField, StructType

from ramify.pipeline.schema import FIRED_AT, MERGED, OURS, TS, is_hashable, quoted

KEY, AT, TIE, HASH = OURS + "key", OURS + "at", OURS + "tie", OURS + "hash"

MADE = (StructField(FIRED_AT, LongType()), StructField(MERGED, LongType()))
"""What Python adds to a row that fires; times are microseconds there."""


class Keyed(NamedTuple):
    """A table with our columns, and what leads back to its own."""

    table: DataFrame
    columns: StructType
    numbered: list[str]
    """The names of its columns on the way to Python: PySpark stumbles over a dot in a name."""

    @property
    def fired(self) -> StructType:
        """What comes back from Python."""
        named = zip(self.numbered, self.columns, strict=True)
        return StructType([*(StructField(name, field.dataType) for name, field in named), *MADE])

    def restored(self, fired: DataFrame) -> DataFrame:
        """What came back from Python, under its own names and with times again."""
        moment = F.timestamp_micros(FIRED_AT).cast(self.columns[TS].dataType)
        named = zip(self.numbered, self.columns.names, strict=True)
        renamed = [F.col(name).alias(given) for name, given in named]
        return fired.select(*renamed, moment.alias(FIRED_AT), F.col(MERGED))


def keyed(deliveries: DataFrame, keys: Sequence[str]) -> Keyed:
    """Add a row's key as text, its time in microseconds, a hash of all of it, and one of its key."""
    names = deliveries.columns
    numbered = [f"{OURS}{at}" for at in range(len(names))]
    hashed = [quoted(each.name) for each in deliveries.schema if is_hashable(each.dataType)]
    own = [F.col(quoted(name)).alias(number) for name, number in zip(names, numbered, strict=True)]
    key, at = key_of(deliveries.schema, keys), F.unix_micros(F.col(TS).cast("timestamp"))
    tie, spread = F.xxhash64(*hashed), F.xxhash64(key)
    table = deliveries.select(*own, key.alias(KEY), at.alias(AT), tie.alias(TIE), spread.alias(HASH))
    return Keyed(table, deliveries.schema, numbered)


def key_of(schema: StructType, keys: Sequence[str]) -> Column:
    """A text that two rows share if and only if they have the same key."""
    if len(keys) == 1 and _is_plain(schema[keys[0]].dataType):
        return F.col(quoted(keys[0])).cast(StringType())
    return F.to_json(F.struct(*(quoted(name) for name in keys)))


def why_unkeyed(keys: Sequence[str]) -> Column:
    """Why a row cannot be coalesced, or null."""
    reason = F.when(F.col(TS).isNull(), "the time is null")
    for name in keys:
        reason = reason.when(F.col(quoted(name)).isNull(), f"the key column {name!r} is null")
    return reason


def _is_plain(kind: DataType) -> bool:
    return isinstance(kind, StringType | IntegralType)
