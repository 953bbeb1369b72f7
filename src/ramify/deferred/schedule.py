"""Entries by key and in order of their deadlines; a key has at most one.

    opened   the entries of the bucket at the horizon, sorted, the next one last
    late     a heap of (deadline, order, entry): all that came at or before the horizon since
    far      {bucket: [entry, …]} for all that lies beyond it, and a heap of the buckets, in which
             some may be left over that are in `far` no more

A far entry costs one append; only when its bucket comes due is the bucket sorted. Equal
deadlines leave in the order in which they got that deadline: a bucket's list is in that
order and its sort is stable, and whatever is late got its deadline after all that was opened.

A superseded entry is only marked, and passed over when its turn comes. It is known by its
identity, never by its deadline, so a key that returns to an old deadline is not resurrected.
"""

from __future__ import annotations

from collections import defaultdict
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
        self._opened: list[Entry] = []
        self._late: list[tuple[float, int, Entry]] = []
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

    # ── in ────────────────────────────────────────────────────────────────────────────────

    def fill(self, entries: dict[str, Entry]) -> None:
        """Give an empty schedule all its entries at once, in the order in which they came."""
        far = defaultdict[int, list[Entry]](list)
        for entry in entries.values():
            far[floor(entry.deadline * BUCKETS_PER_UNIT)].append(entry)
        self.entries, self._far, self._buckets = entries, dict(far), sorted(far)

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
        bucket = floor(deadline * BUCKETS_PER_UNIT)
        if (there := self._far.get(bucket)) is not None:
            there.append(entry)
        else:
            self._file(entry, bucket)

    def put_plain(self, key: str, data: Any, deadline: float) -> bool | None:
        """Do what `put` does for a key without a past, in one step: most pushes are like this.

        Says whether the key was there; `None` if it has a past, and nothing was done.
        """
        bucket = floor(deadline * BUCKETS_PER_UNIT)
        entry = Entry(key, data, deadline)
        old = self.entries.setdefault(key, entry)
        if old is not entry:
            if type(old) is not Entry:
                return None
            if old.deadline == deadline:
                old.data = data
                old.count += 1
                return True
            entry.count = old.count + 1
            self.entries[key] = entry
            self._bury(old)
        if (there := self._far.get(bucket)) is not None:
            there.append(entry)
        else:
            self._file(entry, bucket)
        return old is not entry

    def _file(self, entry: Entry, bucket: int) -> None:
        """Give an entry its place, where its bucket is not there yet or lies behind the horizon."""
        if bucket <= self._horizon:
            heappush(self._late, (entry.deadline, next(self._order), entry))
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
        for places in (self._far.get(floor(old.deadline * BUCKETS_PER_UNIT), []), self._opened):
            for place, other in enumerate(places):
                if other is old:
                    places[place] = entry
                    return
        place = next(place for place, (_, _, other) in enumerate(self._late) if other is old)
        self._late[place] = (entry.deadline, self._late[place][1], entry)

    # ── out ───────────────────────────────────────────────────────────────────────────────

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
        opened, late = self._opened, self._late
        while True:
            if opened and not (late and late[0][0] < opened[-1].deadline):
                entry = opened[-1]
                if entry.deadline > now and entry.data is not GONE:
                    return None
                opened.pop()
            elif late:
                entry = late[0][2]
                if entry.deadline > now and entry.data is not GONE:
                    return None
                heappop(late)
            elif self._buckets and self._buckets[0] <= _bucket_of(now):
                self._opened = opened = self._next_bucket()
                opened.reverse()
                continue
            else:
                return None
            if entry.data is not GONE:
                del self.entries[entry.key]
                if 2 * self._dead > len(self.entries) + SLACK:
                    self._sweep()
                return entry
            self._dead -= 1

    def pop_many(self, now: float, limit: float) -> Iterator[list[Entry]]:
        """Take due entries in order, a few at a time, up to a limit."""
        last = _bucket_of(now)
        while limit > 0:
            # The whole of an earlier bucket is due, so it need not be looked at one by one.
            if self._is_whole_due(last, limit):
                taken = self._pop_bucket()
            else:
                taken = self._pop_some(now, limit)
                if not taken:
                    break
            limit -= len(taken)
            yield taken
        self._sweep()

    def _pop_some(self, now: float, limit: float) -> list[Entry]:
        """Take due entries one by one, until a whole bucket may be next."""
        taken: list[Entry] = []
        while len(taken) < limit and (entry := self.pop(now)) is not None:
            taken.append(entry)
            if not self._opened and not self._late:
                break
        return taken

    def _is_whole_due(self, last: float, limit: float) -> bool:
        """Whether all of the next bucket can be taken at once."""
        if self._opened or self._late or not self._buckets or self._buckets[0] >= last:
            return False
        return len(self._far.get(self._buckets[0], ())) <= limit

    def _pop_bucket(self) -> list[Entry]:
        alive = self._next_bucket()
        entries = self.entries
        for entry in alive:
            del entries[entry.key]
        return alive

    def _next_bucket(self) -> list[Entry]:
        """Move the horizon to the first bucket and give its live entries, in order."""
        self._horizon = heappop(self._buckets)
        there = self._far.pop(self._horizon, [])
        alive = [entry for entry in there if entry.data is not GONE]
        self._dead -= len(there) - len(alive)
        alive.sort(key=_deadline)
        return alive

    # ── what is there ─────────────────────────────────────────────────────────────────────

    def first(self) -> Entry | None:
        """Find the entry with the lowest deadline, due or not."""
        if (entry := self._first_near()) is not None:
            return entry
        if not self._buckets:
            return None
        return min((e for e in self._far[self._buckets[0]] if e.data is not GONE), key=_deadline)

    def wake(self) -> float | None:
        """Say when to look again: nothing is due before, and something within one bucket after."""
        if (entry := self._first_near()) is not None:
            return entry.deadline
        return self._buckets[0] / BUCKETS_PER_UNIT if self._buckets else None

    def __iter__(self) -> Iterator[Entry]:
        """Go through all entries in the order in which they will leave."""
        near = [*reversed(self._opened), *(entry for _, _, entry in sorted(self._late))]
        for there in (near, *(self._far[bucket] for bucket in sorted(self._far))):
            yield from sorted((e for e in there if e.data is not GONE), key=_deadline)

    def _first_near(self) -> Entry | None:
        """Find the first entry up to the horizon; if there is none, the first bucket has a live one."""
        opened, late = self._opened, self._late
        while opened and opened[-1].data is GONE:
            opened.pop()
            self._dead -= 1
        while late and late[0][2].data is GONE:
            heappop(late)
            self._dead -= 1
        if opened and not (late and late[0][0] < opened[-1].deadline):
            return opened[-1]
        if late:
            return late[0][2]
        self._uncover()
        return None

    def _uncover(self) -> None:
        """Drop superseded entries until the first bucket has a live one in front."""
        while self._buckets:
            there = self._far.get(self._buckets[0])
            if there is None:
                heappop(self._buckets)
            elif there[0].data is GONE:
                self._clear(self._buckets[0], there)
            else:
                return

    # ── what is superseded ────────────────────────────────────────────────────────────────

    def _bury(self, entry: Entry) -> None:
        """Mark an entry as superseded, and let go of its data at once."""
        entry.data = GONE
        self._dead += 1
        if 2 * self._dead > len(self.entries) + SLACK:
            self._sweep()

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
        self._opened = [entry for entry in self._opened if entry.data is not GONE]
        self._late = [place for place in self._late if place[2].data is not GONE]
        heapify(self._late)
        for bucket, there in list(self._far.items()):
            self._clear(bucket, there)
        self._dead = 0


def _bucket_of(now: float) -> float:
    """The bucket that a moment falls into; the end of time is a moment too."""
    return floor(now * BUCKETS_PER_UNIT) if -inf < now < inf else now
