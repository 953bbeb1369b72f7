"""The queue in memory: its bounds, its listing, and its agreement with a sorted list."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from math import inf
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ramify.deferred import COUNT, LAST, SUM, DeferredQueue, Item, Policy, listed
from tests.deferred.model import Model, Row

SLACK = 64


def test_a_million_pushes_to_ten_keys_are_ten_entries_and_a_constant() -> None:
    queue = DeferredQueue()
    most = 0
    for i in range(1_000_000):
        queue.push(f"key-{i % 10}", i, deadline=i * 0.37)
        if i % 1_000 == 0:
            most = max(most, queue.held_entries)
    assert len(queue) == 10
    assert most <= 2 * 10 + SLACK


def test_one_key_pushed_for_ever_to_ever_new_deadlines_needs_no_more_memory() -> None:
    queue = DeferredQueue()
    tracemalloc.start()
    for i in range(50_000):
        queue.push("k", None, deadline=float(i))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200_000


def test_superseded_entries_go_when_live_ones_are_evicted_or_cancelled() -> None:
    removals: list[Callable[[DeferredQueue, int], object]] = [
        lambda queue, i: queue.evict(i),
        lambda queue, i: queue.cancel(f"key-{i}"),
    ]
    for remove in removals:
        queue = DeferredQueue()
        for i in range(500):
            queue.push(f"key-{i}", i, deadline=1_000_000 + i)
            queue.push(f"key-{i}", i, deadline=i)
        for i in range(500):
            remove(queue, i)
            assert queue.held_entries <= 2 * len(queue) + SLACK


def test_everything_is_due_at_the_end_of_time_and_nothing_before_its_beginning() -> None:
    queue = DeferredQueue()
    queue.push("a", 1, deadline=1e9)
    assert queue.drain(-inf) == []
    assert queue.evict(-inf) is None
    assert queue.drain(inf) == [Item("a", 1, 1e9)]


def test_deadlines_that_lie_close_together_leave_in_order() -> None:
    for take in (lambda queue: queue.drain(1), lambda queue: [queue.evict(1) for _ in range(4)]):
        queue = DeferredQueue()
        for key, deadline in (("c", 0.011), ("b", 0.004), ("d", 0.011), ("a", 0.002)):
            queue.push(key, None, deadline)
        assert [item.key for item in take(queue)] == ["a", "b", "c", "d"]


def test_after_the_end_of_time_the_queue_goes_on() -> None:
    queue = DeferredQueue()
    queue.push("a", 1, deadline=50)
    queue.drain(inf)
    queue.push("b", 2, deadline=3)
    assert queue.evict(2) is None
    assert queue.evict(3) == Item("b", 2, 3)


def test_next_wake_is_never_late_and_looking_then_gets_further() -> None:
    queue = DeferredQueue()
    deadlines = [0.001 * i * i + 0.29 for i in range(200)]
    for i, deadline in enumerate(deadlines):
        queue.push(f"key-{i}", i, deadline=deadline)
    looks, fired = 0, 0
    while (wake := queue.next_wake()) is not None:
        looks += 1
        assert wake <= deadlines[fired]
        fired += len(queue.drain(wake))
    assert fired == 200
    assert looks <= 2 * 200


def test_looking_ahead_does_not_slow_later_pushes_or_change_their_order() -> None:
    queue = DeferredQueue()
    queue.push("far", 1, deadline=3600)
    assert queue.peek() == Item("far", 1, 3600)
    assert queue.next_wake() == 3600
    queue.push("near", 2, deadline=1)
    assert [item.key for item in queue] == ["near", "far"]


@pytest.mark.parametrize("ask", [lambda q: q.evict(9), lambda q: q.drain(9) or None, lambda q: q.next_wake()])
def test_a_paused_queue_gives_nothing_and_takes_everything(ask: Any) -> None:
    queue = DeferredQueue()
    queue.pause()
    queue.push("a", 1, deadline=1)
    assert queue.is_paused
    assert ask(queue) is None
    assert queue.flush("a") == Item("a", 1, 1)
    queue.push("a", 2, deadline=1)
    queue.resume()
    assert queue.evict(1) == Item("a", 2, 1)


def test_data_that_was_superseded_is_let_go_at_once() -> None:
    class Payload:
        alive = 0

        def __init__(self) -> None:
            Payload.alive += 1

        def __del__(self) -> None:
            Payload.alive -= 1

    queue = DeferredQueue()
    for i in range(50):
        queue.push("k", Payload(), deadline=float(i))
    assert Payload.alive == 1


keys = st.sampled_from(["a", "b", "c", "d", ""])
milliseconds = st.integers(-20, 40).map(lambda count: count / 1000)
times = (
    st.integers(-3, 12)
    | milliseconds
    | st.floats(-0.1, 0.1)
    | st.sampled_from([0.25, 1e6, 1_700_000_000_000_001])
)
policies = st.sampled_from(
    [
        None,
        Policy(merge=SUM),
        Policy(max_wait=4),
        Policy(max_count=3, merge=listed(2)),
        Policy(max_wait=5, max_count=2, merge=COUNT),
        Policy(merge=LAST),
    ]
)
RELATIVE = [Policy(quiet=2), Policy(quiet=2, max_wait=3), Policy(quiet=4, max_count=3)]


class QueueAgreesWithAList(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.queue, self.model = DeferredQueue(), Model()

    @rule(key=keys, data=st.integers(), deadline=times)
    def push(self, key: str, data: int, deadline: float) -> None:
        if isinstance(getattr(self.model.find(key), "data", 0), list):
            return
        self.queue.push(key, data, deadline)
        self.model.push(key, data, deadline)

    @rule(key=keys, data=st.integers(), deadline=times, now=times, policy=policies, version=times | st.none())
    def push_by_policy(
        self, key: str, data: int, deadline: float, now: float, policy: Policy | None, version: float | None
    ) -> None:
        waiting = self.model.find(key)
        is_list = policy is not None and policy.merge.name.startswith("list")
        if waiting is not None and isinstance(waiting.data, list) is not is_list:
            return
        self.queue.push(key, data, deadline, now=now, policy=policy, version=version)
        self.model.push(key, data, deadline, now, version, policy)

    @rule(key=keys, data=st.integers(), now=times, policy=st.sampled_from(RELATIVE))
    def push_and_wait_for_quiet(self, key: str, data: int, now: float, policy: Policy) -> None:
        self.queue.push(key, data, now=now, policy=policy)
        self.model.push(key, data, None, now, None, policy)

    @rule(now=times)
    def evict(self, now: float) -> None:
        item = self.queue.evict(now)
        assert ([] if item is None else [_row(item)]) == self.model.drain(now, 1)

    @rule(now=times | st.just(inf), limit=st.none() | st.integers(0, 4))
    def drain(self, now: float, limit: int | None) -> None:
        assert [_row(item) for item in self.queue.drain(now, limit)] == self.model.drain(now, limit)

    @rule(key=keys, take=st.sampled_from(["cancel", "flush"]))
    def take(self, key: str, take: str) -> None:
        item = getattr(self.queue, take)(key)
        assert (None if item is None else _row(item)) == self.model.remove(key)

    @invariant()
    def they_list_the_same(self) -> None:
        listing = self.model.listing()
        assert [_row(item) for item in self.queue] == listing
        assert len(self.queue) == len(listing)
        first = self.queue.peek()
        assert (None if first is None else _row(first)) == (listing[0] if listing else None)
        assert self.queue.held_entries <= 2 * len(listing) + SLACK
        wake = self.queue.next_wake()
        assert (wake is None) if not listing else (wake is not None and wake <= listing[0][2])


def _row(item: Item) -> Row:
    return item.key, item.data, item.deadline


TestQueueAgreesWithAList = QueueAgreesWithAList.TestCase
TestQueueAgreesWithAList.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
