"""The life of a key: what a push makes of it, and what is left of it when it fires.

                  push                     push: moved, merged
        (absent) ──────→ WAITING ─────────────────┐
           │  ↑             │  ↑←─────────────────┘
           │  └─────────────┘ fires at its deadline
           │
           │ push, leading edge                     push: merged, stays due
           └──────→ LEADING (due at once) ──────────┐
                       │  ↑←────────────────────────┘
                       │ fires
                       ↓         quiet for long enough
                    HOLDING ───────────────────────────→ (absent)
                       │ push: absorbed, holds on (leading); or WAITING (both)

Every function here is pure: it makes the next entry and leaves the present one as it was.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from ramify.deferred.items import Item, Outcome
from ramify.deferred.policy import Edge, Policy
from ramify.errors import InvalidPush

LATEST = 1e300
"""No deadline lies beyond this, in either direction; a clock that says so is broken."""


Phase = Literal["waiting", "leading", "holding"]
"""Where a key is in its life."""

# Plain texts and no enum: an entry of plain values costs the garbage collector nothing, and
# a queue of a million keys is pushed to twice as fast.
WAITING: Phase = "waiting"
LEADING: Phase = "leading"
HOLDING: Phase = "holding"


GONE = object()
"""The data of an entry that was superseded, however long the schedule still holds it."""


class Entry(msgspec.Struct):
    """What a queue knows of a key that just waits: small, because there may be millions."""

    key: str
    data: Any
    deadline: float
    count: int = 1

    def item(self) -> Item:
        """What the key fires with."""
        return Item(self.key, self.data, self.deadline)


class Traced(Entry):
    """What a queue knows of a key whose past matters to a policy or a journal."""

    first: float | None = None
    """When the key was first pushed, if that push said what time it was."""
    version: float | None = None
    quiet_at: float | None = None
    """When the burst is over, for a key with a leading edge."""
    phase: Phase = WAITING
    number: int = 0
    """The journal's record of this state, or 0."""
    place: int = 0
    """The journal's record by which the key got its deadline: among equals the lowest leaves first."""


def traced(entry: Entry) -> Traced:
    """Give an entry a past, if it has none."""
    if isinstance(entry, Traced):
        return entry
    return Traced(entry.key, entry.data, entry.deadline, entry.count)


def is_holding(entry: Entry | None) -> bool:
    """Whether a key has fired on its leading edge and is not quiet yet."""
    return isinstance(entry, Traced) and entry.phase is HOLDING


ADDED, UPDATED, LATE, ABSORBED = Outcome.ADDED, Outcome.UPDATED, Outcome.LATE, Outcome.ABSORBED
LEADING_EDGE = Edge.LEADING


class Push(msgspec.Struct, frozen=True):
    """One push, with the policy that it is judged by."""

    key: str
    data: Any
    deadline: float | None
    now: float | None
    version: float | None
    policy: Policy


def pushed(entry: Entry | None, push: Push) -> tuple[Outcome, Traced]:
    """Say what a push makes of a key's entry; nothing has changed if it is refused."""
    wanted, now, policy = _wanted(push), push.now, push.policy
    if policy.is_plain and push.version is None and not is_holding(entry):
        return replaced(entry, push.key, push.data, wanted, now)
    policy.merge.check(push.key, push.data)
    if entry is not None:
        judge = _pushed_while_holding if is_holding(entry) else _pushed_again
        return judge(traced(entry), push, wanted)
    if policy.leads and now is not None:
        return ADDED, _begun(push, now, LEADING)
    return ADDED, _begun(push, _bounded(push, wanted, now, 1), WAITING)


def replaced(
    entry: Entry | None, key: str, data: Any, deadline: float, now: float | None = None
) -> tuple[Outcome, Traced]:
    """Do in one step what the general way does for most pushes: the last data and deadline win."""
    if entry is None:
        return ADDED, Traced(key, data, deadline, 1, now)
    old = traced(entry)
    first = now if old.first is None else old.first
    place = old.place if deadline == old.deadline else 0
    return UPDATED, Traced(
        key, data, deadline, old.count + 1, first, old.version, None, WAITING, old.number, place
    )


