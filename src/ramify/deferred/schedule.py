"""Entries by key and in order of their deadlines; a key has at most one.

    near   a heap of (deadline, order, entry): all that lies at or before the horizon
    far    {bucket: [entry, …]} for all that lies beyond it, and a heap of the buckets, in which
           some may be left over that are in `far` no more

A far entry costs one append; only when its bucket comes due is the bucket sorted. Equal
deadlines leave in the order in which they got that deadline: a bucket's list is in that
order and its sort is stable, and whatever comes to `near` later gets a higher order.

A superseded entry is only marked, and passed over when its turn comes. It is known by its
identity, never by its deadline, so a key that returns to an old deadline is not resurrected.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from heapq import heapify, heappop, heappush
from itertools import count
from math import floor, inf
from operator import attrgetter
from typing import Any

from ramify.deferred.life import GONE, Entry, Traced, is_holding

BUCKETS_PER_UNIT = 64.0
"""About 16 ms each, if time is in seconds: few enough that the ends of their lists stay in the
processor's cache. A power of two, so that scaling never rounds."""

SLACK = 64
"""The schedule holds at most twice as many entries as there are live keys, and this many more."""

SWEEP = 16
"""Entries that are looked at when one is superseded, once there are half as many as live ones."""

_deadline = attrgetter("deadline")


