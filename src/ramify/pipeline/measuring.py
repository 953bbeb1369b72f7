"""`statistics`: how often events carried which topics and values, for a router's planner.

Counting happens where the events lie; only sums travel. The counts are exact, and of each field
and of the topics the most frequent are kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType
from pyspark.sql.window import Window

from ramify.criteria.kinds import Kind, kind_of
from ramify.model import Scalar, Statistics
from ramify.pipeline.content import crossing, rows_of, scalar_text
from ramify.pipeline.schema import (
    COUNT,
    KIND,
    NAME,
    OURS,
    STATISTICS,
    TOPIC,
    VALUE,
    check_events,
    content_type,
    quoted,
)

EVENTS, TOPICS, VALUES = "events", "topic", "value"
_CONTENT = OURS + "content"
_RANK = OURS + "rank"
DEEPEST = 8
"""How far nested content is looked into."""


def statistics(events: DataFrame, *, fields: str | None = None, top: int = 1_000) -> DataFrame:
    """The counts as a table: of all events, of each topic, and of each value (as JSON) of each field.

    Of the topics and of each field's values the `top` most frequent are kept. Events without a
    topic, and content that cannot be read, are not counted.
    """
    check_events(events.schema, fields=fields)
    kind = content_type(events.schema, fields)
    names = kind.names if isinstance(kind, StructType) else ()
    content = crossing(events.schema, fields, names)
    asked = [F.col(quoted(TOPIC)), *([] if content is None else [content.alias(_CONTENT)])]
    partial = events.where(F.col(quoted(TOPIC)).isNotNull()).select(*asked).mapInArrow(_counted, STATISTICS)
    summed = partial.groupBy(KIND, NAME, VALUE).agg(F.sum(COUNT).alias(COUNT))
    rank = F.row_number().over(Window.partitionBy(KIND, NAME).orderBy(F.desc(COUNT), VALUE))
    return summed.withColumn(_RANK, rank).where(F.col(_RANK) <= top).select(*STATISTICS.names)


def read_statistics(table: DataFrame) -> Statistics:
    """The counts of a table as a planner takes them: `router.replan(read_statistics(table))`."""
    events = 0
    values: dict[str, dict[Scalar, int]] = {}
    topics: dict[str, int] = {}
    for kind, name, value, count in table.select(*STATISTICS.names).collect():
        if kind == EVENTS:
            events += count
        elif kind == TOPICS:
            topics[value] = topics.get(value, 0) + count
        else:
            seen, scalar = values.setdefault(name, {}), msgspec.json.decode(value)
            seen[scalar] = seen.get(scalar, 0) + count
    return Statistics(events, values, topics)


# ── in the workers ────────────────────────────────────────────────────────────────────────

_Counts = Counter[tuple[str, str, str]]


def _counted(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        counts: _Counts = Counter({(EVENTS, "", ""): batch.num_rows})
        for topic, count in Counter(batch.column(TOPIC).to_pylist()).items():
            counts[TOPICS, "", topic] += count
        if batch.num_columns > 1:
            row = rows_of(batch.column(1))
            for at in range(batch.num_rows):
                counts.update((VALUES, name, text) for name, text in _values(row(at) or {}, ""))
        kinds, names, values = zip(*counts, strict=True)
        yield pa.RecordBatch.from_arrays(
            [pa.array(kinds), pa.array(names), pa.array(values), pa.array(counts.values(), pa.int64())],
            STATISTICS.names,
        )


def _values(fields: Mapping[str, Any], above: str, depth: int = 1) -> Iterator[tuple[str, str]]:
    """Each field's dotted path and value; those that no planner asks about are left out."""
    for name, value in fields.items():
        path = f"{above}{name}"
        if isinstance(value, Mapping):
            if depth < DEEPEST:
                yield from _values(value, f"{path}.", depth + 1)
        elif value is not None and value == value and kind_of(value) is not Kind.OTHER:
            yield path, scalar_text(value)
