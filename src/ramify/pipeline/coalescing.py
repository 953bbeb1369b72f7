"""`coalesce`: push often, act once, over a table or a stream, with the meaning of the deferred queue.

Each key lives through its rows as it would in a queue that is driven by their times: what is due at
a row's time fires before the row is pushed. At the end of a table all that waits fires at its
deadline; a stream fires what its watermark has passed. The life of a key is told in `bursts`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from ramify.deferred import FIRST, LAST, Edge, Merge, Policy
from ramify.errors import InvalidPolicy
from ramify.pipeline.bursts import END, Fired, Going, Ints, Rows, live
from ramify.pipeline.durations import Duration, microseconds
from ramify.pipeline.keying import AT, HASH, KEY, TIE, keyed, why_unkeyed
from ramify.pipeline.rejects import rejected
from ramify.pipeline.schema import FIRED_AT, MERGED, REASON, check_timed
from ramify.pipeline.streaming import BUCKET_ROWS, BUCKETS, Stream, coalesce_stream, split_tagged

KEEPS: dict[str, Merge] = {"last": LAST, "first": FIRST}


@dataclass(frozen=True, slots=True)
class Coalesced:
    """What fired, and the rows that were set aside."""

    fired: DataFrame
    rejects: DataFrame
    tagged: DataFrame | None = None
    """Of a stream: both in one, for one query; `split_tagged` parts its micro-batches."""


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
    lateness: Duration | None = None,
    buckets: int = BUCKETS,
    bucket_rows: int = BUCKET_ROWS,
) -> DataFrame:
    """A row for each time that a key fires: the kept row's columns, `fired_at` and `merged`.

    `keep` says which row of a burst is kept, `merged` how many there were. Rows of one key and
    time are taken in the order of the columns in `order`, then of a hash of the row. The last
    three arguments are for streams: how far behind the newest row another may come, in how
    many parts the keys are held, and how many rows one part may hold.
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
        lateness=lateness,
        buckets=buckets,
        bucket_rows=bucket_rows,
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
    lateness: Duration | None = None,
    buckets: int = BUCKETS,
    bucket_rows: int = BUCKET_ROWS,
) -> Coalesced:
    """The same, with the rows that have no time or no key, or that came too late."""
    keys = [key] if isinstance(key, str) else list(key)
    check_timed(deliveries.schema, [*keys, *order], (FIRED_AT, MERGED, REASON))
    policy = _policy(quiet, max_wait, max_count, keep, edge)
    if deliveries.isStreaming:
        stream = Stream(tuple(keys), tuple(order), policy, lateness, buckets, bucket_rows)
        tagged = coalesce_stream(deliveries, stream)
        return Coalesced(*split_tagged(tagged), tagged)
    reason = why_unkeyed(keys)
    fired = _fired_of(deliveries.where(reason.isNull()), keys, order, policy)
    return Coalesced(fired, rejected("delivery", deliveries, reason))


def _policy(
    quiet: Duration, max_wait: Duration | None, max_count: int | None, keep: str, edge: str
) -> Policy:
    if keep not in KEEPS:
        raise InvalidPolicy(f"keep is {' or '.join(KEEPS)}, not {keep!r}")
    if edge not in tuple(Edge):
        raise InvalidPolicy(f"edge is {', '.join(Edge)}, not {edge!r}")
    longest = None if max_wait is None else microseconds(max_wait)
    return Policy(microseconds(quiet), longest, max_count, Edge(edge), KEEPS[keep])


def _fired_of(timed: DataFrame, keys: list[str], order: Sequence[str], policy: Policy) -> DataFrame:
    """All rows of a key in one partition and in the order of their times, and what fires."""
    rows = keyed(timed, keys)
    ordered = [rows.numbered[timed.columns.index(name)] for name in order]
    # The hash comes first because numbers are sorted much faster than texts.
    meeting = rows.table.repartition(HASH).sortWithinPartitions(HASH, KEY, AT, *ordered, TIE)
    needed = meeting.select(*rows.numbered, KEY, AT)
    return rows.restored(needed.mapInArrow(partial(_fired, policy=policy), rows.fired))


# ── in the workers ────────────────────────────────────────────────────────────────────────


def _fired(batches: Iterator[pa.RecordBatch], policy: Policy) -> Iterator[pa.RecordBatch]:
    """Live through sorted rows; only the last key of a batch can go on in the next."""
    kept, burst = None, None
    for batch in batches:
        if not batch.num_rows:
            continue
        table = batch if kept is None else pa.concat_batches([kept, batch])
        codes, at = _codes(table.column(KEY)), table.column(AT).to_numpy()
        # What may still come is of the last key, and not before its last row.
        horizon = np.where(codes == codes[-1], at[-1], END)
        fired, burst = live(_continued(codes, at, burst), policy, horizon)
        yield given_out(table, fired)
        kept = table.take(pa.array(burst.place))
    if kept is not None and burst is not None:
        rows = Rows(np.zeros_like(burst.first), burst.first, burst.last, burst.count, burst.phase)
        yield given_out(kept, live(rows, policy, END)[0])


def given_out(table: pa.RecordBatch, fired: Fired) -> pa.RecordBatch:
    """The rows that fired, without our columns."""
    rows = table.drop_columns([KEY, AT]).take(pa.array(fired.place))
    return rows.append_column(FIRED_AT, pa.array(fired.at)).append_column(MERGED, pa.array(fired.merged))


def _codes(keys: pa.Array) -> Ints:
    """Numbers that change where sorted keys do."""
    changes = pc.not_equal(keys[1:], keys[:-1]).to_numpy(zero_copy_only=False)
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(changes, dtype=np.int64)))


def _continued(codes: Ints, at: Ints, burst: Going | None) -> Rows:
    """Rows, the first of which may stand for a burst that began in the batch before."""
    rows = Rows.fresh(codes, at)
    if burst is None or not len(burst.place):
        return rows
    first, last = at.copy(), at.copy()
    first[:1], last[:1] = burst.first, burst.last
    rows.count[:1], rows.phase[:1] = burst.count, burst.phase
    return Rows(codes, first, last, rows.count, rows.phase)
