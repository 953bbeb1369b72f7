"""A broker with a store and devices around it, played in virtual time without any network."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import count
from typing import Any, TypeVar

from ramify.broker import (
    Broker,
    Close,
    Connected,
    Defer,
    Delivery,
    Event,
    FanOut,
    Forward,
    Granted,
    Hold,
    Identity,
    Limits,
    Outcome,
    Release,
    Reply,
    Resume,
    Terms,
    Will,
    Wish,
)
from tests.broker.store import DictStore

T = TypeVar("T")


class Played:
    """Carries out what a broker says: changes into the store first, then effects to whom they concern."""

    def __init__(self, limits: Limits | None = None, **options: Any) -> None:
        self.limits, self.options = limits, options
        self.broker = Broker(limits, **options)
        self.store = DictStore()
        self.now = 1_000.0
        self.inbox: dict[str, list[tuple[Event, Delivery]]] = defaultdict(list)
        self.releases: list[Release] = []
        self.closed: list[Close] = []
        self.held: set[str] = set()
        self.forwarded: list[Forward] = []
        self.connections = count(1)

    # ── what clients do ───────────────────────────────────────────────────────────────────

    def connect(
        self,
        client: str,
        *,
        clean: bool = True,
        expiry: float = 0.0,
        will: Will | None = None,
        window: int = 100,
        user: str | None = None,
    ) -> Connected:
        terms = Terms(client, user, clean, expiry, window)
        return self.done(self.broker.connect(terms, self.now, will=will, connection=next(self.connections)))

    def connection(self, client: str) -> Any:
        session = self.broker.session(client)
        return None if session is None else session.connection

    def lose(self, client: str) -> None:
        self.done(self.broker.lost(client, self.now, connection=self.connection(client)))

    def disconnect(self, client: str, **options: Any) -> Outcome:
        connection = self.connection(client)
        return self.done(self.broker.disconnect(client, self.now, connection=connection, **options))

    def subscribe(self, client: str, pattern: str, quality: int = 0, **options: Any) -> Granted:
        wish = Wish(pattern, quality=quality, **options)
        return self.done(self.broker.subscribe(client, [wish], self.now))[0]

    def unsubscribe(self, client: str, pattern: str, dialect: str = "mqtt") -> Outcome:
        return self.done(self.broker.unsubscribe(client, [Identity(pattern, dialect)], self.now))[0]

    def publish(
        self,
        client: str,
        topic: str,
        payload: bytes = b"x",
        quality: int = 0,
        *,
        ticket: int = 0,
        defer: Defer | None = None,
        **options: Any,
    ) -> Outcome:
        event = Event(topic, payload, quality, publisher=client, **options)
        return self.done(self.broker.publish(client, event, self.now, ticket=ticket, defer=defer))

    def acknowledge(self, client: str, ticket: int) -> Outcome:
        return self.done(self.broker.acknowledge(client, ticket, self.now))

    def received(self, client: str, ticket: int) -> Outcome:
        return self.done(self.broker.received(client, ticket, self.now))

    def completed(self, client: str, ticket: int) -> Outcome:
        return self.done(self.broker.completed(client, ticket, self.now))

    def congested(self, client: str, is_congested: bool) -> None:
        self.done(self.broker.congested(client, is_congested, self.now))

    # ── what happens to it ────────────────────────────────────────────────────────────────

    def advance(self, seconds: float) -> None:
        """Let time pass, waking the broker exactly when it asks for it."""
        end = self.now + seconds
        while (deadline := self.broker.next_deadline()) is not None and deadline <= end:
            self.now = max(self.now, deadline)
            self.done(self.broker.tick(self.now))
        self.now = end

    def crash(self) -> None:
        """Begin anew with what the store holds."""
        self.broker = Broker(self.limits, **self.options)
        self.done(self.broker.restore(self.store.rows(), self.now))

    def done(self, reply: Reply[T]) -> T:
        self.store.apply(reply.changes)
        for effect in reply.effects:
            self.carry_out(effect)
        return reply.answer

    def carry_out(self, effect: Any) -> None:
        match effect:
            case FanOut(event, deliveries):
                assert deliveries or self.options.get("tells_all")
                for delivery in deliveries:
                    self.deliver(event, delivery)
            case Release():
                self.releases.append(effect)
            case Close():
                self.closed.append(effect)
            case Hold(client):
                self.held.add(client)
            case Resume(client):
                self.held.remove(client)
            case Forward():
                self.forwarded.append(effect)

    def deliver(self, event: Event, delivery: Delivery) -> None:
        self.inbox[delivery.client].append((event, delivery))

    # ── what came of it ───────────────────────────────────────────────────────────────────

    def take(self, client: str) -> list[tuple[Event, Delivery]]:
        """What a client got since it was last asked."""
        return self.inbox.pop(client, [])

    def payloads(self, client: str) -> list[bytes]:
        return [event.payload for event, _ in self.take(client)]

    def deliveries(self, client: str) -> Iterator[Delivery]:
        return (delivery for _, delivery in self.take(client))

    def delivery(self, client: str) -> Delivery:
        (delivery,) = self.deliveries(client)
        return delivery
