"""All that the broker of one realm holds; the other modules say what is done with it."""

from __future__ import annotations

from typing import Protocol

from ramify.broker.access import OPEN, Access
from ramify.broker.coalescing import Coalescing
from ramify.broker.counters import Counters
from ramify.broker.holds import Holds
from ramify.broker.interests import Interests
from ramify.broker.outbox import Outbox
from ramify.broker.retained import Retained
from ramify.broker.sessions import Session
from ramify.broker.timetable import Timetable
from ramify.broker.values import Limits
from ramify.errors import UnknownClient


class Peers(Protocol):
    """The other nodes of a cluster, as far as a broker cares."""

    def nodes_for(self, topic: str) -> tuple[str, ...]:
        """The nodes with clients that want events on this topic."""
        ...


class Realm:
    """The state of a broker."""

    def __init__(
        self,
        limits: Limits,
        access: Access = OPEN,
        peers: Peers | None = None,
        *,
        tells_all: bool = False,
        sequence: int = 0,
    ) -> None:
        self.limits = limits
        self.tells_all = tells_all
        """Whether an event without deliveries is told too, for those who keep a journal."""
        self.access = access
        self.peers = peers
        self.counters = Counters()
        self.sessions: dict[str, Session] = {}
        self.interests = Interests(self.counters)
        self.retained = Retained(limits.retained, limits.retained_bytes)
        self.timetable = Timetable()
        self.coalescing = Coalescing(limits)
        self.holds = Holds(self.timetable, limits.patience)
        self.sequence = sequence
        """The number of the last event that was accepted."""

    def session_of(self, client: str) -> Session:
        """The session of a client that has one."""
        session = self.sessions.get(client)
        if session is None:
            raise UnknownClient(client)
        return session

    def new_session(self, client: str, user: str | None) -> Session:
        """A session for a client that has none."""
        outbox = Outbox(client, self.limits, self.counters)
        session = Session(client, user, self.access.rights_of(user, client), outbox)
        self.sessions[client] = session
        return session
