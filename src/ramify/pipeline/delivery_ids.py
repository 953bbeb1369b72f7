"""`delivery_id`: a stable name for each delivery, to know one by that comes twice.

It is a hash of what tells the event from others and of the subscription, so a batch that is
replayed gives the same ids.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from ramify.pipeline.deliveries import identity_of
from ramify.pipeline.schema import EVENT_ID, FIRED_AT, SUBSCRIPTION_ID, is_hashable, quoted

DELIVERY_ID = "delivery_id"
LENGTH = 32
"""Hexadecimal digits: 128 bits, which nobody can make collide by choosing ids."""


def with_delivery_id(deliveries: DataFrame, identity: Sequence[str] | None = None) -> DataFrame:
    """The deliveries, each with its id in the column `delivery_id`.

    An event is told from others by the columns in `identity`, else by `event_id` where there is
    one, else by all its columns: events that are alike in them all have one id.
    """
    return deliveries.withColumn(
        DELIVERY_ID, F.left(F.sha2(_identity(deliveries, identity), 256), F.lit(LENGTH))
    )


def _identity(deliveries: DataFrame, identity: Sequence[str] | None) -> Column:
    schema = deliveries.schema
    if identity is not None or EVENT_ID not in schema.names:
        return _written(schema, identity_of(schema, identity))
    # An event without an id must not share one with all others that have none.
    every = [name for name in schema.names if name != EVENT_ID]
    return F.when(F.col(EVENT_ID).isNotNull(), _written(schema, identity_of(schema, None))).otherwise(
        _written(schema, identity_of(schema, _hashable(schema, every)))
    )


def _hashable(schema: StructType, names: Sequence[str]) -> list[str]:
    return [name for name in names if is_hashable(schema[name].dataType)]


def _written(schema: StructType, names: Sequence[str]) -> Column:
    """Columns as one text: JSON keeps their borders and leaves out those that are null."""
    behind = [name for name in (SUBSCRIPTION_ID, FIRED_AT) if name in schema.names and name not in names]
    return F.to_json(F.struct(*(F.col(quoted(name)) for name in (*names, *behind))))
