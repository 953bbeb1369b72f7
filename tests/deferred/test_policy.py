"""What quiet, max_wait, max_count, edges, merges and versions mean, by example."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import Any

import pytest

from ramify.deferred import (
    COUNT,
    FIRST,
    LAST,
    MAX,
    MIN,
    SUM,
    DeferredQueue,
    Edge,
    Item,
    JournaledQueue,
    Merge,
    Outcome,
    Policy,
    custom,
    listed,
    parse_merge,
)
from ramify.errors import InvalidPolicy, InvalidPush, InvalidTime
from tests.deferred.disk import Disk

Push = tuple[float, str]
Fired = list[tuple[float, Any]]


def play(policy: Policy, pushes: list[Push], until: float = 40, step: float = 1) -> Fired:
    """Push one key at the given times, look every second, and note when it fires with what."""
    queue, fired, now = DeferredQueue(policy), [], 0.0
    while now <= until:
        for time, data in pushes:
            if time == now:
                queue.push("k", data, now=now)
        fired += [(now, item.data) for item in queue.drain(now)]
        now += step
    assert len(queue) == queue.holding == 0
    return fired


def every(seconds: range) -> list[Push]:
    return [(float(second), str(second)) for second in seconds]


BOTH, LEADING = Edge.BOTH, Edge.LEADING
BEHAVIOUR: list[tuple[str, Policy, list[Push], Fired]] = [
    ("one push fires after quiet", Policy(quiet=5), every(range(1)), [(5, "0")]),
    ("a burst fires once, quiet after its end", Policy(quiet=5), every(range(4)), [(8, "3")]),
    (
        "two bursts fire twice",
        Policy(quiet=2),
        [*every(range(2)), *every(range(10, 12))],
        [(3, "1"), (13, "11")],
    ),
    (
        "a key pushed for ever fires every max_wait",
        Policy(quiet=5, max_wait=10),
        every(range(20)),
        [(10, "10"), (21, "19")],
    ),
    ("max_count fires at once", Policy(quiet=5, max_count=3), every(range(4)), [(2, "2"), (8, "3")]),
    (
        "max_count of one fires every push",
        Policy(quiet=5, max_count=1),
        every(range(2)),
        [(0, "0"), (1, "1")],
    ),
    ("leading fires at the first push", Policy(quiet=5, edge=LEADING), every(range(4)), [(0, "0")]),
    (
        "leading fires again after quiet",
        Policy(quiet=2, edge=LEADING),
        [*every(range(3)), (5.0, "5")],
        [(0, "0"), (5, "5")],
    ),
    ("leading is kept quiet by pushes", Policy(quiet=2, edge=LEADING), every(range(20)), [(0, "0")]),
    (
        "leading with max_wait fires again although pushes go on",
        Policy(quiet=3, max_wait=5, edge=LEADING),
        every(range(8)),
        [(0, "0"), (5, "5")],
    ),
    ("both fires once for one push", Policy(quiet=5, edge=BOTH), every(range(1)), [(0, "0")]),
    ("both fires at both ends of a burst", Policy(quiet=5, edge=BOTH), every(range(3)), [(0, "0"), (7, "2")]),
    (
        "both leads again after the trailing edge",
        Policy(quiet=2, edge=BOTH),
        [*every(range(2)), (5.0, "5")],
        [(0, "0"), (3, "1"), (5, "5")],
    ),
    (
        "both with max_wait does not lead in the middle of a burst",
        Policy(quiet=3, max_wait=4, edge=BOTH),
        every(range(8)),
        [(0, "0"), (5, "5"), (10, "7")],
    ),
    ("quiet of zero is due at once", Policy(quiet=0), every(range(2)), [(0, "0"), (1, "1")]),
]


@pytest.mark.parametrize(
    ("policy", "pushes", "fired"), [row[1:] for row in BEHAVIOUR], ids=[row[0] for row in BEHAVIOUR]
)
def test_a_key_fires_when_its_policy_says(policy: Policy, pushes: list[Push], fired: Fired) -> None:
    assert play(policy, pushes) == fired


IMPOSSIBLE: list[Callable[[], object]] = [
    lambda: Policy(quiet=5, max_wait=4),
    lambda: Policy(quiet=-1),
    lambda: Policy(quiet=nan),
    lambda: Policy(quiet=inf),
    lambda: Policy(max_wait=-1),
    lambda: Policy(max_wait=inf),
    lambda: Policy(max_count=0),
    lambda: Policy(edge=Edge.LEADING),
    lambda: Policy(edge=Edge.BOTH),
    lambda: Policy(quiet=1, edge=Edge.LEADING, max_count=3),
    lambda: listed(0),
    lambda: parse_merge("average"),
    lambda: parse_merge("list:"),
    lambda: parse_merge("list:0"),
]


@pytest.mark.parametrize("make", IMPOSSIBLE)
def test_an_impossible_policy_is_refused_when_it_is_made(make: Callable[[], object]) -> None:
    with pytest.raises(InvalidPolicy):
        make()


def longer(older: str, newer: str) -> str:
    return max(older, newer, key=len)


MERGES: list[tuple[Merge, list[Any], Any]] = [
    (LAST, ["a", "b", "c"], "c"),
    (FIRST, ["a", "b", "c"], "a"),
    (listed(10), ["a", "b"], ["a", "b"]),
    (listed(2), ["a", "b", "c"], ["b", "c"]),
    (parse_merge("list:1"), ["a", "b", "c"], ["c"]),
    (SUM, [1, 2.5, 3], 6.5),
    (MIN, [3, 1, 2], 1),
    (MAX, [3, 1, 4], 4),
    (COUNT, ["a", None, 3], 3),
    (custom(longer), ["a", "bcd", "ef"], "bcd"),
]


@pytest.mark.parametrize(("merge", "pushes", "expected"), MERGES, ids=[row[0].name for row in MERGES])
@pytest.mark.parametrize("make", [DeferredQueue, lambda policy: JournaledQueue("", policy, files=Disk())])
def test_a_merge_makes_one_value_of_many(make: Any, merge: Merge, pushes: list[Any], expected: Any) -> None:
    queue = make(Policy(merge=merge))
    for data in pushes:
        queue.push("k", data, deadline=1)
    assert queue.evict(1).data == expected


@pytest.mark.parametrize("merge", [SUM, MIN, MAX])
@pytest.mark.parametrize("data", ["5", None, True, [1]])
def test_what_is_not_a_number_is_refused_and_changes_nothing(merge: Merge, data: Any) -> None:
    queue = DeferredQueue(Policy(merge=merge))
    queue.push("k", 1, deadline=1)
    with pytest.raises(InvalidPush, match="numbers"):
        queue.push("k", data, deadline=9)
    assert list(queue) == [Item("k", 1, 1)]


def test_a_merge_that_raises_changes_nothing() -> None:
    queue = DeferredQueue(Policy(merge=custom(lambda older, newer: older + newer)))
    queue.push("k", 1, deadline=1)
    with pytest.raises(TypeError):
        queue.push("k", "one", deadline=9)
    assert list(queue) == [Item("k", 1, 1)]


def test_what_was_peeked_does_not_change_afterwards() -> None:
    queue = DeferredQueue(Policy(merge=listed(5)))
    queue.push("k", "a", deadline=1)
    peeked = queue.peek()
    queue.push("k", "b", deadline=1)
    assert peeked == Item("k", ["a"], 1)


OLDER: list[tuple[Merge, Any]] = [
    (LAST, 10),
    (FIRST, 10),
    (SUM, 11),
    (MIN, 1),
    (MAX, 10),
    (COUNT, 2),
    (listed(5), [10, 1]),
    (custom(lambda older, newer: (older, newer)), (1, 10)),
]


@pytest.mark.parametrize(("merge", "expected"), OLDER, ids=[row[0].name for row in OLDER])
def test_older_data_never_overwrites_newer(merge: Merge, expected: Any) -> None:
    queue = DeferredQueue(Policy(merge=merge))
    queue.push("k", 10, deadline=5, version=100)
    assert queue.push("k", 1, deadline=50, version=99) is Outcome.LATE
    assert list(queue) == [Item("k", expected, 5)]


def test_versions_are_compared_with_the_newest_seen() -> None:
    queue = DeferredQueue()
    for version, data in ((1, "a"), (3, "b"), (2, "c"), (3, "d"), (None, "e"), (2, "f")):
        queue.push("k", data, deadline=5, version=version)
    assert list(queue) == [Item("k", "e", 5)]


def test_a_push_may_have_a_policy_of_its_own() -> None:
    queue = DeferredQueue(Policy(quiet=5))
    queue.push("k", "a", now=0)
    queue.push("k", "b", now=1, policy=Policy(quiet=60))
    queue.push("other", 1, deadline=7)
    assert list(queue) == [Item("other", 1, 7), Item("k", "b", 61)]


def test_a_named_deadline_is_capped_by_max_wait() -> None:
    queue = DeferredQueue(Policy(max_wait=10))
    queue.push("k", "a", deadline=100, now=0)
    queue.push("k", "b", deadline=100, now=8)
    assert list(queue) == [Item("k", "b", 10)]


def test_a_full_key_stays_due_whoever_pushes_it_on() -> None:
    queue = DeferredQueue(Policy(quiet=5, max_count=2))
    for now in range(4):
        queue.push("k", now, now=now)
    assert queue.evict(1) == Item("k", 3, 1)


def test_a_leading_item_that_nobody_took_still_takes_pushes() -> None:
    queue = DeferredQueue(Policy(quiet=5, edge=Edge.BOTH, merge=listed(9)))
    queue.push("k", "a", now=0)
    queue.push("k", "b", now=1)
    assert queue.evict(2) == Item("k", ["a", "b"], 0)
    assert queue.push("k", "c", now=3) is Outcome.ADDED
    assert queue.evict(7) is None
    assert queue.evict(8) == Item("k", ["c"], 8)


def test_what_is_absorbed_says_so_and_is_not_counted() -> None:
    queue = DeferredQueue(Policy(quiet=5, edge=Edge.LEADING))
    queue.push("k", "a", now=0)
    queue.evict(0)
    assert queue.push("k", "b", now=1) is Outcome.ABSORBED
    assert (len(queue), queue.holding, "k" in queue, queue.peek()) == (0, 1, False, None)
    assert queue.cancel("k") is None
    assert queue.holding == 0
    assert queue.push("k", "c", now=2) is Outcome.ADDED


REFUSED: list[tuple[Policy, dict[str, Any]]] = [
    (Policy(), {}),
    (Policy(), {"now": 1}),
    (Policy(quiet=1), {}),
    (Policy(max_wait=1), {"deadline": 1}),
    (Policy(max_count=1), {"deadline": 1}),
    (Policy(quiet=1, edge=Edge.LEADING), {"deadline": 1, "now": 1}),
    (Policy(), {"deadline": nan}),
    (Policy(), {"deadline": inf}),
    (Policy(), {"deadline": "soon"}),
    (Policy(), {"deadline": 10**400}),
    (Policy(quiet=1), {"now": nan}),
    (Policy(quiet=1), {"now": "noon"}),
    (Policy(max_wait=1), {"deadline": 1, "now": nan}),
]


@pytest.mark.parametrize(("policy", "times"), REFUSED)
def test_a_push_without_a_usable_time_is_refused(policy: Policy, times: dict[str, Any]) -> None:
    queue = DeferredQueue(policy)
    with pytest.raises(InvalidPush):
        queue.push("k", "a", **times)
    assert len(queue) == queue.held_entries == 0


def test_asking_at_no_time_is_refused() -> None:
    queue = DeferredQueue()
    queue.push("k", 1, deadline=1)
    for ask in (queue.evict, queue.drain):
        with pytest.raises(InvalidTime):
            ask(nan)
