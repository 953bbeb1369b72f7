"""Reads tables of subscriptions: each row is checked where it lies, and the bad ones keep a reason.

A row is told from others by realm, id and the moment from which it is valid. Of rows that are
alike in these, the first by its texts is taken and the others are bad; so the answer does not
depend on how the table is cut up.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    IntegerType,
    NullType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)
from pyspark.sql.window import Window

from ramify.errors import CallerError, InvalidSubscription
from ramify.files.rows import Row, RowReader
from ramify.index.shares import group_of
from ramify.model import ALWAYS
from ramify.pipeline.content import names_of
from ramify.pipeline.filing import NOWHERE, Place, Sample, place_of
from ramify.pipeline.plain import is_plain, probe_and_key
from ramify.pipeline.schema import (
    DEFAULT_REALM,
    DIALECT,
    GROUP,
    ID,
    MATCH,
    OURS,
    PATTERN,
    REALM,
    REASON,
    SUBSCRIBER,
    SUBSCRIPTION_ID,
    SUBSCRIPTION_TEXTS,
    SUBSCRIPTION_TIMES,
    VALID_FROM,
    VALID_TO,
    WHERE,
    check_subscriptions,
    quoted,
)

SET = OURS + "set"
"""Which of several tables a subscription is from: groups and doubles stay within one."""
GROUP_KEY = OURS + "group"
NAMES = OURS + "names"
HAS_CRITERIA = OURS + "has_criteria"
WANTED_REALM, BEGIN, END = OURS + "wanted_realm", OURS + "begin", OURS + "end"
PROBE, KEY, PATH, VALUES = OURS + "probe", OURS + "key", OURS + "path", OURS + "values"

READ = [
    StructField(REASON, StringType()),
    StructField(GROUP_KEY, StringType()),
    StructField(HAS_CRITERIA, BooleanType()),
    StructField(NAMES, ArrayType(StringType())),
    StructField(PROBE, StringType()),
    StructField(KEY, StringType()),
    StructField(PATH, StringType()),
    StructField(VALUES, ArrayType(StringType())),
]


def subscription_table(subscriptions: DataFrame, set_number: int = 0) -> DataFrame:
    """All the columns of subscriptions, those that a table lacks being null."""
    if SUBSCRIPTION_ID not in subscriptions.columns and ID in subscriptions.columns:
        subscriptions = subscriptions.withColumnRenamed(ID, SUBSCRIPTION_ID)
    check_subscriptions(subscriptions.schema)
    there = [name for name in SUBSCRIPTION_TIMES if name in subscriptions.columns]
    kinds = [subscriptions.schema[name].dataType for name in there]
    times = next((kind for kind in kinds if not isinstance(kind, NullType)), TimestampType())
    columns = {name: StringType() for name in SUBSCRIPTION_TEXTS} | dict.fromkeys(SUBSCRIPTION_TIMES, times)
    return subscriptions.select(
        *(
            (F.col(quoted(name)) if name in subscriptions.columns else F.lit(None)).cast(kind).alias(name)
            for name, kind in columns.items()
        ),
        F.lit(set_number).cast(IntegerType()).alias(SET),
    ).withColumn(REALM, F.coalesce(REALM, F.lit(DEFAULT_REALM)))


def read(table: DataFrame, sample: Sample | None = None, *, has_doubles: bool = True) -> DataFrame:
    """The rows of a subscription table, each with the reason why it is bad or where it is to be filed."""
    schema = StructType([*table.schema.fields, *READ])
    by_python = table.where(~is_plain()).mapInArrow(partial(_read_batches, sample=sample), schema)
    judged = by_python.unionByName(table.where(is_plain()).withColumns(_plainly_read()))
    return judged.withColumn(REASON, F.coalesce(REASON, _is_a_double())) if has_doubles else judged


def _plainly_read() -> dict[str, Column]:
    probe, key = probe_and_key()
    told = {HAS_CRITERIA: F.lit(False), NAMES: F.array().cast("array<string>"), PROBE: probe, KEY: key}
    return {each.name: told.get(each.name, F.lit(None)).cast(each.dataType) for each in READ}


def may_have_doubles(table: DataFrame) -> bool:
    """Whether any two rows may be alike: nearly always not, and then nothing needs to be sorted."""
    counted = table.groupBy(F.xxhash64(*ALIKE_IN).alias(_ALIKE)).count()
    return not counted.where(F.col("count") > 1).isEmpty()


_ALIKE = OURS + "alike"


ALIKE_IN = (SET, REALM, SUBSCRIPTION_ID, VALID_FROM)
"""Rows that are alike in these are told apart by nothing."""
FIRST_BY = (SUBSCRIBER, PATTERN, DIALECT, WHERE, GROUP, MATCH)
"""The first of them by these is taken."""


def _is_a_double() -> Column:
    alike = Window.partitionBy(*ALIKE_IN, F.col(REASON).isNull())
    first = alike.orderBy(*(F.col(quoted(name)) for name in FIRST_BY))
    before, after = _TWICE
    said = F.concat(F.lit(before), SUBSCRIPTION_ID, F.lit(after))
    return F.when(F.row_number().over(first) > 1, said)


_TWICE = ("the id ", " is given again for the same time")


def said_twice(id: str) -> str:
    """The reason why a double is bad."""
    return id.join(_TWICE)


def told() -> list[Column]:
    """What a match has to know of its subscription, under names that no event's column has."""
    renamed = {REALM: WANTED_REALM, VALID_FROM: BEGIN, VALID_TO: END}
    names = (SUBSCRIPTION_ID, SUBSCRIBER, REALM, VALID_FROM, VALID_TO, GROUP_KEY, SET)
    return [F.col(name).alias(renamed.get(name, name)) for name in names]


