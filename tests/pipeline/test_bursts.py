"""Many keys at once live as each would in a deferred queue, in one go or in pieces."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ramify.deferred import FIRST, LAST, DeferredQueue, Edge, Policy, listed
from ramify.errors import InvalidPolicy
from ramify.pipeline.bursts import END, Rows, live
from ramify.pipeline.durations import microseconds

Item = tuple[int, int, int]
"""The number of the kept row, the time of firing, and how many rows became one."""


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    quiet, edge = draw(st.sampled_from([0, 1, 2, 5])), draw(st.sampled_from(Edge))
    more = draw(st.none() | st.integers(0, 8))
    counts = st.none() if edge is Edge.LEADING else st.none() | st.integers(1, 5)
    longest = None if more is None else quiet + more
    return Policy(quiet, longest, draw(counts), edge, draw(st.sampled_from([FIRST, LAST])))


def by_queue(times: list[int], policy: Policy) -> list[Item]:
    """What a queue gives out if it is drained at each row's time, and then takes the row."""
    queue = DeferredQueue(replace(policy, merge=listed(len(times) + 1)))
    fired = []
    for number, now in enumerate(times):
        fired += queue.drain(now)
        queue.push("key", number, now=now)
    fired += queue.drain(float("inf"))
    kept = 0 if policy.merge is FIRST else -1
    return [(item.data[kept], int(item.deadline), len(item.data)) for item in fired]


def in_pieces(times: list[int], policy: Policy, horizons: list[int]) -> list[Item]:
    """The same, lived up to one horizon after the other, and then to the end."""
    numbers, standing, begin = np.zeros(0, np.int64), np.zeros((4, 0), np.int64), 0
    fired: list[Item] = []
    for horizon in [*sorted(horizons), END]:
        end = begin + sum(at <= horizon for at in times[begin:])
        at = np.array(times[begin:end], np.int64)
        fresh = np.stack((at, at, np.ones_like(at), np.zeros_like(at)))
        numbers = np.append(numbers, np.arange(begin, end))
        standing = np.hstack((standing, fresh))
        out, going = live(Rows(np.zeros_like(numbers), *standing), policy, horizon)
        fired += zip(numbers[out.place].tolist(), out.at.tolist(), out.merged.tolist(), strict=True)
        numbers = numbers[going.place]
        standing = np.stack((going.first, going.last, going.count, going.phase))
        assert (going.due > horizon).all()
        begin = end
    return fired


@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.integers(0, 40), max_size=25).map(sorted),
    policies(),
    st.lists(st.integers(0, 60), max_size=6),
)
def test_a_key_fires_as_in_a_queue_however_its_life_is_cut_into_pieces(
    times: list[int], policy: Policy, horizons: list[int]
) -> None:
    assert in_pieces(times, policy, horizons) == by_queue(times, policy)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(st.integers(0, 40), max_size=12).map(sorted), max_size=6), policies())
def test_keys_do_not_disturb_each_other(lives: list[list[int]], policy: Policy) -> None:
    codes = np.repeat(np.arange(len(lives)), [len(each) for each in lives])
    times = np.array([at for each in lives for at in each], np.int64)
    fired, _ = live(Rows.fresh(codes, times), policy, END)
    found = list(zip(fired.place.tolist(), fired.at.tolist(), fired.merged.tolist(), strict=True))
    wanted, begin = [], 0
    for each in lives:
        wanted += [(begin + number, at, merged) for number, at, merged in by_queue(each, policy)]
        begin += len(each)
    assert found == wanted


def test_a_deadline_beyond_all_time_is_the_end_of_it() -> None:
    policy = Policy(microseconds("1d"), microseconds("2d"))
    times = np.array([-(2**63), 2**63 - 5], np.int64)
    fired, going = live(Rows.fresh(np.zeros(2, np.int64), times), policy, END)
    assert fired.at.tolist() == [-(2**63) + microseconds("1d"), END]
    assert not len(going.place)


@pytest.mark.parametrize("wrong", ["1000000d", 1e300, timedelta.max])
def test_a_duration_that_no_one_can_wait_for_is_refused(wrong: str | float | timedelta) -> None:
    with pytest.raises(InvalidPolicy, match="285 years"):
        microseconds(wrong)
