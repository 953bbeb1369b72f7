"""Routing by index: all subscriptions frozen into one file that every worker maps into memory.

Events come to the index as Arrow batches and only with what it asks for. Where an event has no
more than a few plain columns they go along, which is the fastest; otherwise they stay in the JVM.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DatetimeType,
    IntegerType,
    NumericType,
    StructField,
    StructType,
)

from ramify.pipeline.schema import EVENT_ID, OURS, REALM, TOPIC, quoted
from ramify.pipeline.shipped import matched
from ramify.pipeline.vectorised import vectorised

NUMBER = OURS + "number"
NUMBERS = OURS + "numbers"
_CONTENT = OURS + "content"

FEW = 6
"""So many columns at most go along through Python."""


@dataclass(frozen=True, slots=True)
class Index:
    """A shipped index, and what of an event's content it asks for."""

    name: str
    content: Column | None


def with_number(events: DataFrame, index: Index) -> DataFrame:
    """A row for each event and subscription that wants it, with the number of the subscription."""
    if not goes_along(events.schema):
        return events.withColumn(NUMBERS, numbers_of(index)).select(
            *(quoted(name) for name in events.columns), F.explode(NUMBERS).alias(NUMBER)
        )
    schema = StructType([*events.schema.fields, StructField(NUMBER, IntegerType())])
    asked = events if index.content is None else events.withColumn(_CONTENT, index.content)
    return asked.mapInArrow(partial(_flat, name=index.name, kept=len(events.columns)), schema)


def goes_along(schema: StructType) -> bool:
    """Whether the columns of events are so few and short that taking them through Python is cheap."""
    fixed = (NumericType, DatetimeType, BooleanType)
    short = [isinstance(each.dataType, fixed) or each.name in (TOPIC, REALM, EVENT_ID) for each in schema]
    # PySpark itself stumbles over a dot or a quote in a name on the way to Python.
    is_plain = not any(sign in name for name in schema.names for sign in ".`")
    return is_plain and len(short) <= FEW and all(short)


def numbers_of(index: Index) -> Column:
    """The numbers of the subscriptions that want an event, as an array."""
    name, kind, topic = index.name, ArrayType(IntegerType()), F.col(quoted(TOPIC))
    if index.content is None:

        def by_topic(topics: pa.Array) -> pa.Array:
            return _lists(name, topics, None)

        return vectorised(by_topic, kind, topic)

    def by_topic_and_content(topics: pa.Array, contents: pa.Array) -> pa.Array:
        return _lists(name, topics, contents)

    return vectorised(by_topic_and_content, kind, topic, index.content)


# ── in the workers ────────────────────────────────────────────────────────────────────────


def _flat(batches: Iterator[pa.RecordBatch], name: str, kept: int) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        contents = batch.column(kept) if batch.num_columns > kept else None
        rows, numbers = matched(name, batch.column(TOPIC), contents)
        taken = batch.select(list(range(kept))).take(pa.array(rows))
        yield pa.RecordBatch.from_arrays([*taken.columns, pa.array(numbers)], [*taken.schema.names, NUMBER])


def _lists(name: str, topics: pa.Array, contents: pa.Array | None) -> pa.Array:
    rows, numbers = matched(name, topics, contents)
    starts = np.searchsorted(rows, np.arange(len(topics) + 1)).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(starts), pa.array(numbers))
