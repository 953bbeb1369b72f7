"""Coalescing a stream: the keys are spread over buckets, and the state of a bucket is one value.

    rows ──packed by bucket──→ a few rows of bytes ──→ transformWithState ──unpacked──→ rows

A call into Spark's state costs as much as thousands of rows, so there are a handful for each
bucket and micro-batch and none for a key. Rows cross as Arrow's bytes and keep their types.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    NumericType,
    StringType,
)

from ramify.deferred import Policy
from ramify.errors import InvalidPolicy, InvalidSession, InvalidTable
from ramify.pipeline.buckets import Rules, Step, packed, read, step, unpacked, written
from ramify.pipeline.durations import Duration, microseconds
from ramify.pipeline.keying import AT, HASH, KEY, TIE, Keyed, keyed, why_unkeyed
from ramify.pipeline.rejects import rejected
from ramify.pipeline.schema import FIRED_AT, MERGED, OURS, REASON, TIMES, TS

BUCKETS = 16
BUCKET_ROWS = 1_000_000
LATENESS = "10s"
LATE = "the row is late: the watermark had passed its time"

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

_BUCKET, _PACK = OURS + "bucket", OURS + "pack"
_PACKS = f"{_BUCKET} int, {_PACK} binary"
_GIVEN = f"{_PACK} binary"
_STATE = "timer long, bucket binary"
_SORTED: tuple[type[DataType], ...] = (
    NumericType, StringType, BinaryType, BooleanType, DateType, *TIMES,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Stream:
    """How a stream is coalesced."""

    keys: tuple[str, ...]
    order: tuple[str, ...]
    policy: Policy
    lateness: Duration | None
    buckets: int
    bucket_rows: int


def coalesce_stream(deliveries: DataFrame, stream: Stream) -> DataFrame:
    """What fires, with `reason` null, and what is set aside, with the reason and no `fired_at`."""
    _check(deliveries, stream)
    rows = keyed(_watermarked(deliveries, stream), stream.keys)
    packs = _packs(rows, stream.buckets)
    buckets = _Buckets(_rules(deliveries, rows, stream))
    given = packs.groupBy(_BUCKET).transformWithState(buckets, _GIVEN, "append", "eventTime")
    back = rows.restored(given.mapInArrow(partial(_unpack, names=rows.fired.names), rows.fired))
    reason = F.when(F.col(FIRED_AT).isNull(), F.coalesce(why_unkeyed(stream.keys), F.lit(LATE)))
    tagged = back.withColumn(REASON, reason)
    return tagged.observe(f"coalesce by {', '.join(stream.keys)}", *_counts())


def split_tagged(tagged: DataFrame) -> tuple[DataFrame, DataFrame]:
    """Part what `coalesce_stream` gave, or a micro-batch of it: what fired, and the rejects."""
    own = [name for name in tagged.columns if name not in (FIRED_AT, MERGED, REASON)]
    fired = tagged.where(F.col(REASON).isNull()).drop(REASON)
    return fired, rejected("delivery", tagged, F.col(REASON), own)


def _counts() -> list[Any]:
    """What a query's progress tells under `observedMetrics`."""
    late = F.count(F.when(F.col(REASON) == LATE, 1))
    return [
        F.count(FIRED_AT).alias("fired"),
        F.coalesce(F.sum(MERGED), F.lit(0)).alias("merged"),
        late.alias("late"),
        (F.count(REASON) - late).alias("unkeyed"),
    ]


# ── before it starts ──────────────────────────────────────────────────────────────────────


