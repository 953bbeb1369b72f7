"""DeferredQueue: push often, act once.

Each key is in the queue at most once, with its data and a deadline. Whoever asks with a time
gets what is due by then, the lowest deadline first. The queue reads no clock: every time is
an argument, in any unit, as long as it is the same everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf
from typing import Any

from ramify.deferred.items import Item, Outcome
from ramify.deferred.life import HOLDING, LATEST, Entry, Push, Traced, held, is_holding, pushed, replaced
from ramify.deferred.policy import Policy
from ramify.deferred.schedule import Schedule
from ramify.errors import InvalidTime

ADDED, UPDATED = Outcome.ADDED, Outcome.UPDATED

PLAIN = Policy()
"""Every push names its deadline, and the last data wins."""


class DeferredQueue:
    """A queue in which a key waits once, however often it is pushed."""

    def __init__(self, policy: Policy = PLAIN) -> None:
        self.policy = policy
        self._is_plain = policy.is_plain
        self._schedule = Schedule()
        self._holding = 0
        self._has_led = False
        self._is_paused = False

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
        """Let a key wait until its deadline, in place of whatever of it was waiting.

        `now` is needed where the policy counts from it, `version` is the time of the event, and
        a `policy` of its own judges this push alone.
        """
        if self._is_plain and policy is None and version is None and now is None:
            try:
                was_there = self._schedule.put_plain(key, data, deadline)  # type: ignore[arg-type]
            except (TypeError, ValueError, OverflowError):
                was_there = None  # Not a time; `plan` says so in words.
            if was_there is not None:
                return UPDATED if was_there else ADDED
        outcome, entry = self.plan(key, data, deadline, now, version, policy)
        self.apply(entry)
        return outcome

    def plan(
        self,
        key: str,
        data: Any,
        deadline: float | None,
        now: float | None = None,
        version: float | None = None,
        policy: Policy | None = None,
    ) -> tuple[Outcome, Traced]:
        """Say what a push would come to, and change nothing."""
        entry = self._schedule.entries.get(key)
        # Most pushes are like this: nothing but a deadline that is a time.
        is_plain = self._is_plain and policy is None and version is None and now is None
        if is_plain and type(deadline) is float and -LATEST < deadline < LATEST and not is_holding(entry):
            return replaced(entry, key, data, deadline)
        return pushed(entry, Push(key, data, deadline, now, version, policy or self.policy))

    def apply(self, entry: Traced) -> None:
        """Give a key the entry that was planned for it."""
        if self._has_led or entry.quiet_at is not None or entry.phase is HOLDING:
            self._has_led = True
            self._holding += (entry.phase is HOLDING) - self._is_holding(entry.key)
        self._schedule.put(entry)

    def restore(self, entries: Iterable[Traced]) -> None:
        """Fill an empty queue with entries, one for each key, in the order in which they came."""
        by_key: dict[str, Entry] = {}
        for entry in entries:
            by_key[entry.key] = entry
            if entry.quiet_at is not None or entry.phase is HOLDING:
                self._has_led = True
                self._holding += entry.phase is HOLDING
        self._schedule.fill(by_key)

    # ── out ───────────────────────────────────────────────────────────────────────────────

    def evict(self, now: float) -> Item | None:
        """Take out the item with the lowest deadline at or before now."""
        entry = self.take(now)
        return None if entry is None else Item(entry.key, entry.data, entry.deadline)

    def drain(self, now: float, limit: int | None = None) -> list[Item]:
        """Take out all that is due, or as much of it as the limit allows, in order."""
        items: list[Item] = []
        for taken in self.take_many(now, limit):
            items += [Item(entry.key, entry.data, entry.deadline) for entry in taken]
        return items

    def flush(self, key: str, now: float | None = None) -> Item | None:
        """Take out a key without waiting for its deadline, even from a paused queue."""
        entry = self.take_key(key, now)
        return None if entry is None else entry.item()

    def cancel(self, key: str) -> Item | None:
        """Forget a key, and say what it would have fired with."""
        entry = self.take_key(key)
        self._forget_hold(key)
        return None if entry is None else entry.item()

    def pause(self) -> None:
        """Let nothing become due until `resume()`; pushes are still taken."""
        self._is_paused = True

    def resume(self) -> None:
        """Let items become due again."""
        self._is_paused = False

    # ── what is there ─────────────────────────────────────────────────────────────────────

    def peek(self) -> Item | None:
        """Find the item with the lowest deadline, due or not, and leave it where it is."""
        if self._holding:
            return next(iter(self), None)
        entry = self._schedule.first()
        return None if entry is None else entry.item()

    def get(self, key: str) -> Item | None:
        """Find what waits under a key."""
        entry = self._schedule.entries.get(key)
        return None if entry is None or is_holding(entry) else entry.item()

    def next_wake(self) -> float | None:
        """Say when to look again: nothing is due before, and nothing is late by then.

        It may be up to 1/64 early, so that asking is cheap; asking again then is exact.
        """
        return None if self._is_paused else self._schedule.wake()

    def __iter__(self) -> Iterator[Item]:
        """List what waits, in the order in which it will leave."""
        return (entry.item() for entry in self._schedule if not is_holding(entry))

    def __contains__(self, key: str) -> bool:
        return self.get(key) is not None

    def __len__(self) -> int:
        return len(self._schedule.entries) - self._holding

    @property
    def is_paused(self) -> bool:
        """Whether nothing becomes due for now."""
        return self._is_paused

    @property
    def held_entries(self) -> int:
        """How many entries are in memory: at most twice the live keys, and 64 more."""
        return self._schedule.held

    @property
    def holding(self) -> int:
        """How many keys have fired on their leading edge and are not quiet yet."""
        return self._holding

    # ── out, as entries: what a journal needs ─────────────────────────────────────────────

    def take(self, now: float) -> Entry | None:
        """Evict, as an entry."""
        check_time(now)
        if self._is_paused:
            return None
        if not self._has_led:
            return self._schedule.pop(now)
        while (entry := self._schedule.pop(now)) is not None:
            if not is_holding(entry):
                self._hold(entry, now)
                return entry
            self._holding -= 1
        return None

    def take_many(self, now: float, limit: int | None = None) -> Iterator[list[Entry]]:
        """Drain, as entries, a few at a time."""
        check_time(now)
        wanted = 0 if self._is_paused else inf if limit is None else limit
        while wanted > 0:
            popped = 0
            for taken in self._schedule.pop_many(now, wanted):
                popped += len(taken)
                fired = self._fire(taken, now) if self._has_led else taken
                wanted -= len(fired)
                yield fired
            if not popped:
                return

    def take_key(self, key: str, now: float | None = None) -> Entry | None:
        """Flush, as an entry."""
        if self._is_holding(key):
            return None
        entry = self._schedule.remove(key)
        if entry is not None:
            self._hold(entry, now)
        return entry

    def entry(self, key: str) -> Entry | None:
        """Find the entry of a key, waiting or holding."""
        return self._schedule.entries.get(key)

    def _fire(self, taken: list[Entry], now: float) -> list[Entry]:
        """Leave out the holds that have ended, and begin those of the keys that fire."""
        fired = [entry for entry in taken if not is_holding(entry)]
        self._holding -= len(taken) - len(fired)
        for entry in fired:
            self._hold(entry, now)
        return fired

    def _hold(self, entry: Entry, now: float | None) -> None:
        hold = held(entry, now)
        if hold is not None:
            self.apply(hold)

    def _is_holding(self, key: str) -> bool:
        return is_holding(self._schedule.entries.get(key))

    def _forget_hold(self, key: str) -> None:
        if self._is_holding(key):
            self._schedule.remove(key)
            self._holding -= 1


def check_time(now: float) -> None:
    """Refuse what is not a time; the beginning and the end of time are."""
    if now != now:
        raise InvalidTime(now)