def held(entry: Entry, now: float | None) -> Traced | None:
    """Say what a key that fires leaves behind: a hold until its burst is over, or nothing."""
    until = entry.quiet_at if isinstance(entry, Traced) else None
    if until is None or now is None or until <= now:
        return None
    return Traced(entry.key, None, until, first=traced(entry).first, phase=HOLDING)


def _begun(push: Push, deadline: float, phase: Phase, number: int = 0) -> Traced:
    data, now = push.policy.merge.start(push.data), push.now
    quiet_at = _quiet_at(push, now) if push.policy.leads else None
    return Traced(push.key, data, deadline, 1, now, push.version, quiet_at, phase, number)


def _pushed_while_holding(entry: Traced, push: Push, wanted: float) -> tuple[Outcome, Traced]:
    now, first, number = push.now, entry.first, entry.number
    if push.policy.leads and now is not None and now >= entry.deadline:
        return ADDED, _begun(push, now, LEADING, number)
    if push.policy.edge is LEADING_EDGE:
        until = _quiet_at(push, first)
        return ABSORBED, Traced(push.key, None, until, first=first, phase=HOLDING, number=number)
    return ADDED, _begun(push, _bounded(push, wanted, now, 1), WAITING, number)


def _pushed_again(entry: Traced, push: Push, wanted: float) -> tuple[Outcome, Traced]:
    policy, version = push.policy, push.version
    first = push.now if entry.first is None else entry.first
    count = entry.count + 1
    is_late = version is not None and entry.version is not None and version < entry.version
    # What is older tells us nothing about how long the key has been quiet, so it moves nothing.
    if is_late or (policy.leads and entry.phase is LEADING):
        wanted = entry.deadline
    deadline = _bounded(push, wanted, first, count, entry.deadline)
    following = Traced(
        push.key,
        (policy.merge.older if is_late else policy.merge.newer)(entry.data, push.data),
        deadline,
        count,
        first,
        entry.version if is_late or version is None else version,
        entry.quiet_at if is_late else _quiet_at(push, first) if policy.leads else None,
        entry.phase if is_late or policy.leads else WAITING,
        entry.number,
        entry.place if deadline == entry.deadline else 0,
    )
    return (LATE if is_late else UPDATED), following


def _wanted(push: Push) -> float:
    """The deadline that a push asks for, before its policy bounds it."""
    policy, now, deadline = push.policy, push.now, push.deadline
    if now is None and policy.needs_clock:
        raise InvalidPush(push.key, f"the policy needs to know what time it is now: {policy.in_words}")
    if deadline is not None and policy.leads:
        raise InvalidPush(push.key, "a leading edge fires at the first push, so no deadline can be given")
    if deadline is None and (policy.quiet is None or now is None):
        raise InvalidPush(push.key, "a push needs a deadline, or now and a policy with quiet")
    try:
        wanted = now + policy.quiet if deadline is None else deadline  # type: ignore[operator]
        if -LATEST < wanted < LATEST and (now is None or -LATEST < now < LATEST):
            return wanted
    except TypeError:
        pass
    raise InvalidPush(push.key, f"deadline {deadline!r} or now {now!r} is not a time")


def _bounded(
    push: Push, wanted: float, first: float | None, count: int, present: float | None = None
) -> float:
    """Bring a deadline forward to what `max_wait` and `max_count` allow."""
    policy, now = push.policy, push.now
    if policy.max_wait is not None and first is not None:
        wanted = min(wanted, first + policy.max_wait)
    if policy.max_count is not None and count >= policy.max_count and now is not None:
        # A key that is full stays due, whoever pushes it on.
        wanted = min(wanted, now if present is None else min(now, present))
    return wanted


def _quiet_at(push: Push, first: float | None) -> float:
    """When the burst will be over if this was its last push; for policies with a leading edge."""
    policy = push.policy
    over = (push.now or 0) + (policy.quiet or 0)
    if policy.edge is not LEADING_EDGE or policy.max_wait is None or first is None:
        return over
    # Nothing but the leading edge fires here, so a key pushed for ever must get another one.
    return min(over, first + policy.max_wait)
