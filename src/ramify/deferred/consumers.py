"""Who consumes, what each of them holds, and since when it has been silent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ramify.deferred.items import InFlight

Peer = tuple[bytes, ...]
"""The frames before a message's last: ZeroMQ's name of the peer, and an empty one with REQ sockets."""

IDLE_TEXT = 3600.0
"""How long a consumer of the text form may wait for an item: it cannot say anything meanwhile."""


@dataclass(slots=True, eq=False)
class Consumer:
    """One consumer that is there."""

    peer: Peer
    window: int
    """How many items it holds at most; for the text form 1 while it waits for an item, else 0."""
    heard: float
    is_text: bool = False
    tickets: set[int] = field(default_factory=set)

    @property
    def room(self) -> int:
        """How many items it can take."""
        return max(0, self.window - len(self.tickets))

    def expires(self, silence: float) -> float:
        """When it counts as dead if nothing more is heard of it."""
        return self.heard + (IDLE_TEXT if self.is_text and not self.tickets else silence)


class Consumers:
    """The consumers that are there, in the order in which they get items next."""

    def __init__(self, silence: float) -> None:
        self._silence = silence
        self._by_peer: dict[Peer, Consumer] = {}

    def get(self, peer: Peer) -> Consumer | None:
        """Find a consumer."""
        return self._by_peer.get(peer)

    def add(self, consumer: Consumer) -> None:
        """Take in a consumer."""
        self._by_peer[consumer.peer] = consumer

    def remove(self, peer: Peer) -> Consumer | None:
        """Let go of a consumer."""
        return self._by_peer.pop(peer, None)

    def expired(self, now: float) -> list[Consumer]:
        """Find those that have been silent for too long."""
        return [c for c in self._by_peer.values() if c.expires(self._silence) <= now]

    def next_expiry(self) -> float | None:
        """When the next one counts as dead."""
        return min((c.expires(self._silence) for c in self._by_peer.values()), default=None)

    def room(self) -> int:
        """How many items all of them can take."""
        return sum(c.room for c in self._by_peer.values())

    def share(self, items: list[InFlight]) -> Iterator[tuple[Consumer, list[InFlight]]]:
        """Spread items evenly over those with room; there must be room for all."""
        ready = [c for c in self._by_peer.values() if c.room]
        start, behind = 0, sum(c.room for c in ready)
        for turn, consumer in enumerate(ready):
            left, room = len(items) - start, consumer.room
            if not left:
                return
            behind -= room
            # Those behind may not have room for an even share, so this one may have to take more.
            share = min(room, max(-(-left // (len(ready) - turn)), left - behind))
            self._by_peer[consumer.peer] = self._by_peer.pop(consumer.peer)  # to the end of the line
            yield consumer, items[start : start + share]
            start += share

    def __len__(self) -> int:
        return len(self._by_peer)
