"""The roster: what a worker has to know of each subscription, by its number, to say who gets an event.

It lies in the same file as the index. The index says whose pattern and criteria hold; the roster
leaves those of the event's realm and time, and one member of each share group. Where there are
groups, subscriptions are numbered in the order in which members are counted off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ramify.frozen.tables import Arrays
from ramify.frozen.texts import I32, I64, Flags
from ramify.pipeline.schema import DEFAULT_REALM, REALM, VALID_FROM, VALID_TO

ALONE = -1
"""The group of those who are in none."""
EVER = np.iinfo(np.int64)
UNKNOWN = -1
"""The realm of events that no subscription is in."""

Pairs = tuple[I64, I32]


@dataclass(frozen=True, slots=True)
class Batch:
    """What was asked of a batch of events; a draw decides which member of a group gets an event."""

    topics: pa.Array
    contents: pa.Array | None = None
    realms: pa.Array | None = None
    times: pa.Array | None = None
    draws: pa.Array | None = None


@dataclass(frozen=True, slots=True)
class Roster:
    """Realm, time and group of each subscription."""

    realm_names: list[str]
    realms: I32
    begins: I64
    ends: I64
    groups: I32
    sets: I32
    has_criteria: bool

    @classmethod
    def build(cls, rows: pa.Table, groups: Sequence[int], sets: pa.Array, has_criteria: bool) -> Self:
        """Of the rows of subscriptions, each with the number of its group."""
        realms = rows.column(REALM).combine_chunks().dictionary_encode()
        return cls(
            realms.dictionary.to_pylist(),
            realms.indices.to_numpy().astype(np.int32),
            _micros(rows.column(VALID_FROM), EVER.min),
            _micros(rows.column(VALID_TO), EVER.max),
            np.asarray(groups, dtype=np.int32),
            sets.to_numpy().astype(np.int32),
            has_criteria,
        )

    def to_arrays(self) -> Arrays:
        """What a file has to keep."""
        return {
            "roster.realm_names": pa.array(self.realm_names, pa.large_string()),
            "roster.realms": self.realms,
            "roster.begins": self.begins,
            "roster.ends": self.ends,
            "roster.groups": self.groups,
            "roster.sets": self.sets,
            "roster.has_criteria": np.array([self.has_criteria], dtype=np.int32),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> Self:
        """The roster that a file has kept."""
        names = ("realms", "begins", "ends", "groups", "sets")
        realms, begins, ends, groups, sets = (arrays[f"roster.{name}"] for name in names)
        realm_names = arrays["roster.realm_names"].to_pylist()
        return cls(realm_names, realms, begins, ends, groups, sets, bool(arrays["roster.has_criteria"][0]))

    def decide(self, rows: I64, numbers: I32, batch: Batch) -> Pairs:
        """Of the events and the subscriptions that want them, who gets what."""
        for holds in (self._is_in_realm, self._is_in_time):
            is_kept = holds(rows, numbers, batch)
            if is_kept is not None:
                rows, numbers = rows[is_kept], numbers[is_kept]
        if batch.draws is None or not len(self.groups):
            return rows, numbers
        kept = self._one_of_each_group(rows, numbers, batch.draws)
        return rows[kept], numbers[kept]

    def _is_in_realm(self, rows: I64, numbers: I32, batch: Batch) -> Flags | None:
        if batch.realms is None or pa.types.is_null(batch.realms.type):
            if self.realm_names == [DEFAULT_REALM]:
                return None
            wanted: Any = self._realm_number(DEFAULT_REALM)
        else:
            coded = batch.realms.fill_null(DEFAULT_REALM).dictionary_encode()
            known = np.array([self._realm_number(name) for name in coded.dictionary.to_pylist()], np.int32)
            wanted = known[coded.indices.to_numpy()][rows]
        return np.asarray(self.realms[numbers] == wanted)

    def _realm_number(self, name: str) -> int:
        return self.realm_names.index(name) if name in self.realm_names else UNKNOWN

    def _is_in_time(self, rows: I64, numbers: I32, batch: Batch) -> Flags | None:
        if batch.times is None or not (len(self.begins) or len(self.ends)):
            return None
        at = _micros(batch.times, 0)[rows]
        is_in_time = np.ones(len(rows), dtype=np.bool_)
        if len(self.begins):
            is_in_time &= self.begins[numbers] <= at
        if len(self.ends):
            is_in_time &= at < self.ends[numbers]
        return is_in_time

    def _one_of_each_group(self, rows: I64, numbers: I32, draws: pa.Array) -> I64:
        groups = self.groups[numbers]
        members = np.flatnonzero(groups != ALONE)
        members = members[np.lexsort((numbers[members], groups[members], rows[members]))]
        rows, of_group = rows[members], groups[members]
        is_first = np.ones(len(members), dtype=np.bool_)
        is_first[1:] = (rows[1:] != rows[:-1]) | (of_group[1:] != of_group[:-1])
        firsts = np.flatnonzero(is_first)
        counts = np.diff(firsts, append=len(members))
        drawn = draws.to_numpy()[rows[firsts]] % np.maximum(counts, 1)
        return np.concatenate([np.flatnonzero(groups == ALONE), members[firsts + drawn]])


def _micros(times: Any, otherwise: int) -> I64:
    """Times as microseconds; an empty array if there is none at all."""
    if times.null_count == len(times):
        return np.zeros(0, dtype=np.int64)
    micros = pc.cast(pc.cast(times, pa.timestamp("us", getattr(times.type, "tz", None))), pa.int64())
    return np.asarray(micros.fill_null(otherwise).to_numpy())
