"""What the broker knows of one client, across its connections."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING

from ramify.broker.access import Rights
from ramify.broker.changes import Change, SessionSaved, SubscriptionSaved, TicketNoted, WillSet
from ramify.broker.outbox import Outbox
from ramify.broker.values import Identity, Will

if TYPE_CHECKING:
    from ramify.broker.interests import Interest


class Session:
    """One client: its subscriptions, what it is owed, and what it began."""

    __slots__ = (
        "away_since",
        "client",
        "connection",
        "expiry",
        "inbound",
        "interests",
        "outbox",
        "rights",
        "user",
        "will",
    )

    def __init__(self, client: str, user: str | None, rights: Rights, outbox: Outbox) -> None:
        self.client = client
        self.user = user
        self.rights = rights
        self.outbox = outbox
        self.expiry = 0.0
        self.connection: Hashable = None
        self.away_since: float | None = None
        self.interests: dict[Identity, Interest] = {}
        self.inbound: set[int] = set()
        """The tickets of the events of quality 2 that it published and has not released."""
        self.will: Will | None = None

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection."""
        return self.outbox.is_open

    @property
    def is_durable(self) -> bool:
        """Whether it outlives its connection, and so a crash."""
        return self.outbox.is_durable

    def saved(self) -> SessionSaved:
        """The session itself, as a store keeps it."""
        return SessionSaved(self.client, self.user, self.expiry, self.away_since)

    def rows(self) -> Iterator[Change]:
        """All of it, as a store keeps it."""
        yield self.saved()
        for interest in self.interests.values():
            yield SubscriptionSaved(self.client, interest.wish)
        yield from self.outbox.kept()
        for ticket in self.inbound:
            yield TicketNoted(self.client, ticket)
        if self.will is not None:
            yield WillSet(self.client, self.will)
