"""Events and deliveries that wait for each other, so that many become one.

A subscription that is debounced gets a topic's events when the topic has been quiet for long
enough. An event that its publisher defers is routed when its key has been quiet. Both wait in a
deferred queue; what waits is a `Batch`, under a key that names all that tells it from others.
"""

from __future__ import annotations

from msgspec import Struct

from ramify.broker.changes import ItemDropped, ItemKept
from ramify.broker.effects import Turn
from ramify.broker.values import Debounce, Defer, Event, Identity, Limits
from ramify.deferred import FIRST, LAST, DeferredQueue, Merge, Outcome, Policy, custom
from ramify.deferred.life import Traced
from ramify.errors import InvalidPolicy


class Batch(Struct, frozen=True):
    """What waits under one key."""

    events: tuple[tuple[Event, int], ...]
    """Events with their sequence numbers."""
    is_durable: bool
    defer: Defer | None = None
    """How the events wait to be routed, or:"""
    client: str = ""
    identity: Identity | None = None
    """the subscription that they wait to be delivered to."""


class Coalescing:
    """All that waits to become fewer."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._queue = DeferredQueue()

    def __len__(self) -> int:
        return len(self._queue)

    @property
    def next_deadline(self) -> float | None:
        """When the first of them is due."""
        item = self._queue.peek()
        return None if item is None else item.deadline

    def push(self, key: str, batch: Batch, policy: Policy, turn: Turn) -> bool | None:
        """Let a batch wait; whether it joined another, or `None` if there is no room."""
        if len(self._queue) >= self._limits.deferred and key not in self._queue:
            return None
        outcome, entry = self._queue.plan(key, batch, None, turn.now, None, policy)
        self._queue.apply(entry)
        if batch.is_durable:
            turn.changes.append(_kept(entry))
        return outcome is Outcome.UPDATED

    def cancel(self, key: str, turn: Turn) -> None:
        """Let nothing wait under a key."""
        item = self._queue.cancel(key)
        if item is not None and item.data.is_durable:
            turn.changes.append(ItemDropped(key))

    def due(self, turn: Turn) -> list[tuple[str, Batch]]:
        """Take out what is due, in order."""
        taken = [(item.key, item.data) for item in self._queue.drain(turn.now)]
        turn.changes += [ItemDropped(key) for key, batch in taken if batch.is_durable]
        return taken

    def restore(self, item: ItemKept) -> None:
        """Let wait what waited before, until the same moment."""
        batch = Batch(item.events, True, item.defer, item.client, item.identity)
        self._queue.apply(Traced(item.key, batch, item.deadline, item.count, item.first))


# ── keys and policies ─────────────────────────────────────────────────────────────────────

# No name, pattern or topic has a NUL, so joined by it they cannot be mistaken for others.
_BETWEEN = "\0"


def delivery_key(client: str, identity: Identity, topic: str) -> str:
    """What tells deliveries apart: those of one topic to one subscription wait for each other."""
    pattern, dialect, group = identity
    return _BETWEEN.join(("delivery", client, dialect, group or "", pattern, topic))


def event_key(topic: str, key: str) -> str:
    """What tells deferred events apart: only who may publish to the topic reaches what waits there."""
    return _BETWEEN.join(("event", topic, key))


def debounce_policy(debounce: Debounce, limits: Limits) -> Policy:
    """When and with what a debounced subscription fires."""
    if debounce.keep not in _MERGES:
        raise InvalidPolicy(f"unknown keep {debounce.keep!r}; say {', '.join(_MERGES)}")
    merge, is_list = _MERGES[debounce.keep]
    _check_waits(debounce.quiet, debounce.max_wait, limits)
    # A list that is full is delivered at once, so that nothing falls out of it.
    return Policy(debounce.quiet, debounce.max_wait, limits.listed if is_list else None, merge=merge)


def defer_policy(defer: Defer, limits: Limits) -> Policy:
    """When a deferred event is routed: the last one of its key."""
    _check_waits(defer.quiet, defer.max_wait, limits)
    return Policy(defer.quiet, defer.max_wait)


def _check_waits(quiet: float, max_wait: float | None, limits: Limits) -> None:
    if quiet > limits.longest_wait or (max_wait or 0) > limits.longest_wait:
        raise InvalidPolicy(f"nothing waits for longer than {limits.longest_wait:g} seconds")


def _joined(waiting: Batch, batch: Batch) -> Batch:
    return Batch(
        waiting.events + batch.events,
        waiting.is_durable or batch.is_durable,
        batch.defer,
        batch.client,
        batch.identity,
    )


_MERGES: dict[str, tuple[Merge, bool]] = {
    "last": (LAST, False),
    "first": (FIRST, False),
    "list": (custom(_joined), True),
}


def _kept(entry: Traced) -> ItemKept:
    batch: Batch = entry.data
    return ItemKept(
        entry.key,
        batch.events,
        entry.deadline,
        entry.first,
        entry.count,
        batch.defer,
        batch.client,
        batch.identity,
    )
