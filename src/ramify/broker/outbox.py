"""The way out to one client: a window of deliveries in flight, and a bounded queue behind it.

    offered ──→ waiting ──→ sent (with a ticket) ──acknowledge──→ done                    quality 1
                                 └──received──→ received ──completed──→ done              quality 2

Quality 0 goes out at once and is forgotten; it waits only for a connection that is congested.
It has a queue of its own, because only deliveries of one quality are owed their order.

When a client comes back, what was sent and not acknowledged goes out again, with the same
tickets and in the same order, before anything else. [MQTT-4.4.0-1] [MQTT-4.6.0-5]
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from math import inf

from msgspec import Struct

from ramify.broker.changes import DeliveryDone, DeliveryKept, DeliveryReceived, DeliverySent
from ramify.broker.counters import Counters
from ramify.broker.effects import Release, Turn
from ramify.broker.outcomes import Outcome
from ramify.broker.values import Delivery, Event, Limits

MOST_TICKETS = 65_535

SUCCESS, UNKNOWN_TICKET = Outcome.SUCCESS, Outcome.UNKNOWN_TICKET


class Pending(Struct, eq=False, gc=False):
    """A delivery that is not done."""

    number: int
    sequence: int
    event: Event
    quality: int
    is_retained: bool = False
    identifiers: tuple[int, ...] = ()
    ticket: int = 0
    is_received: bool = False


class Outbox:
    """The deliveries that one session is owed."""

    __slots__ = (
        "_again",
        "_counters",
        "_last_number",
        "_last_ticket",
        "_limit",
        "_sent",
        "_soonest_expiry",
        "_waiting",
        "_waiting_plain",
        "client",
        "is_congested",
        "is_durable",
        "is_open",
        "keeps_plain",
        "window",
    )

    def __init__(self, client: str, limits: Limits, counters: Counters) -> None:
        self.client = client
        self.is_open = False
        """Whether there is a connection to deliver to."""
        self.is_congested = False
        """Whether that connection has more to write than it should hold."""
        self.is_durable = False
        """Whether what is owed must survive a crash."""
        self.window = 1
        self._limit = limits.queued
        self.keeps_plain = limits.keeps_quality_0
        """Whether quality 0 waits for a client that is away."""
        self._counters = counters
        self._sent: dict[int, Pending] = {}
        self._again: deque[Pending] = deque()
        """What was sent on an earlier connection, and not yet on this one."""
        self._waiting: deque[Pending] = deque()
        self._waiting_plain: deque[Pending] = deque()
        self._soonest_expiry = inf
        """No waiting delivery expires before; it may be too early, never too late."""
        self._last_ticket = 0
        self._last_number = 0

    # ── what is owed ──────────────────────────────────────────────────────────────────────

    @property
    def is_ready(self) -> bool:
        """Whether an event of quality 0 can go out at once."""
        return self.is_open and not self.is_congested

    @property
    def is_full(self) -> bool:
        """Whether as many deliveries wait as should."""
        return len(self._waiting) >= self._limit

    @property
    def is_overfull(self) -> bool:
        """Whether more wait than should, so that whoever publishes to it must wait too."""
        return len(self._waiting) > self._limit

    @property
    def is_relieved(self) -> bool:
        """Whether the queue has shrunk enough to let publishers go on."""
        return 2 * len(self._waiting) <= self._limit

    @property
    def waiting(self) -> int:
        """How many deliveries wait to be sent."""
        return len(self._waiting) + len(self._waiting_plain) + len(self._again)

    @property
    def in_flight(self) -> int:
        """How many were sent on this connection and not acknowledged."""
        return len(self._sent) - len(self._again)

    # ── in ────────────────────────────────────────────────────────────────────────────────

    def offer(
        self,
        event: Event,
        sequence: int,
        quality: int,
        turn: Turn,
        identifiers: tuple[int, ...] = (),
        is_retained: bool = False,
    ) -> Delivery | None:
        """Take a delivery on; it is returned if it goes out now."""
        if quality == 0:
            if self.is_open and not self.is_congested:
                self._counters.delivered += 1
                return Delivery(self.client, 0, 0, is_retained, False, identifiers)
            if self.is_open or self.keeps_plain:
                self._queue_plain(Pending(0, sequence, event, 0, is_retained, identifiers))
            return None
        self._last_number = number = self._last_number + 1
        pending = Pending(number, sequence, event, quality, is_retained, identifiers)
        if self._waiting or self._again or not self._may_send():
            self._queue(pending, turn)
            return None
        delivery = self._send(pending)
        self._note(pending, turn)
        return delivery

    def _queue_plain(self, pending: Pending) -> None:
        counters = self._counters
        if len(self._waiting) + len(self._waiting_plain) >= self._limit:
            counters.dropped += 1
            if not self._waiting_plain:
                return
            self._waiting_plain.popleft()
        counters.queued += 1
        self._waiting_plain.append(pending)

    def _queue(self, pending: Pending, turn: Turn) -> None:
        if not self._has_room(turn):
            self._counters.dropped += 1
            return
        self._counters.queued += 1
        self._waiting.append(pending)
        if pending.event.expires_at is not None:
            self._soonest_expiry = min(self._soonest_expiry, pending.event.expires_at)
        self._note(pending, turn)

    def _has_room(self, turn: Turn) -> bool:
        """Make room for one more: what expired goes first, then the oldest of quality 0."""
        if self.is_full and self._soonest_expiry <= turn.now:
            self._drop_expired(turn)
        if self._waiting_plain and len(self._waiting) + len(self._waiting_plain) >= self._limit:
            self._waiting_plain.popleft()
            self._counters.dropped += 1
        # Publishers are made to wait for a client that is there; until they do, there is room again as much.
        return len(self._waiting) < (2 * self._limit if self.is_open else self._limit)

    def _drop_expired(self, turn: Turn) -> None:
        kept: deque[Pending] = deque()
        for pending in self._waiting:
            if pending.event.is_expired(turn.now):
                self._expire(pending, turn)
            else:
                kept.append(pending)
        self._waiting = kept
        times = [each.event.expires_at for each in kept if each.event.expires_at is not None]
        self._soonest_expiry = min(times, default=inf)

    # ── out ───────────────────────────────────────────────────────────────────────────────

    def open(self, window: int, turn: Turn) -> None:
        """Begin to deliver on a new connection, with what the last one left unfinished."""
        self.is_open, self.is_congested, self.window = True, False, window
        self._again = deque(pending for pending in self._sent.values() if not pending.is_received)
        turn.effects += [
            Release(self.client, ticket) for ticket, pending in self._sent.items() if pending.is_received
        ]
        self.pump(turn)

    def close(self, turn: Turn) -> None:
        """Stop delivering; what is owed waits for the next connection."""
        self.is_open = self.is_congested = False
        self._again.clear()
        if not self.keeps_plain:
            self._waiting_plain.clear()
        while len(self._waiting) > self._limit:
            # An absent client is owed no more than the limit; the newest find no room.
            self._counters.dropped += 1
            self._finish(self._waiting.pop(), turn)

    def pump(self, turn: Turn) -> None:
        """Send as much of what waits as the connection takes."""
        while self._again and self._may_send():
            self._send_again(self._again.popleft(), turn)
        while self._waiting and self._may_send():
            pending = self._waiting.popleft()
            if pending.event.is_expired(turn.now):
                self._expire(pending, turn)
                continue
            turn.deliver(pending.event, pending.sequence, self._send(pending))
            if self.is_durable:
                turn.changes.append(DeliverySent(self.client, pending.number, pending.ticket))
        while self._waiting_plain and self.is_ready:
            self._send_plain(self._waiting_plain.popleft(), turn)

    def _may_send(self) -> bool:
        return self.is_open and not self.is_congested and len(self._sent) - len(self._again) < self.window

    def _send(self, pending: Pending) -> Delivery:
        pending.ticket = ticket = self._free_ticket()
        self._sent[ticket] = pending
        self._counters.delivered += 1
        return Delivery(self.client, pending.quality, ticket, pending.is_retained, False, pending.identifiers)

    def _send_again(self, pending: Pending, turn: Turn) -> None:
        # It counts as in flight from here on, whatever became of it before. [MQTT-3.3.1-1]
        delivery = Delivery(
            self.client, pending.quality, pending.ticket, pending.is_retained, True, pending.identifiers
        )
        self._counters.delivered += 1
        turn.deliver(pending.event, pending.sequence, delivery)

    def _send_plain(self, pending: Pending, turn: Turn) -> None:
        if pending.event.is_expired(turn.now):
            self._counters.expired += 1
            return
        delivery = Delivery(self.client, 0, 0, pending.is_retained, False, pending.identifiers)
        self._counters.delivered += 1
        turn.deliver(pending.event, pending.sequence, delivery)

    def _free_ticket(self) -> int:
        ticket = self._last_ticket
        while True:
            ticket = ticket % MOST_TICKETS + 1
            if ticket not in self._sent:
                self._last_ticket = ticket
                return ticket

    # ── acknowledged ──────────────────────────────────────────────────────────────────────

    def acknowledge(self, ticket: int, turn: Turn) -> Outcome:
        """A delivery of quality 1 has arrived."""
        return self._done(ticket, turn, quality=1, is_received=False)

    def received(self, ticket: int, turn: Turn) -> Outcome:
        """The first half of a delivery of quality 2 has arrived: it is never sent again."""
        pending = self._sent.get(ticket)
        if pending is None or pending.quality != 2:
            return UNKNOWN_TICKET
        turn.effects.append(Release(self.client, ticket))
        if not pending.is_received:
            pending.is_received = True
            self._forget_again(pending)
            if self.is_durable:
                turn.changes.append(DeliveryReceived(self.client, pending.number))
        return SUCCESS

    def completed(self, ticket: int, turn: Turn) -> Outcome:
        """Both halves of a delivery of quality 2 have arrived."""
        return self._done(ticket, turn, quality=2, is_received=True)

    def refused(self, ticket: int, turn: Turn) -> Outcome:
        """The client does not want a delivery, or cannot take it; it is not sent again."""
        pending = self._sent.get(ticket)
        quality = 0 if pending is None else pending.quality
        return self._done(ticket, turn, quality=quality, is_received=False)

    def _done(self, ticket: int, turn: Turn, *, quality: int, is_received: bool) -> Outcome:
        pending = self._sent.get(ticket)
        if pending is None or pending.quality != quality or pending.is_received is not is_received:
            return UNKNOWN_TICKET
        del self._sent[ticket]
        self._forget_again(pending)
        self._finish(pending, turn)
        self.pump(turn)
        return SUCCESS

    def _forget_again(self, pending: Pending) -> None:
        """A client may acknowledge what it got on its last connection before it gets it again."""
        if self._again and pending in self._again:
            self._again.remove(pending)

    # ── durable ───────────────────────────────────────────────────────────────────────────

    def kept(self) -> Iterator[DeliveryKept]:
        """Every delivery that is owed, in order."""
        return (self._kept(pending) for pending in (*self._sent.values(), *self._waiting))

    def restore(self, kept: DeliveryKept) -> None:
        """Owe what was owed before; deliveries come in the order of their numbers."""
        pending = Pending(
            kept.number,
            kept.sequence,
            kept.event,
            kept.quality,
            kept.is_retained,
            kept.identifiers,
            kept.ticket,
            kept.is_received,
        )
        self._last_number = max(self._last_number, kept.number)
        if kept.ticket:
            self._sent[kept.ticket] = pending
        else:
            self._waiting.append(pending)
            self._soonest_expiry = -inf if kept.event.expires_at is not None else self._soonest_expiry

    def _kept(self, pending: Pending) -> DeliveryKept:
        return DeliveryKept(
            self.client,
            pending.number,
            pending.sequence,
            pending.event,
            pending.quality,
            pending.is_retained,
            pending.identifiers,
            pending.ticket,
            pending.is_received,
        )

    def _note(self, pending: Pending, turn: Turn) -> None:
        if self.is_durable:
            turn.changes.append(self._kept(pending))

    def _expire(self, pending: Pending, turn: Turn) -> None:
        self._counters.expired += 1
        self._finish(pending, turn)

    def _finish(self, pending: Pending, turn: Turn) -> None:
        if self.is_durable:
            turn.changes.append(DeliveryDone(self.client, pending.number))
