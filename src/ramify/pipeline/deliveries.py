"""From matches to deliveries: the subscriptions of the event's realm and time, one of each share group.

A group's member is chosen by a hash of the topic and of what tells the event from others, counted
off over the members' sorted ids: a task that is tried again, or a batch that is replayed, chooses the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType
from pyspark.sql.window import Window

from ramify.errors import InvalidTable
from ramify.pipeline.schema import (
    EVENT_ID,
    OURS,
    SUBSCRIBER,
    SUBSCRIPTION_ID,
    TOPIC,
    TS,
    is_hashable,
    quoted,
)
from ramify.pipeline.subscriptions import BEGIN, END, GROUP_KEY, SET

EVENT = OURS + "event"
"""A number for each event, good within one run of one plan: two alike events stay two."""
DRAW = OURS + "draw"


def numbered(events: DataFrame) -> DataFrame:
    """The events, each with its number."""
    return events.select("*", F.monotonically_increasing_id().alias(EVENT))


def draw(schema: StructType, identity: Sequence[str] | None) -> Column:
    """What decides which member of a group gets an event."""
    return F.xxhash64(quoted(TOPIC), *(quoted(name) for name in identity_of(schema, identity)))


def identity_of(schema: StructType, identity: Sequence[str] | None) -> list[str]:
    """The columns that tell an event from others: those named, `event_id`, or all that can be hashed."""
    if identity is None:
        by_id = [EVENT_ID] if EVENT_ID in schema.names else schema.names
        return [name for name in by_id if is_hashable(schema[name].dataType)]
    for name in identity:
        if name not in schema.names:
            raise InvalidTable("events", name, f"is missing; the columns are {', '.join(schema.names)}")
        if not is_hashable(schema[name].dataType):
            raise InvalidTable("events", name, "is a map or a variant, which cannot be hashed")
    return list(identity)


def in_time(matches: DataFrame) -> DataFrame:
    """Those valid at the time of their event: from `valid_from` on and before `valid_to`."""
    ts, begin, end = F.col(TS), F.col(BEGIN), F.col(END)
    return matches.where((begin.isNull() | (begin <= ts)) & (end.isNull() | (ts < end)))


def one_of_each_group(matches: DataFrame) -> DataFrame:
    """One member of each share group an event, and everyone who is in none."""
    among = Window.partitionBy(EVENT, SET, GROUP_KEY)
    place = F.row_number().over(among.orderBy(SUBSCRIPTION_ID, BEGIN)) - 1
    count = F.count(F.lit(1)).over(among)
    chosen = OURS + "chosen"
    is_chosen = F.col(GROUP_KEY).isNull() | (place == F.pmod(F.col(DRAW), count))
    return matches.withColumn(chosen, is_chosen).where(chosen)


def delivery_columns(events: DataFrame) -> list[Column]:
    """The columns of a delivery: the event's own, and who gets it."""
    return [*(F.col(quoted(name)) for name in events.columns), F.col(SUBSCRIPTION_ID), F.col(SUBSCRIBER)]
