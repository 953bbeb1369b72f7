"""`coalesce`: push often, act once, over a table, with the meaning of the deferred queue.

Rows are sorted by key and time, and each key lives through its rows as it would in a queue that
is driven by their times: what is due at a row's time fires before the row is pushed, and at the
end all that waits fires at its deadline. The life of a key is `deferred.life`'s own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StructField, StructType

from ramify.deferred import FIRST, LAST, Edge, Merge, Policy
from ramify.deferred.life import Push, Traced, held, is_holding, pushed
from ramify.errors import InvalidPolicy
from ramify.pipeline.durations import Duration, microseconds
from ramify.pipeline.rejects import rejected
from ramify.pipeline.schema import FIRED_AT, MERGED, OURS, TS, check_timed, is_hashable, quoted

KEEPS: dict[str, Merge] = {"last": LAST, "first": FIRST}

_KEY, _AT, _TIE = OURS + "key", OURS + "at", OURS + "tie"
_END = float("inf")


@dataclass(frozen=True, slots=True)
class Coalesced:
    """What fired, and the rows that were set aside."""

    fired: DataFrame
    rejects: DataFrame


def coalesce(
    deliveries: DataFrame,
    *,
    key: str | Sequence[str],
    quiet: Duration,
    max_wait: Duration | None = None,
    max_count: int | None = None,
    keep: str = "last",
    edge: str = "trailing",
    order: Sequence[str] = (),
) -> DataFrame:
    """A row for each time that a key fires: the kept row's columns, `fired_at` and `merged`.

    `keep` says which row of a burst is kept, `merged` how many there were. Rows of one key and
    time are taken in the order of the columns in `order`, then of a hash of the row.
    """
    return coalesce_with_rejects(
        deliveries,
        key=key,
        quiet=quiet,
        max_wait=max_wait,
        max_count=max_count,
        keep=keep,
        edge=edge,
        order=order,
    ).fired


def coalesce_with_rejects(
    deliveries: DataFrame,
    *,
    key: str | Sequence[str],
    quiet: Duration,
    max_wait: Duration | None = None,
    max_count: int | None = None,
    keep: str = "last",
    edge: str = "trailing",
    order: Sequence[str] = (),
) -> Coalesced:
    """The same, with the rows that have no time or no key."""
    keys = [key] if isinstance(key, str) else list(key)
    check_timed(deliveries.schema, [*keys, *order], (FIRED_AT, MERGED))
    policy = _policy(quiet, max_wait, max_count, keep, edge)
    reason = F.when(F.col(TS).isNull(), "the time is null")
    for name in keys:
        reason = reason.when(F.col(quoted(name)).isNull(), f"the key column {name!r} is null")
    timed = deliveries.where(reason.isNull())
    # PySpark stumbles over a dot in a name on the way to Python, so there they are numbered.
    safe = [f"{OURS}{at}" for at in range(len(deliveries.columns))]
    fields = [StructField(name, field.dataType) for name, field in zip(safe, deliveries.schema, strict=True)]
    fired = (
        _sorted(timed, keys, order)
        .toDF(*safe, _KEY, _AT)
        .mapInArrow(partial(_fired, policy=policy), StructType([*fields, *_MADE]))
    )
    # Back to a timestamp of the same kind, from the microseconds that Python counted in.
    moment = F.timestamp_micros(FIRED_AT).cast(deliveries.schema[TS].dataType)
    renamed = [F.col(name).alias(given) for name, given in zip(safe, deliveries.columns, strict=True)]
    shown = [*renamed, moment.alias(FIRED_AT), F.col(MERGED)]
    return Coalesced(fired.select(*shown), rejected("delivery", deliveries, reason))


_MADE = [StructField(FIRED_AT, LongType()), StructField(MERGED, LongType())]


def _policy(
    quiet: Duration, max_wait: Duration | None, max_count: int | None, keep: str, edge: str
) -> Policy:
    if keep not in KEEPS:
        raise InvalidPolicy(f"keep is {' or '.join(KEEPS)}, not {keep!r}")
    if edge not in tuple(Edge):
        raise InvalidPolicy(f"edge is {', '.join(Edge)}, not {edge!r}")
    longest = None if max_wait is None else microseconds(max_wait)
    return Policy(microseconds(quiet), longest, max_count, Edge(edge), KEEPS[keep])


def _sorted(timed: DataFrame, keys: list[str], order: Sequence[str]) -> DataFrame:
    """All rows of a key in one partition and in the order of their times."""
    hashed = [quoted(each.name) for each in timed.schema if is_hashable(each.dataType)]
    return (
        timed.withColumns(
            {
                _KEY: F.to_json(F.struct(*(quoted(name) for name in keys))),
                _AT: F.unix_micros(F.col(TS).cast("timestamp")),
                _TIE: F.xxhash64(*hashed),
            }
        )
        .repartition(_KEY)
        .sortWithinPartitions(_KEY, _AT, *(quoted(name) for name in order), _TIE)
        .drop(_TIE)
    )


# ── in the workers ────────────────────────────────────────────────────────────────────────


def _fired(batches: Iterator[pa.RecordBatch], policy: Policy) -> Iterator[pa.RecordBatch]:
    life = _Life(policy)
    kept: pa.RecordBatch | None = None
    for batch in batches:
        rows = batch.drop_columns([_KEY, _AT])
        known = rows if kept is None else pa.concat_batches([kept, rows])
        life.take(
            batch.column(_KEY).to_pylist(), batch.column(_AT).to_pylist(), known.num_rows - rows.num_rows
        )
        yield life.given_out(known)
        kept = life.kept_of(known)
    if kept is not None:
        life.end()
        yield life.given_out(kept)


class _Life:
    """The keys of a partition, one after the other; the data of a push is the place of its row."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._entry: Traced | None = None
        self._fired: list[Traced] = []

    def take(self, keys: list[str], times: list[int], first: int) -> None:
        """Live through rows, the first of which stands at this place."""
        for place, (key, now) in enumerate(zip(keys, times, strict=True), first):
            if self._entry is not None and self._entry.key != key:
                self.end()
            self._settle(now)
            _, self._entry = pushed(self._entry, Push(key, place, None, now, None, self._policy))

    def end(self) -> None:
        """Let what waits fire: no more rows of this key will come."""
        self._settle(_END)
        self._entry = None

    def _settle(self, now: float) -> None:
        """Do what a queue does when it is drained: fire what is due, and forget holds that have ended."""
        entry = self._entry
        if entry is None or entry.deadline > now:
            return
        if is_holding(entry):
            self._entry = None
            return
        self._fired.append(entry)
        self._entry = held(entry, now)

    def given_out(self, known: pa.RecordBatch) -> pa.RecordBatch:
        """What fired, as rows."""
        fired, self._fired = self._fired, []
        taken = known.take(pa.array([entry.data for entry in fired], pa.int64()))
        at = pa.array([int(entry.deadline) for entry in fired], pa.int64())
        counts = pa.array([entry.count for entry in fired], pa.int64())
        return pa.RecordBatch.from_arrays(
            [*taken.columns, at, counts], [*taken.schema.names, FIRED_AT, MERGED]
        )

    def kept_of(self, known: pa.RecordBatch) -> pa.RecordBatch | None:
        """The row that the waiting key would fire with, now at place 0."""
        entry = self._entry
        if entry is None:
            return None
        if is_holding(entry):
            return known.slice(0, 0)
        row = known.slice(entry.data, 1)
        entry.data = 0
        return row
