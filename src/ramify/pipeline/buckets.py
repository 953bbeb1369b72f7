"""A bucket of keys: the rows that wait for the watermark, and the bursts that wait for their deadlines.

    arrived ──┬─ no time, no key, or not after the watermark ──→ set aside
              └─→ FRESH: waits until the watermark has reached it, so that nothing earlier can come
                    └─→ lived through in order: WAITING ──→ fires, once the watermark has reached its deadline

A bucket is one Arrow table, and is kept as the bytes of one. Nothing here runs Spark.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ramify.deferred import Policy
from ramify.errors import InvalidPolicy, StateTooLarge
from ramify.pipeline.bursts import FRESH, Ints, Rows, live
from ramify.pipeline.keying import AT, KEY, TIE
from ramify.pipeline.schema import FIRED_AT, MERGED, OURS

STANDING = tuple(OURS + name for name in ("first", "last", "count", "phase", "due"))
"""What a row stands for: the rows of `Bucket.standing`, and columns in its bytes."""

MAX_BYTES = 1 << 30
"""A bucket is read and written whole, and Arrow's texts have offsets of 32 bits."""

_RULES = b"ramify.coalesce"


@dataclass(frozen=True, slots=True)
class Rules:
    """How the keys of a bucket live."""

    policy: Policy
    order: tuple[str, ...]
    """The columns that decide between rows of one key and time."""
    words: str
    """All that must stay the same when a stream goes on from a checkpoint, for people to read."""
    most_rows: int


@dataclass(frozen=True, slots=True)
class Bucket:
    """Rows with their keys, and what each stands for."""

    rows: pa.Table
    standing: Ints

    @property
    def due(self) -> int | None:
        """The watermark at which there is something to do."""
        return int(self.standing[4].min()) if self.rows.num_rows else None


@dataclass(frozen=True, slots=True)
class Step:
    """What a bucket gave out and what it is now."""

    given_out: list[pa.Table]
    """What fired; and, without `fired_at` and `merged`, what was set aside."""
    bucket: Bucket | None


def step(bucket: Bucket | None, arrived: list[pa.Table], watermark: int, rules: Rules) -> Step:
    """Take rows in and live up to the watermark, which is in microseconds like all times here."""
    fresh, given_out = _welcomed(arrived, watermark)
    bucket = _joined([each for each in (bucket, fresh) if each is not None])
    if bucket is None:
        return Step(given_out, None)
    is_ready = (bucket.standing[3] != FRESH) | (bucket.standing[1] <= watermark)
    codes = _codes(bucket.rows.column(KEY))
    places = _sorted(bucket, codes, np.flatnonzero(is_ready), rules.order)
    fired, going = live(Rows(codes[places], *bucket.standing[:4, places]), rules.policy, watermark)
    if len(fired.place):
        taken = bucket.rows.take(pa.array(places[fired.place]))
        given_out.append(_marked(taken, pa.array(fired.at), pa.array(fired.merged)))
    waiting = np.flatnonzero(~is_ready)
    stand = np.stack((going.first, going.last, going.count, going.phase, going.due))
    kept = bucket.rows.take(pa.array(np.append(places[going.place], waiting)))
    return Step(given_out, _checked(Bucket(kept, np.hstack((stand, bucket.standing[:, waiting]))), rules))


def _welcomed(arrived: list[pa.Table], watermark: int) -> tuple[Bucket | None, list[pa.Table]]:
    """The rows that are in time, and what is set aside of the others."""
    if not arrived:
        return None, []
    table = pa.concat_tables(arrived).combine_chunks()
    in_time = pc.and_(pc.greater(table.column(AT), watermark), pc.is_valid(table.column(KEY)))
    is_in_time = pc.fill_null(in_time, False)
    late = table.filter(pc.invert(is_in_time))
    none = pa.nulls(late.num_rows, pa.int64())
    aside = [_marked(late.drop_columns([AT]), none, none)] if late.num_rows else []
    fresh = table.filter(is_in_time) if aside else table
    at = fresh.column(AT).to_numpy()
    standing = np.stack((at, at, np.ones_like(at), np.full_like(at, FRESH), at))
    return Bucket(fresh.drop_columns([AT]), standing), aside