class Schedule:
    """Entries by key and by deadline."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self._near: list[tuple[float, int, Entry]] = []
        self._far: dict[int, list[Entry]] = {}
        self._buckets: list[int] = []
        self._unswept: list[int] = []
        self._horizon: float = -inf
        self._order = count()
        self._dead = 0

    @property
    def held(self) -> int:
        """How many entries are in memory, superseded ones included."""
        return len(self.entries) + self._dead

    def put(self, entry: Entry) -> None:
        """Give a key its entry, in place of the one it has."""
        key, deadline = entry.key, entry.deadline
        old = self.entries.get(key)
        if old is not None:
            if old.deadline == deadline and is_holding(old) == is_holding(entry):
                self._replace(old, entry)
                return
            self._bury(old)
        self.entries[key] = entry
        self._file(entry, floor(deadline * BUCKETS_PER_UNIT))

    def put_plain(self, key: str, data: Any, deadline: float) -> bool | None:
        """Do what `put` does for a key without a past, in one step: most pushes are like this.

        Says whether the key was there; `None` if it has a past, and nothing was done.
        """
        entries = self.entries
        bucket = floor(deadline * BUCKETS_PER_UNIT)
        old = entries.get(key)
        if old is None:
            entries[key] = entry = Entry(key, data, deadline)
        elif type(old) is not Entry:
            return None
        elif old.deadline == deadline:
            old.data = data
            old.count += 1
            return True
        else:
            entries[key] = entry = Entry(key, data, deadline, old.count + 1)
            self._bury(old)
        if bucket > self._horizon and (there := self._far.get(bucket)) is not None:
            there.append(entry)
        else:
            self._file(entry, bucket)
        return old is not None

    def remove(self, key: str) -> Entry | None:
        """Take a key out, whenever it would be due."""
        entry = self.entries.pop(key, None)
        if entry is None:
            return None
        removed = copy(entry)
        self._bury(entry)
        return removed

    def pop(self, now: float) -> Entry | None:
        """Take the entry with the lowest deadline, if it is due."""
        near = self._near
        while True:
            while near:
                deadline, _, entry = near[0]
                if entry.data is GONE:
                    heappop(near)
                    self._dead -= 1
                elif deadline > now:
                    return None
                else:
                    heappop(near)
                    del self.entries[entry.key]
                    if 2 * self._dead > len(self.entries) + SLACK:
                        self._sweep()
                    return entry
            if not self._buckets or self._buckets[0] > _bucket_of(now):
                return None
            self._open()

    def pop_many(self, now: float, limit: float) -> Iterator[list[Entry]]:
        """Take due entries in order, a few at a time, up to a limit."""
        last = _bucket_of(now)
        while limit > 0:
            # The whole of an earlier bucket is due, so it need not pass through the heap.
            if not self._near and self._buckets and self._buckets[0] < last:
                taken = self._pop_bucket(limit)
            elif (entry := self.pop(now)) is not None:
                taken = [entry]
            else:
                break
            limit -= len(taken)
            yield taken
        self._sweep()

    def first(self) -> Entry | None:
        """Find the entry with the lowest deadline, due or not."""
        self._uncover()
        if self._near:
            return self._near[0][2]
        if not self._buckets:
            return None
        return min((e for e in self._far[self._buckets[0]] if e.data is not GONE), key=_deadline)

    def wake(self) -> float | None:
        """Say when to look again: nothing is due before, and something within one bucket after."""
        self._uncover()
        if self._near:
            return self._near[0][0]
        return self._buckets[0] / BUCKETS_PER_UNIT if self._buckets else None

    def __iter__(self) -> Iterator[Entry]:
        """Go through all entries in the order in which they will leave."""
        yield from [entry for _, _, entry in sorted(self._near) if entry.data is not GONE]
        for bucket in sorted(self._far):
            yield from sorted((e for e in self._far[bucket] if e.data is not GONE), key=_deadline)

    # ── within ────────────────────────────────────────────────────────────────────────────

    def _file(self, entry: Entry, bucket: int) -> None:
        if bucket <= self._horizon:
            heappush(self._near, (entry.deadline, next(self._order), entry))
        elif bucket in self._far:
            self._far[bucket].append(entry)
        else:
            self._far[bucket] = [entry]
            heappush(self._buckets, bucket)

    def _replace(self, old: Entry, entry: Entry) -> None:
        """Give a key new contents where it stands: the same deadline keeps its place."""
        if type(old) is Traced and type(entry) is Traced:
            old.data, old.count, old.first, old.version = entry.data, entry.count, entry.first, entry.version
            old.quiet_at, old.phase = entry.quiet_at, entry.phase
            old.number, old.place = entry.number, entry.place
            return
        self.entries[old.key] = entry
        there = self._far.get(floor(old.deadline * BUCKETS_PER_UNIT))
        if there is not None:
            there[next(place for place, other in enumerate(there) if other is old)] = entry
            return
        place = next(place for place, (_, _, other) in enumerate(self._near) if other is old)
        self._near[place] = (entry.deadline, self._near[place][1], entry)

    def _bury(self, entry: Entry) -> None:
        """Mark an entry as superseded, and let go of its data at once."""
        entry.data = GONE
        self._dead += 1
        if 2 * self._dead > len(self.entries) + SLACK:
            self._sweep()

    def _next_bucket(self) -> list[Entry]:
        """Move the horizon to the first bucket and give its live entries, in order."""
        self._horizon = heappop(self._buckets)
        there = self._far.pop(self._horizon, [])
        alive = [entry for entry in there if entry.data is not GONE]
        self._dead -= len(there) - len(alive)
        alive.sort(key=_deadline)
        return alive

    def _open(self) -> None:
        for entry in self._next_bucket():
            heappush(self._near, (entry.deadline, next(self._order), entry))

    def _pop_bucket(self, limit: float) -> list[Entry]:
        if len(self._far.get(self._buckets[0], ())) > limit:
            self._open()
            return []
        alive = self._next_bucket()
        for entry in alive:
            del self.entries[entry.key]
        return alive

    def _uncover(self) -> None:
        """Drop superseded entries until a live one is in front."""
        near = self._near
        while near and near[0][2].data is GONE:
            heappop(near)
            self._dead -= 1
        while not near and self._buckets:
            there = self._far.get(self._buckets[0])
            if there is None:
                heappop(self._buckets)
            elif there[0].data is GONE:
                self._clear(self._buckets[0], there)
            else:
                return

    def _sweep(self) -> None:
        """Clear a few buckets; a little at every push, so that no push waits for a million entries."""
        budget = SWEEP
        while budget > 0 and self._dead and (self._unswept or self._far):
            if not self._unswept:
                self._unswept = list(self._far)
            bucket = self._unswept.pop()
            there = self._far.get(bucket, [])
            self._clear(bucket, there)
            budget -= 1 + len(there)
        if self._dead > len(self.entries) + SLACK:
            self._compact()
        if len(self._buckets) > 2 * len(self._far) + SLACK:
            self._buckets = sorted(self._far)

    def _clear(self, bucket: int, there: list[Entry]) -> None:
        """Rid a bucket of superseded entries, and drop it if there were no others."""
        alive = [entry for entry in there if entry.data is not GONE]
        self._dead -= len(there) - len(alive)
        if alive:
            self._far[bucket] = alive
        else:
            self._far.pop(bucket, None)

    def _compact(self) -> None:
        """Drop every superseded entry, where sweeping was not enough."""
        self._near = [place for place in self._near if place[2].data is not GONE]
        heapify(self._near)
        for bucket, there in list(self._far.items()):
            self._clear(bucket, there)
        self._dead = 0


def _bucket_of(now: float) -> float:
    """The bucket that a moment falls into; the end of time is a moment too."""
    return floor(now * BUCKETS_PER_UNIT) if -inf < now < inf else now
