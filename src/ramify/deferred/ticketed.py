"""TicketedQueue: a deferred queue in memory whose items are in flight until they are done.

It is what a server holds where there is no journal, with the same calls as a `JournaledQueue`.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Any, Protocol

from ramify.deferred.items import InFlight, Item, Outcome
from ramify.deferred.policy import Policy
from ramify.deferred.queue import PLAIN, DeferredQueue


class Tickets(Protocol):
    """What a server asks of the queue that it serves."""

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
        """Let a key wait."""

    def drain(self, now: float, limit: int | None = None) -> list[InFlight]:
        """Give out what came back, then what is due."""

    def done(self, ticket: int, key: str | None = None) -> bool:
        """Acknowledge an item."""

    def give_back(self, ticket: int) -> bool:
        """Take an item back from a consumer that will not do it."""

    def get(self, key: str) -> Item | None:
        """Find what waits under a key."""

    def next_wake(self) -> float | None:
        """Say when to look again."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Item]: ...

    @property
    def returned(self) -> list[InFlight]:
        """What came back and waits to be given out again."""

    @property
    def appended(self) -> int:
        """How many records were taken."""

    @property
    def committed(self) -> int:
        """How many of them are durable."""


class TicketedQueue:
    """A `DeferredQueue` that gives out tickets; nothing of it survives its process."""

    appended = committed = 0

    def __init__(self, policy: Policy = PLAIN, *, first_ticket: int = 1) -> None:
        self._queue = DeferredQueue(policy)
        self._next = first_ticket
        self._in_flight: dict[int, InFlight] = {}
        self._returned: dict[int, InFlight] = {}
        self._order: list[tuple[float, int]] = []

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
        """Push as to a `DeferredQueue`."""
        return self._queue.push(key, data, deadline, now=now, version=version, policy=policy)

    def drain(self, now: float, limit: int | None = None) -> list[InFlight]:
        """Give out what came back, then what is due, up to a limit."""
        given: list[InFlight] = []
        while (limit is None or len(given) < limit) and (item := self._next_returned()) is not None:
            given.append(self._returned.pop(item.ticket))
        for taken in self._queue.take_many(now, None if limit is None else limit - len(given)):
            first = self._next
            self._next += len(taken)
            given += [InFlight(e.key, e.data, e.deadline, ticket) for ticket, e in enumerate(taken, first)]
        self._in_flight.update((item.ticket, item) for item in given)
        return given

    def done(self, ticket: int, key: str | None = None) -> bool:
        """Acknowledge an item."""
        item = self._in_flight.pop(ticket, None) or self._returned.pop(ticket, None)
        return item is not None

    def give_back(self, ticket: int) -> bool:
        """Take an item back; it is given out again first."""
        item = self._in_flight.pop(ticket, None)
        if item is not None:
            self._returned[ticket] = item
            heappush(self._order, (item.deadline, ticket))
        return item is not None

    def get(self, key: str) -> Item | None:
        """Find what waits under a key."""
        return self._queue.get(key)

    def next_wake(self) -> float | None:
        """Say when to look again; at once if something came back."""
        returned = self._next_returned()
        return self._queue.next_wake() if returned is None else returned.deadline

    @property
    def returned(self) -> list[InFlight]:
        """What came back and waits to be given out again."""
        return list(self._returned.values())

    def __len__(self) -> int:
        return len(self._queue) + len(self._returned)

    def __iter__(self) -> Iterator[Item]:
        """List what came back and what waits, in the order in which it will leave."""
        yield from sorted(self._returned.values(), key=lambda item: (item.deadline, item.ticket))
        yield from self._queue

    def _next_returned(self) -> InFlight | None:
        order = self._order
        while order and order[0][1] not in self._returned:
            heappop(order)
        return self._returned[order[0][1]] if order else None
