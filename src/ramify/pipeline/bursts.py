"""The life of many keys at once: `deferred.life` for rows that are sorted by key and time, in numpy.

A *segment* is a run of a key's rows with no gap of `quiet` in it. A *burst* is what becomes one item:

    edge        a segment is                        and fires
    trailing    bursts, cut by max_wait, max_count  each at its deadline
    leading     bursts, cut by max_wait             each at its first row
    both        one row, then trailing bursts       at that row; each at its deadline

What has not fired by the horizon goes on: one row of a key stands for its burst so far. Given back
in front of the key's further rows, it makes their life what it would have been in one go.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ramify.deferred import FIRST, Edge, Policy

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

FRESH, WAITING, HOLDING = 0, 1, 2
"""A row of its own; a burst that has not fired; one that has, and is not over."""

END = 2**63 - 1
"""The horizon of keys whose rows have all been seen."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows sorted by key and time; times are microseconds, and equal keys have equal codes."""

    codes: Ints
    first: Ints
    last: Ints
    count: Ints
    phase: Ints

    @classmethod
    def fresh(cls, codes: Ints, at: Ints) -> Rows:
        """Rows that stand for nothing but themselves."""
        return cls(codes, at, at, np.ones_like(at), np.zeros_like(at))


@dataclass(frozen=True, slots=True)
class Fired:
    """What fired: the place of the kept row, the deadline, and how many rows became one."""

    place: Ints
    at: Ints
    merged: Ints


@dataclass(frozen=True, slots=True)
class Going:
    """What goes on: the place of the kept row, the burst it stands for, and when something is due."""

    place: Ints
    first: Ints
    last: Ints
    count: Ints
    phase: Ints
    due: Ints


def live(rows: Rows, policy: Policy, horizon: Ints | int) -> tuple[Fired, Going]:
    """Live through the rows, and fire what is due by the horizon: one for all, or one for each row.

    No row may be later than its horizon, and no further row of its key may be earlier.
    """
    is_segment = _segments(rows, policy)
    starts = _starts(rows, policy, is_segment)
    ends = _ends(starts, len(is_segment)) - 1
    first, last, phase = rows.first[starts], rows.last[ends], rows.phase[starts]
    merged = np.add.reduceat(rows.count, starts) if len(starts) else starts
    is_lead = _leads(policy, is_segment[starts], phase)
    is_held = phase == HOLDING
    deadline, quiet_at = _due(policy, first, last, merged, is_lead)
    by = horizon[ends] if isinstance(horizon, np.ndarray) else horizon
    is_fired = ~is_held & (deadline <= by)
    # By its name: a policy that came to a worker has a merge of its own.
    keeps_first = policy.merge.name == FIRST.name
    kept = np.where(is_lead, starts, starts if keeps_first else ends)
    fired = Fired(kept[is_fired], deadline[is_fired], np.where(is_lead, 1, merged)[is_fired])
    is_over = is_held | is_fired
    goes = np.where(is_over, policy.leads & (quiet_at > by), True) & _is_last(rows.codes[starts])
    due, now = np.where(is_over, quiet_at, deadline), np.where(is_over, HOLDING, WAITING)
    return fired, Going(kept[goes], first[goes], last[goes], merged[goes], now[goes], due[goes])


def _segments(rows: Rows, policy: Policy) -> Flags:
    """Which rows begin a segment."""
    codes = rows.codes
    begins = np.ones(len(codes), np.bool_)
    begins[1:] = (codes[1:] != codes[:-1]) | (_elapsed(rows.last[:-1], rows.last[1:]) >= (policy.quiet or 0))
    return begins


def _starts(rows: Rows, policy: Policy, is_segment: Flags) -> Ints:
    """The places at which bursts begin."""
    is_start = is_segment
    if policy.edge is Edge.BOTH:
        # The first row of a segment fires alone, and one that holds has fired.
        is_start = is_segment.copy()
        is_start[1:] |= (is_segment & (rows.phase != WAITING))[:-1]
    starts = np.flatnonzero(is_start)
    ends = _ends(starts, len(is_start))
    is_long = np.zeros(len(starts), np.bool_)
    if policy.max_wait is not None and len(starts):
        is_long |= _elapsed(rows.first[starts], rows.last[ends - 1]) >= policy.max_wait
    if policy.max_count is not None and len(starts):
        is_long |= np.add.reduceat(rows.count, starts) > policy.max_count
    cut = [
        begin
        for at in np.flatnonzero(is_long)
        for begin in _cuts(rows, policy, int(starts[at]), int(ends[at]))
    ]
    return np.sort(np.concatenate((starts, np.array(cut, np.int64)))) if cut else starts


def _ends(starts: Ints, total: int) -> Ints:
    return np.append(starts[1:], total)[: len(starts)]


def _cuts(rows: Rows, policy: Policy, begin: int, end: int) -> list[int]:
    """Where `max_wait` and `max_count` cut what lies between two places."""
    times = rows.last[begin:end].tolist()
    since, count, at = int(rows.first[begin]), int(rows.count[begin]), 0
    cuts: list[int] = []
    while True:
        following = len(times)
        if policy.max_wait is not None:
            following = bisect_left(times, since + policy.max_wait, at + 1)
        if policy.max_count is not None:
            following = min(following, at + 1 + policy.max_count - count)
        if following >= len(times):
            return cuts
        cuts.append(begin + following)
        since, count, at = times[following], 1, following


def _leads(policy: Policy, is_segment: Flags, phase: Ints) -> Flags:
    """Which bursts fire at their first row."""
    if policy.edge is Edge.BOTH:
        is_fresh: Flags = phase == FRESH
        return is_segment & is_fresh
    return np.full(len(phase), policy.edge is Edge.LEADING)


def _due(policy: Policy, first: Ints, last: Ints, merged: Ints, is_lead: Flags) -> tuple[Ints, Ints]:
    """When bursts fire, and when they are over."""
    quiet_at = deadline = _later(last, policy.quiet)
    if policy.max_wait is not None:
        deadline = np.minimum(deadline, _later(first, policy.max_wait))
    if policy.edge is Edge.LEADING:
        quiet_at = deadline
    if policy.max_count is not None:
        deadline = np.where(merged >= policy.max_count, last, deadline)
    return np.where(is_lead, first, deadline), quiet_at


def _is_last(codes: Ints) -> Flags:
    """Which bursts are the last of their keys."""
    lasts = np.ones(len(codes), np.bool_)
    lasts[:-1] = codes[1:] != codes[:-1]
    return lasts


def _elapsed(earlier: Ints, later: Ints) -> npt.NDArray[np.uint64]:
    # Between the first and the last moment that Spark can tell there are more than 2^63 microseconds.
    return later.view(np.uint64) - earlier.view(np.uint64)


def _later(times: Ints, duration: float | None) -> Ints:
    wait = int(duration or 0)
    return np.minimum(times, END - wait) + wait