def _check(deliveries: DataFrame, stream: Stream) -> None:
    provider = deliveries.sparkSession.conf.get(PROVIDER, "unset")
    if provider != ROCKSDB:
        raise InvalidSession(PROVIDER, str(provider), ROCKSDB)
    for name, value in (("buckets", stream.buckets), ("bucket_rows", stream.bucket_rows)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise InvalidPolicy(f"{name} is {value!r}; it is at least 1")
    for name in stream.order:
        kind = deliveries.schema[name].dataType
        if not isinstance(kind, _SORTED):
            reason = f"is {kind.simpleString()}, by which the rows of a stream cannot be ordered"
            raise InvalidTable("deliveries", name, reason)


def _watermarked(deliveries: DataFrame, stream: Stream) -> DataFrame:
    """The stream with its own watermark, or with one that waits for `lateness`."""
    if "spark.watermarkDelayMs" in deliveries.schema[TS].metadata:
        if stream.lateness is not None:
            raise InvalidPolicy("the stream has a watermark on ts already: leave lateness away")
        return deliveries
    wait = microseconds(LATENESS if stream.lateness is None else stream.lateness)
    if wait < 0:
        raise InvalidPolicy(f"lateness is {stream.lateness!r}; it is not negative")
    return deliveries.withWatermark(TS, f"{wait} microseconds")


def _rules(deliveries: DataFrame, rows: Keyed, stream: Stream) -> Rules:
    order = tuple(rows.numbered[deliveries.columns.index(name)] for name in stream.order)
    words = (
        f"key={list(stream.keys)}, order={list(stream.order)}, {stream.policy.in_words}, "
        f"buckets={stream.buckets}, columns={deliveries.schema.simpleString()}"
    )
    return Rules(stream.policy, order, words, stream.bucket_rows)


def _packs(rows: Keyed, buckets: int) -> DataFrame:
    bucket = F.pmod(F.coalesce(HASH, F.lit(0)), F.lit(buckets)).cast("int")
    return rows.table.select(*rows.numbered, KEY, AT, TIE, bucket.alias(_BUCKET)).mapInArrow(_pack, _PACKS)


# ── in the workers ────────────────────────────────────────────────────────────────────────


def _pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """One row of bytes for all rows of a batch that go into one bucket."""
    for batch in batches:
        numbers = batch.column(_BUCKET).to_numpy()
        order = np.argsort(numbers, kind="stable")
        rows = batch.drop_columns([_BUCKET]).take(pa.array(order))
        found, starts = np.unique(numbers[order], return_index=True)
        sizes = np.diff(np.append(starts, len(numbers)))
        packs = [packed(rows.slice(begin, size)) for begin, size in zip(starts, sizes, strict=True)]
        columns = [pa.array(found, pa.int32()), pa.array(packs, pa.binary())]
        yield pa.RecordBatch.from_arrays(columns, [_BUCKET, _PACK])


def _unpack(batches: Iterator[pa.RecordBatch], names: list[str]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for pack in batch.column(_PACK):
            yield from unpacked(pack.as_buffer()).select(names).to_batches()


class _Buckets(StatefulProcessor):
    """Spark's side of a bucket: its bytes, and a timer at the earliest deadline."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._handle = handle
        self._state = handle.getValueState("bucket", _STATE)

    # Spark passes the last arguments by these names.
    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[Row]:  # noqa: N802, N803
        """Take in what has arrived for a bucket."""
        arrived = [unpacked(row[_PACK]) for row in rows]
        return self._step(arrived, timerValues, is_timed=False)

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Row]:  # noqa: N802, N803
        """Live on: the watermark has reached what the bucket waits for."""
        return self._step([], timerValues, is_timed=True)

    def close(self) -> None:
        """Nothing is held open."""

    def _step(self, arrived: list[pa.Table], timer_values: Any, *, is_timed: bool) -> Iterator[Row]:
        watermark = timer_values.getCurrentWatermarkInMs() * 1000
        timer, pack = self._state.get() or (None, None)
        bucket = None if pack is None else read(pack, self._rules)
        done = step(bucket, arrived, watermark, self._rules)
        # Spark itself takes away a timer that has expired.
        self._keep(done, None if is_timed else timer)
        return iter([Row(**{_PACK: packed(table)}) for table in done.given_out])

    def _keep(self, done: Step, timer: int | None) -> None:
        if done.bucket is None:
            self._state.clear()
            following = None
        else:
            assert done.bucket.due is not None
            # Up to the millisecond by which it has come.
            following = -(-done.bucket.due // 1000)
            self._state.update((following, written(done.bucket, self._rules)))
        if following == timer:
            return
        if timer is not None:
            self._handle.deleteTimer(timer)
        if following is not None:
            self._handle.registerTimer(following)
