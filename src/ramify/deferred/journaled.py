"""JournaledQueue: a deferred queue that survives its process.

What `commit()` has confirmed is never lost, and what was confirmed as done is never given out
again. An item that was given out stays in flight until it is `done`; if the process dies
before that, the item is given out again after the next opening.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from math import inf
from operator import attrgetter
from pathlib import Path
from types import TracebackType
from typing import Any

from ramify.deferred.compaction import Compaction, compact
from ramify.deferred.files import DiskFiles, Files
from ramify.deferred.items import InFlight, Item, Outcome
from ramify.deferred.journal import Commit, Damage, GroupCommit, Journal, Progress
from ramify.deferred.life import Entry, Traced, is_holding, traced
from ramify.deferred.policy import Policy
from ramify.deferred.queue import PLAIN, DeferredQueue, check_time
from ramify.deferred.records import Put, encode_drop, encode_entry, entry_of

RUN = 40
"""Bits that count the records of one run; the bits above are the number of the run's first log,
so a ticket from before a crash is never mistaken for one from after it."""

COMPACT_SLACK = 100_000
"""Records that may be superfluous, beyond as many as are live, before a compaction begins."""


class JournaledQueue:
    """A `DeferredQueue` whose pushes and acknowledgements are kept in a folder."""

    def __init__(
        self,
        path: str | Path,
        policy: Policy = PLAIN,
        *,
        group: GroupCommit | None = None,
        progress: Progress | None = None,
        files: Files | None = None,
        compact_slack: int | None = COMPACT_SLACK,
    ) -> None:
        self._files = files or DiskFiles(Path(path))
        self._journal = _opened(self._files, group or GroupCommit(), progress)
        self._queue = DeferredQueue(policy)
        self._in_flight: dict[int, InFlight] = {}
        self._returned: dict[int, InFlight] = {}
        self._returned_order: list[tuple[float, int]] = []
        self._last = self._journal.number << RUN
        self._clock = -inf
        self._compact_slack = compact_slack
        self._compaction: Compaction | None = None
        self._compact_above = 0
        self._restore(self._journal.take_states())

    # ── in ────────────────────────────────────────────────────────────────────────────────

    def push(
        self,
        key: str,
        data: Any = None,
        deadline: float | None = None,
        *,
        now: float | None = None,
        version: float | None = None,
        policy: Policy | None = None,
    ) -> Outcome:
        """Push as to a `DeferredQueue`; it is accepted once it is committed."""
        outcome, entry = self._queue.plan(key, data, deadline, now, version, policy)
        self._record(entry, now)
        self._queue.apply(entry)
        return outcome

    def cancel(self, key: str) -> Item | None:
        """Forget a key that waits; what is in flight stays so."""
        entry = self._queue.entry(key)
        if entry is None:
            return None
        self._journal.append(encode_drop(traced(entry).number))
        return self._queue.cancel(key)

    def commit(self) -> int:
        """Make durable all that was pushed, cancelled and done; say how many records that is.

        Whoever remembers `appended` after a push knows that it is accepted when `committed`
        has reached it.
        """
        committed = self._journal.commit()
        self.compact_if_worthwhile()
        return committed

    def commit_due(self, now: float) -> bool:
        """Commit if anything has waited for as long as the group commit allows."""
        if not self._journal.commit_due(now):
            return False
        self.compact_if_worthwhile()
        return True

    def begin_commit(self) -> Commit | None:
        """Take what waits to be made durable, to `run()` in a thread while the queue goes on.

        Until `end_commit`, nothing else may commit: for this a queue has a `GroupCommit` without bounds.
        """
        return self._journal.begin_commit()

    def end_commit(self, commit: Commit) -> None:
        """Take note that a commit has run."""
        self._journal.end_commit(commit)

    # ── out ───────────────────────────────────────────────────────────────────────────────

    def evict(self, now: float) -> InFlight | None:
        """Give out the item with the lowest deadline at or before now."""
        return next(iter(self.drain(now, 1)), None)

    def drain(self, now: float, limit: int | None = None) -> list[InFlight]:
        """Give out what came back, then what is due, up to a limit."""
        self._journal.check()
        check_time(now)
        self._clock = max(self._clock, now) if now < inf else self._clock
        wanted = inf if limit is None else limit
        given: list[InFlight] = []
        while len(given) < wanted and (item := self._next_returned()) is not None:
            given.append(self._returned.pop(item.ticket))
        for taken in self._queue.take_many(now, None if limit is None else limit - len(given)):
            given += [_given(entry) for entry in taken]
            if self._queue.holding:
                self._record_holds(taken)
        self._in_flight.update((item.ticket, item) for item in given)
        return given

    def flush(self, key: str, now: float | None = None) -> InFlight | None:
        """Give out a key without waiting for its deadline."""
        self._journal.check()
        entry = self._queue.take_key(key, now)
        if entry is None:
            return None
        item = _given(entry)
        self._in_flight[item.ticket] = item
        self._record_holds([entry])
        return item

    def done(self, ticket: int, key: str | None = None) -> bool:
        """Acknowledge an item; it is done for good once that is committed.

        With its key, even a ticket from before a restart is good, if nothing was pushed to the
        key since. Whatever else is not in flight is answered with False and changes nothing.
        """
        self._journal.check()
        is_given = ticket in self._in_flight or ticket in self._returned
        if not is_given and not self._waits_as(ticket, key):
            return False
        self._journal.append(encode_drop(ticket))
        if is_given:
            self._in_flight.pop(ticket, None)
            self._returned.pop(ticket, None)
        elif key is not None:
            self._queue.cancel(key)
        return True

    def give_back(self, ticket: int) -> bool:
        """Take an item back from a consumer that will not do it; it is given out again first."""
        item = self._in_flight.pop(ticket, None)
        if item is not None:
            self._return(item)
        return item is not None

    def pause(self) -> None:
        """Give out nothing until `resume()`."""
        self._queue.pause()

    def resume(self) -> None:
        """Give out items again."""
        self._queue.resume()

    # ── what is there ─────────────────────────────────────────────────────────────────────

    def peek(self) -> Item | None:
        """Find the item that would be given out first."""
        return self._next_returned() or self._queue.peek()

    def get(self, key: str) -> Item | None:
        """Find what waits under a key."""
        return self._queue.get(key)

    def next_wake(self) -> float | None:
        """Say when to look again, as `DeferredQueue` does; at once if something came back."""
        returned = self._next_returned()
        return self._queue.next_wake() if returned is None else returned.deadline

    def __iter__(self) -> Iterator[Item]:
        """List what came back and what waits, in the order in which it will leave."""
        yield from sorted(self._returned.values(), key=lambda item: (item.deadline, item.ticket))
        yield from self._queue

    def __contains__(self, key: str) -> bool:
        return key in self._queue

    def __len__(self) -> int:
        return len(self._queue) + len(self._returned)

    @property
    def in_flight(self) -> list[InFlight]:
        """What was given out and is not done."""
        return list(self._in_flight.values())

    @property
    def returned(self) -> list[InFlight]:
        """What came back and waits to be given out again."""
        return list(self._returned.values())

    @property
    def damage(self) -> list[Damage]:
        """Where the journal could not be read at opening; empty if all was well."""
        return self._journal.damage

    @property
    def appended(self) -> int:
        """How many records were taken since opening."""
        return self._journal.appended

    @property
    def committed(self) -> int:
        """How many of them are durable."""
        return self._journal.committed

    @property
    def commit_at(self) -> float | None:
        """When `commit_due` will have something to do, if that is known."""
        return self._journal.commit_at

    # ── compaction ────────────────────────────────────────────────────────────────────────

    def compaction(self) -> Iterator[int]:
        """Compact the journal step by step, while pushes go on between the steps.

        What each step gives counts the records that the files hold fewer from then on.
        """
        return compact(self._files, self._journal.rotate(), self._journal.number, self._clock)

    def compact(self) -> Compaction:
        """Compact the journal in the background, unless that is under way."""
        if self._compaction is None:
            self._compaction = Compaction(self.compaction())
        return self._compaction

    @property
    def compaction_under_way(self) -> Compaction | None:
        """The compaction in the background, if there is one."""
        return self._compaction

    def compact_if_worthwhile(self) -> None:
        """Begin a compaction if the files hold much that is over; `commit()` asks this by itself."""
        if self._compaction is not None and not self._compaction.is_running:
            self._journal.records -= self._compaction.dropped
            # Where compacting failed it is tried again, but not at every commit.
            self._compact_above = 2 * self._journal.records if self._compaction.error else 0
            self._compaction = None
        if self._compact_slack is None or self._compaction is not None:
            return
        live = len(self) + self._queue.holding + len(self._in_flight)
        if self._journal.records > max(2 * live + self._compact_slack, self._compact_above):
            try:
                self.compact()
            except OSError:
                # There was no room for a new log; the present one goes on.
                self._compact_above = 2 * self._journal.records

    def close(self) -> None:
        """Commit, wait for a compaction that is under way, and let go of the files."""
        if self._compaction is not None:
            self._compaction.wait()
        self._journal.close()

    def __enter__(self) -> JournaledQueue:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ── within ────────────────────────────────────────────────────────────────────────────

    def _record(self, entry: Traced, now: float | None = None) -> None:
        """Write down a key's new state, before it takes effect."""
        number, journal = self._last + 1, self._journal
        journal.append(encode_entry(entry, number), now)
        entry.number, entry.place, self._last = number, entry.place or number, number
        if journal.committed == journal.appended:
            self.compact_if_worthwhile()

    def _record_holds(self, taken: list[Entry]) -> None:
        """Write down the holds that keys with a leading edge left behind when they fired."""
        for entry in taken:
            hold = self._queue.entry(entry.key)
            if hold is not None and is_holding(hold):
                self._record(traced(hold))

    def _restore(self, live: dict[int, Put]) -> None:
        """Let each key wait in its latest state; its earlier ones were in flight and come back."""
        latest = {put.key: put for put in live.values()}
        if len(latest) < len(live):
            for put in live.values():
                if latest[put.key] is not put and not put.is_holding:
                    self._return(InFlight(put.key, put.data, put.deadline, put.number))
        self._queue.restore(map(entry_of, sorted(latest.values(), key=attrgetter("place"))))

    def _return(self, item: InFlight) -> None:
        self._returned[item.ticket] = item
        heappush(self._returned_order, (item.deadline, item.ticket))

    def _next_returned(self) -> InFlight | None:
        """Find the item that came back and is given out next."""
        order = self._returned_order
        while order and order[0][1] not in self._returned:
            heappop(order)
        return None if not order or self._queue.is_paused else self._returned[order[0][1]]

    def _waits_as(self, ticket: int, key: str | None) -> bool:
        entry = None if key is None else self._queue.entry(key)
        return entry is not None and traced(entry).number == ticket and not is_holding(entry)


def _opened(files: Files, group: GroupCommit, progress: Progress | None) -> Journal:
    """Open the journal, or leave the folder unlocked."""
    try:
        return Journal(files, group, progress)
    except BaseException:
        files.close()
        raise


def _given(entry: Entry) -> InFlight:
    return InFlight(entry.key, entry.data, entry.deadline, traced(entry).number)
