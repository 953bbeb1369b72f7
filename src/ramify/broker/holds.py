"""Publishers that are asked to wait, and for whom: quality 1 and 2 is not to be thrown away.

A client that is connected and does not keep up fills its queue. From then on whoever publishes
to it is held, until half of the queue is gone or the client is. Patience has an end: a client
that others wait for too long is let go, so that one who never reads stops nobody for good.
"""

from __future__ import annotations

from ramify.broker.effects import Hold, Resume, Turn
from ramify.broker.sessions import Session
from ramify.broker.timetable import Task, Timetable


class Holds:
    """Who waits for whom."""

    def __init__(self, timetable: Timetable, patience: float) -> None:
        self._timetable = timetable
        self._patience = patience
        self._publishers: dict[str, set[str]] = {}
        """By the client that they wait for."""
        self._counts: dict[str, int] = {}
        """For how many a publisher waits."""

    def is_held(self, client: str) -> bool:
        """Whether a client is to publish nothing for now."""
        return client in self._counts

    def hold(self, publisher: str, receiver: Session, turn: Turn) -> None:
        """Let a publisher wait for a full receiver; nobody waits for itself."""
        if not publisher or publisher == receiver.client:
            return
        waiting = self._publishers.get(receiver.client)
        if waiting is None:
            waiting = self._publishers[receiver.client] = set()
            self._timetable.plan(Task.LET_GO, receiver.client, turn.now + self._patience)
        if publisher in waiting:
            return
        waiting.add(publisher)
        self._counts[publisher] = self._counts.get(publisher, 0) + 1
        if self._counts[publisher] == 1:
            turn.effects.append(Hold(publisher))

    def relieve(self, receiver: Session, turn: Turn) -> None:
        """Let the publishers go on that wait for a receiver which has room again, or is gone."""
        if receiver.client not in self._publishers:
            return
        if receiver.is_connected and not receiver.outbox.is_relieved:
            return
        self._timetable.cancel(Task.LET_GO, receiver.client)
        for publisher in sorted(self._publishers.pop(receiver.client)):
            self._counts[publisher] -= 1
            if not self._counts[publisher]:
                del self._counts[publisher]
                turn.effects.append(Resume(publisher))
