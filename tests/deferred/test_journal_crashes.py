"""Whatever is cut off, and wherever: what was confirmed is there, and what was done is not.

After a power cut the queue must hold exactly what it held after some operation since the last
commit: that one, or a later one that happened to reach the disk.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from ramify.deferred import DeferredQueue, Edge, GroupCommit, InFlight, JournaledQueue, Policy, listed
from tests.deferred.disk import Disk, PowerCut
from tests.deferred.model import Model, Row

keys = st.sampled_from(["a", "b", "c", "d"])
deadlines = st.integers(0, 8)
Owed = Counter[tuple[str, str, float]]


class JournalSurvives(RuleBasedStateMachine):
    policy = Policy()

    def __init__(self) -> None:
        super().__init__()
        self.disk = Disk()
        self.steps: Iterator[int] = iter(())
        self.open()

    def open(self) -> None:
        self.queue = JournaledQueue(
            "", self.policy, files=self.disk, group=GroupCommit(records=4), compact_slack=None
        )
        self.steps = iter(())
        self.model = Model()
        self.returned: list[InFlight] = [item for item in self.queue if isinstance(item, InFlight)]
        for item in self.queue:
            if not isinstance(item, InFlight):
                self.model.push(item.key, item.data, item.deadline)
        self.in_flight: list[InFlight] = []
        self.possible = [self.owed()]

    def owed(self) -> Owed:
        """What must still be done, by the model."""
        given = [(item.key, repr(item.data), item.deadline) for item in (*self.returned, *self.in_flight)]
        return Counter([(key, repr(data), deadline) for key, data, deadline in self.model.listing()] + given)

    def happened(self) -> None:
        now = self.owed()
        is_all_durable = self.queue.committed == self.queue.appended
        self.possible = [now] if is_all_durable else [*self.possible, now]

    # ── what people do ────────────────────────────────────────────────────────────────────

    @rule(key=keys, data=st.integers(0, 99) | st.text(max_size=3), deadline=deadlines)
    def push(self, key: str, data: Any, deadline: int) -> None:
        self.queue.push(key, data, deadline)
        self.model.push(key, data, deadline, policy=self.policy)
        self.happened()

    @rule(now=deadlines, limit=st.none() | st.integers(1, 3))
    def drain(self, now: int, limit: int | None) -> None:
        given = self.queue.drain(now, limit)
        expected = sorted(self.returned, key=lambda item: (item.deadline, item.ticket))[:limit]
        assert given[: len(expected)] == expected
        self.returned = [item for item in self.returned if item not in expected]
        left = None if limit is None else limit - len(expected)
        assert [_row(item) for item in given[len(expected) :]] == self.model.drain(now, left)
        self.in_flight += given

    @rule(key=keys)
    def flush(self, key: str) -> None:
        item, expected = self.queue.flush(key), self.model.remove(key)
        assert (None if item is None else _row(item)) == expected
        self.in_flight += [] if item is None else [item]

    @precondition(lambda self: self.in_flight)
    @rule(data=st.data())
    def done(self, data: st.DataObject) -> None:
        item = data.draw(st.sampled_from(self.in_flight))
        assert self.queue.done(item.ticket)
        assert not self.queue.done(item.ticket)
        self.in_flight.remove(item)
        self.happened()

    @precondition(lambda self: self.in_flight)
    @rule(data=st.data())
    def give_back(self, data: st.DataObject) -> None:
        item = data.draw(st.sampled_from(self.in_flight))
        assert self.queue.give_back(item.ticket)
        self.in_flight.remove(item)
        self.returned.append(item)

    @rule(key=keys)
    def cancel(self, key: str) -> None:
        item, expected = self.queue.cancel(key), self.model.remove(key)
        assert (None if item is None else _row(item)) == expected
        self.happened()

    @rule()
    def commit(self) -> None:
        self.queue.commit()
        self.happened()

    @rule(steps=st.integers(1, 30))
    def compact(self, steps: int) -> None:
        for _ in range(steps):
            if next(self.steps, None) is None:
                self.steps = self.queue.compaction()
                self.happened()

    # ── what fate does ────────────────────────────────────────────────────────────────────

    @rule()
    def close_and_open(self) -> None:
        before = self.owed()
        for _ in self.steps:
            pass
        self.queue.close()
        self.open()
        assert self.owed() == before

    @rule(data=st.data())
    def cut_the_power(self, data: st.DataObject) -> None:
        self.come_back(data)

    @rule(data=st.data(), fuse=st.integers(0, 12))
    def cut_the_power_in_the_middle_of_writing(self, data: st.DataObject, fuse: int) -> None:
        self.disk.fuse = fuse
        try:
            self.queue.push("a", "last", 3)
            self.model.push("a", "last", 3, policy=self.policy)
            self.happened()
            self.queue.commit()
            self.happened()
            for _ in self.queue.compaction():
                pass
        except PowerCut:
            self.possible.append(self._owed_with_last())
        self.come_back(data)

    def _owed_with_last(self) -> Owed:
        """What would be owed if the push that the power cut interrupted reached the disk."""
        rows = [row for row in self.model.listing() if row[0] != "a"]
        given = [_row(item) for item in (*self.returned, *self.in_flight)]
        return Counter((key, repr(data), time) for key, data, time in [*rows, ("a", "last", 3), *given])

    def come_back(self, data: st.DataObject) -> None:
        possible = self.possible
        choose: Callable[[int], int] = lambda most: data.draw(st.integers(0, most))  # noqa: E731
        self.disk.crash(choose)
        if data.draw(st.booleans()):
            self._cut_the_power_while_opening(choose, data.draw(st.integers(0, 10)))
        self.open()
        assert self.owed() in possible
        assert len(self.queue.damage) <= 1

    def _cut_the_power_while_opening(self, choose: Callable[[int], int], fuse: int) -> None:
        self.disk.fuse = fuse
        with suppress(PowerCut):
            JournaledQueue("", self.policy, files=self.disk)
        self.disk.crash(choose)

    @invariant()
    def the_listing_is_in_order(self) -> None:
        waiting = [_row(item) for item in self.queue if not isinstance(item, InFlight)]
        assert waiting == self.model.listing()
        assert len(self.queue) == len(waiting) + len(self.returned)
        assert sorted(item.ticket for item in self.queue.in_flight) == sorted(
            item.ticket for item in self.in_flight
        )


def _row(item: Any) -> Row:
    return item.key, item.data, item.deadline


TestJournalSurvives = JournalSurvives.TestCase
TestJournalSurvives.settings = settings(max_examples=200, stateful_step_count=30, deadline=None)


class HoldsSurvive(RuleBasedStateMachine):
    """A journaled queue with leading edges, committed and reopened at will, acts as one in memory."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0
        self.policy = Policy(quiet=3, max_wait=7, edge=Edge.BOTH, merge=listed(3))
        self.disk = Disk()
        self.memory = DeferredQueue(self.policy)
        self.open()

    def open(self) -> None:
        self.queue = JournaledQueue("", self.policy, files=self.disk)

    @rule(key=keys, data=st.integers(0, 9), edge=st.sampled_from(Edge))
    def push(self, key: str, data: int, edge: Edge) -> None:
        policy = Policy(quiet=3, max_wait=7, edge=edge, merge=listed(3))
        outcome = self.memory.push(key, data, now=self.now, policy=policy)
        assert self.queue.push(key, data, now=self.now, policy=policy) is outcome

    @rule(step=st.integers(0, 4))
    def wait(self, step: int) -> None:
        self.now += step
        given = self.queue.drain(self.now)
        assert [_row(item) for item in given] == [_row(item) for item in self.memory.drain(self.now)]
        for item in given:
            self.queue.done(item.ticket)

    @rule(compact=st.booleans())
    def reopen(self, compact: bool) -> None:
        for _ in self.queue.compaction() if compact else ():
            pass
        self.queue.close()
        self.open()


TestHoldsSurvive = HoldsSurvive.TestCase
TestHoldsSurvive.settings = settings(max_examples=100, stateful_step_count=30, deadline=None)
