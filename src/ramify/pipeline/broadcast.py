"""Routing by index: all subscriptions frozen into one file that every worker maps into memory.

Events come to the index as Arrow batches and only with what it asks for. Where an event has no
more than a few plain columns they go along, which is the fastest; otherwise they stay in the JVM.
Nothing is joined, shuffled or remembered, so tables and streams are routed alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DatetimeType,
    IntegerType,
    NumericType,
    StringType,
    StructField,
    StructType,
)

from ramify.pipeline.content import faults
from ramify.pipeline.deliveries import DRAW
from ramify.pipeline.roster import Batch
from ramify.pipeline.schema import EVENT_ID, OURS, REALM, SUBSCRIBER, SUBSCRIPTION_ID, TOPIC, TS, quoted
from ramify.pipeline.shipped import Shipped, by_row, opened
from ramify.pipeline.subscriptions import SET
from ramify.pipeline.vectorised import vectorised

CONTENT = OURS + "content"
_NAMED = OURS + "named"

FEW = 6
"""So many columns at most go along through Python."""

WINDOW, HEAVY = 500_000, 1 << 26
"""So many events, or bytes of them, are looked at together."""

WHO = [StructField(SUBSCRIPTION_ID, StringType()), StructField(SUBSCRIBER, StringType())]
WHO_OF_SET = [*WHO, StructField(SET, IntegerType())]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a shipped index asks of an event: columns by the names of `PARTS`."""

    name: str
    columns: dict[str, Column]
    tells_set: bool = False
    """Whether the answer tells which of several tables a subscription is from."""

    @property
    def who(self) -> list[StructField]:
        """The columns that tell who gets an event."""
        return WHO_OF_SET if self.tells_set else WHO

    def as_struct(self) -> Column:
        """All of it in one column."""
        return F.struct(*(column.alias(name) for name, column in self.columns.items()))


PARTS = {TOPIC: "topics", CONTENT: "contents", REALM: "realms", TS: "times", DRAW: "draws"}


def with_names(events: DataFrame, asked: Asked) -> DataFrame:
    """A row for each delivery: the event's columns, and who gets it."""
    if goes_along(events.schema):
        schema = StructType([*events.schema.fields, *asked.who])
        more = {name: column for name, column in asked.columns.items() if name not in events.columns}
        return events.withColumns(more).mapInArrow(
            partial(
                _flat, name=asked.name, asked=list(asked.columns), kept=events.columns, who=len(asked.who)
            ),
            schema,
        )
    kept = [quoted(name) for name in events.columns]
    named = events.select(*kept, F.explode(_named(asked)).alias(_NAMED))
    return named.select(*kept, *(F.col(_NAMED)[each.name].alias(each.name) for each in asked.who))


def goes_along(schema: StructType) -> bool:
    """Whether the columns of events are so few and short that taking them through Python is cheap."""
    fixed = (NumericType, DatetimeType, BooleanType)
    short = [isinstance(each.dataType, fixed) or each.name in (TOPIC, REALM, EVENT_ID) for each in schema]
    # PySpark itself stumbles over a dot or a quote in a name on the way to Python.
    is_plain = not any(sign in name for name in schema.names for sign in ".`")
    return is_plain and len(short) <= FEW and all(short)


def numbers_of(asked: Asked) -> Column:
    """The numbers of the subscriptions that want an event, whoever gets it in the end, as an array."""
    name = asked.name

    def find(batch: pa.Array) -> pa.Array:
        starts, laid = by_row(opened(name).matches(_batch(batch.field, batch.type.names)), len(batch))
        return pa.ListArray.from_arrays(starts, pa.array(laid))

    return vectorised(find, ArrayType(IntegerType()), asked.as_struct())


def fault_of_asked(asked: Asked) -> Column:
    """Why content that is JSON text cannot be read, or null; also null if nobody asks for content."""
    name = asked.name

    def tell_fault(contents: pa.Array) -> pa.Array:
        told = faults(contents) if opened(name).roster.has_criteria else [None] * len(contents)
        return pa.array(told, pa.string())

    return vectorised(tell_fault, StringType(), asked.columns[CONTENT])


# ── in the workers ────────────────────────────────────────────────────────────────────────


def _named(asked: Asked) -> Column:
    name, who = asked.name, len(asked.who)

    def find(batch: pa.Array) -> pa.Array:
        shipped = opened(name)
        starts, laid = by_row(shipped.deliveries(_batch(batch.field, batch.type.names)), len(batch))
        told = pa.StructArray.from_arrays(_told(shipped, laid, who), [each.name for each in WHO_OF_SET[:who]])
        return pa.ListArray.from_arrays(starts, told)

    return vectorised(find, ArrayType(StructType(asked.who)), asked.as_struct())


def _flat(
    batches: Iterator[pa.RecordBatch], name: str, asked: list[str], kept: list[str], who: int
) -> Iterator[pa.RecordBatch]:
    names = [*kept, *(each.name for each in WHO_OF_SET[:who])]
    for batch in _joined(batches):
        shipped, events = opened(name), batch.select(kept)
        for rows, numbers in shipped.deliveries(_batch(batch.column, asked)):
            taken = events.take(pa.array(rows))
            yield pa.RecordBatch.from_arrays([*taken.columns, *_told(shipped, numbers, who)], names)


def _joined(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Batches made of several: the more rows there are, the more often a topic is met again."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(each.num_rows for each in waiting) >= WINDOW or sum(each.nbytes for each in waiting) >= HEAVY:
            yield pa.concat_batches(waiting)
            waiting = []
    if waiting:
        yield pa.concat_batches(waiting)


def _batch(part: Any, asked: list[str]) -> Batch:
    return Batch(**{PARTS[name]: part(name) for name in asked})


def _told(shipped: Shipped, numbers: Any, who: int) -> list[pa.Array]:
    """The columns of `WHO_OF_SET` for these subscriptions, so many of them as are asked for."""
    index, at = shipped.index, pa.array(numbers)
    names = [each.take(at).cast(pa.string()) for each in (index.subscription_ids, index.subscribers)]
    return names if who == len(names) else [*names, pa.array(shipped.roster.sets[numbers])]