def sampled(reader: RowReader, row: dict[str, Any], into: Sample) -> None:
    """Count what a row asks for, if it is good."""
    try:
        into.take(reader.subscription(row_of(row)))
    except CallerError:
        return  # it is set aside where all are read


# ── in the workers ────────────────────────────────────────────────────────────────────────


def _read_batches(batches: Iterator[pa.RecordBatch], sample: Sample | None) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        if not batch.num_rows:
            continue
        reader = RowReader()  # what it keeps to read quickly would fill the memory with many batches
        texts = batch.select(list(SUBSCRIPTION_TEXTS)).to_pylist()
        read = [_read_row(reader, row, sample) for row in texts]
        columns = [
            pa.array(column, kind) for column, kind in zip(zip(*read, strict=True), _KINDS, strict=True)
        ]
        names = [*batch.schema.names, *(field.name for field in READ)]
        yield pa.RecordBatch.from_arrays([*batch.columns, *columns], names)


_LIST = pa.list_(pa.string())
_KINDS = (pa.string(), pa.string(), pa.bool_(), _LIST, pa.string(), pa.string(), pa.string(), _LIST)

_Read = tuple[str | None, str | None, bool | None, list[str] | None, *Place]


def _read_row(reader: RowReader, row: dict[str, Any], sample: Sample | None) -> _Read:
    try:
        subscription = reader.subscription(row_of(row))
    except CallerError as refusal:
        return str(refusal), None, None, None, *NOWHERE
    group = group_of(subscription)
    term = subscription.criteria.term
    return (
        None,
        None if group is None else repr(group),
        term != ALWAYS.term,
        sorted(set(names_of(term))),
        *(NOWHERE if sample is None else place_of(subscription, sample)),
    )


def row_of(row: dict[str, Any]) -> Row:
    """The columns of a subscription table as a file has them; a null where a text must be is refused."""
    for name in (SUBSCRIPTION_ID, SUBSCRIBER, PATTERN):
        if row[name] is None:
            raise InvalidSubscription(f"{name} is null")
    return Row(
        subscriber=row[SUBSCRIBER],
        pattern=row[PATTERN],
        id=row[SUBSCRIPTION_ID],
        dialect=row[DIALECT],
        match=row[MATCH],
        where=row[WHERE],
        group=row[GROUP],
    )