def _joined(parts: list[Bucket]) -> Bucket | None:
    if len(parts) < 2:
        return parts[0] if parts else None
    old, new = parts
    # A session of another time zone writes times that are the same and are labelled otherwise.
    both = pa.concat_tables([old.rows.cast(new.rows.schema), new.rows]).combine_chunks()
    return Bucket(both, np.hstack((old.standing, new.standing)))


def _sorted(bucket: Bucket, codes: Ints, places: Ints, order: tuple[str, ...]) -> Ints:
    """Places by key, time, the columns of `order`, and the hash of the row: as Spark sorts a table."""
    chosen = pa.array(places)
    ranks = [_ranks(bucket.rows.column(name).take(chosen)) for name in order]
    tie = bucket.rows.column(TIE).to_numpy()[places]
    return places[np.lexsort((tie, *reversed(ranks), bucket.standing[1, places], codes[places]))]


def _ranks(values: pa.ChunkedArray) -> Ints:
    """Numbers in the order of values: null first, and no number last."""
    if pa.types.is_boolean(values.type):
        values = values.cast(pa.int8())
    ranks = pc.rank(values, sort_keys="ascending", tiebreaker="dense").to_numpy()
    if pa.types.is_floating(values.type):
        is_nan = pc.fill_null(pc.is_nan(values), False).to_numpy()
        ranks = np.where(is_nan, len(ranks) + 1, ranks)
    if values.null_count:
        ranks = np.where(values.is_null().to_numpy(), 0, ranks)
    return np.asarray(ranks, np.int64)


def _codes(keys: pa.ChunkedArray) -> Ints:
    """Equal numbers for equal keys."""
    return np.asarray(keys.combine_chunks().dictionary_encode().indices.to_numpy(), np.int64)


def _marked(rows: pa.Table, at: pa.Array, merged: pa.Array) -> pa.Table:
    own = rows.drop_columns([KEY, TIE])
    return own.append_column(FIRED_AT, at).append_column(MERGED, merged)


def _checked(bucket: Bucket, rules: Rules) -> Bucket | None:
    rows, size = bucket.rows.num_rows, bucket.rows.nbytes
    if rows > rules.most_rows or size > MAX_BYTES:
        raise StateTooLarge(
            "a bucket of keys",
            f"it holds {rows:,} rows of {size:,} bytes, and may hold {rules.most_rows:,} of {MAX_BYTES:,}: "
            "have more buckets, smaller micro-batches, or a shorter lateness or quiet",
        )
    return bucket if rows else None


# ── as bytes ──────────────────────────────────────────────────────────────────────────────


def packed(table: pa.Table | pa.RecordBatch) -> bytes:
    """A table as bytes."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write(table)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def unpacked(pack: bytes) -> pa.Table:
    """The table that these bytes are."""
    return pa.ipc.open_stream(pack).read_all()


def written(bucket: Bucket, rules: Rules) -> bytes:
    """A bucket as bytes that know the rules it lived by."""
    table = bucket.rows
    for name, values in zip(STANDING, bucket.standing, strict=True):
        table = table.append_column(name, pa.array(values))
    return packed(table.replace_schema_metadata({_RULES: rules.words.encode()}))


def read(pack: bytes, rules: Rules) -> Bucket:
    """The bucket that these bytes are; refused if it lived by other rules."""
    table = unpacked(pack)
    words = (table.schema.metadata or {}).get(_RULES, b"").decode()
    if words != rules.words:
        raise InvalidPolicy(
            f"the checkpoint is of a stream with {words}; now it is {rules.words}: "
            "go on with the old one, or begin with a new checkpoint"
        )
    standing = np.stack([table.column(name).to_numpy() for name in STANDING])
    return Bucket(table.drop_columns(list(STANDING)).replace_schema_metadata(None), standing)
