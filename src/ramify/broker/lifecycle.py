"""How sessions begin, are taken up again and end, and what becomes of wills meanwhile.

    connect ──→ connected ──lost, or disconnect──→ away ──expiry──→ ended
                   ↑  │                              │
                   │  └──taken over──→ (connected)   └──connect, clean start──→ ended, begun anew
                   └──────────connect────────────────┘

A will is published when its delay has passed since the client was lost, or when the session ends,
whichever is first; a client that comes back before, to the same session, takes it back.
[MQTT-3.1.2-8] [MQTT-3.1.3-9]
"""

from __future__ import annotations

from collections.abc import Hashable

from msgspec.structs import replace

from ramify.broker.access import Action
from ramify.broker.changes import SessionDropped, SubscriptionDropped, WillCleared, WillSet
from ramify.broker.effects import Close, Connected, Turn
from ramify.broker.interests import Interest
from ramify.broker.outcomes import Farewell, Outcome
from ramify.broker.realm import Realm
from ramify.broker.routing import Routing
from ramify.broker.sessions import Session
from ramify.broker.timetable import Task
from ramify.broker.values import Terms, Will


class Lifecycle:
    """The sessions of one realm, as they come and go."""

    def __init__(self, realm: Realm, routing: Routing) -> None:
        self._realm = realm
        self._routing = routing

    # ── coming ────────────────────────────────────────────────────────────────────────────

    def connect(self, terms: Terms, will: Will | None, connection: Hashable, turn: Turn) -> Connected:
        """Begin a session or take it up again, whoever had it before."""
        realm = self._realm
        old = realm.sessions.get(terms.client)
        if old is None and len(realm.sessions) >= realm.limits.sessions:
            reason = f"there are {realm.limits.sessions} sessions already"
            return Connected(Outcome.QUOTA_EXCEEDED, reason=reason)
        if old is not None and old.user != terms.user:
            # Whoever knows a client's name would else get what is kept for it.
            return Connected(Outcome.NOT_AUTHORIZED, reason="the session belongs to another user")
        if old is not None and old.is_connected:
            turn.effects.append(Close(old.client, old.connection, Farewell.TAKEN_OVER))
            self.leave(old, turn, ends=terms.is_clean_start)
        if old is not None and terms.is_clean_start and terms.client in realm.sessions:
            self.end(old, turn)
        session = realm.sessions.get(terms.client)
        is_present = session is not None
        if session is None:
            session = realm.new_session(terms.client, terms.user)
        self._take_up(session, terms, will, turn)
        session.connection = connection
        session.outbox.open(min(terms.window, realm.limits.window), turn)
        self._moved(session)
        return Connected(Outcome.SUCCESS, is_present)

    def _take_up(self, session: Session, terms: Terms, will: Will | None, turn: Turn) -> None:
        realm = self._realm
        realm.timetable.cancel(Task.PUBLISH_WILL, session.client)
        realm.timetable.cancel(Task.END_SESSION, session.client)
        session.away_since = None
        self._set_will(session, will, turn)
        self.set_expiry(session, terms.expiry, turn)

    def _set_will(self, session: Session, will: Will | None, turn: Turn) -> None:
        old, session.will = session.will, will
        if session.is_durable and will is not None:
            turn.changes.append(WillSet(session.client, will))
        elif session.is_durable and old is not None:
            turn.changes.append(WillCleared(session.client))

    def set_expiry(self, session: Session, expiry: float, turn: Turn) -> None:
        """Say how long a session outlives its connection, and begin or cease to make it durable."""
        session.expiry = min(expiry, self._realm.limits.session_expiry)
        was_durable, session.outbox.is_durable = session.is_durable, session.expiry > 0
        if session.is_durable:
            turn.changes += [session.saved()] if was_durable else session.rows()
        elif was_durable:
            turn.changes.append(SessionDropped(session.client))

    # ── going ─────────────────────────────────────────────────────────────────────────────

    def leave(self, session: Session, turn: Turn, *, ends: bool = False) -> None:
        """The connection is gone: the session waits for its client, or ends now."""
        realm = self._realm
        session.connection, session.away_since = None, turn.now
        session.outbox.close(turn)
        self._moved(session)
        realm.holds.relieve(session, turn)
        if ends or session.expiry <= 0:
            self.end(session, turn)
            return
        if session.is_durable:
            turn.changes.append(session.saved())
        self._plan_end(session)
        if session.will is not None and session.will.delay <= 0:
            self.publish_will(session, turn)

    def _plan_end(self, session: Session) -> None:
        """Set the dates for a session that is away."""
        timetable, since = self._realm.timetable, session.away_since or 0.0
        timetable.plan(Task.END_SESSION, session.client, since + session.expiry)
        if session.will is not None and session.will.delay < session.expiry:
            timetable.plan(Task.PUBLISH_WILL, session.client, since + session.will.delay)

    def end(self, session: Session, turn: Turn) -> None:
        """Forget a session, and publish its will if that is still to be."""
        realm = self._realm
        if session.will is not None:
            self.publish_will(session, turn)
        for interest in list(session.interests.values()):
            self.unsubscribe(interest, turn, is_ending=True)
        realm.timetable.cancel(Task.PUBLISH_WILL, session.client)
        realm.timetable.cancel(Task.END_SESSION, session.client)
        del realm.sessions[session.client]
        realm.holds.relieve(session, turn)
        if session.is_durable:
            turn.changes.append(SessionDropped(session.client))

    def unsubscribe(self, interest: Interest, turn: Turn, *, is_ending: bool = False) -> None:
        """Take a subscription away, and what waits for it."""
        realm, session = self._realm, interest.session
        realm.interests.remove(interest)
        for key in sorted(interest.waiting):
            realm.coalescing.cancel(key, turn)
        if session.is_durable and not is_ending:
            turn.changes.append(SubscriptionDropped(session.client, interest.wish.identity))

    # ── wills ─────────────────────────────────────────────────────────────────────────────

    def clear_will(self, session: Session, turn: Turn) -> None:
        """The client has said goodbye: nothing is to be published. [MQTT-3.14.4-3]"""
        self._set_will(session, None, turn)

    def publish_will(self, session: Session, turn: Turn) -> None:
        """Publish what a client left for the case that it is lost."""
        will = session.will
        self._realm.timetable.cancel(Task.PUBLISH_WILL, session.client)
        self.clear_will(session, turn)
        if will is None or not session.rights.allow(Action.PUBLISH, will.event.topic):
            return
        self._realm.counters.published += 1
        expires_at = None if will.expiry is None else turn.now + will.expiry
        event = replace(will.event, publisher=session.client, expires_at=expires_at)
        self._realm.counters.refused += self._routing.route(event, turn).is_refusal

    # ── after a crash ─────────────────────────────────────────────────────────────────────

    def resume_absence(self, session: Session, turn: Turn) -> None:
        """A session comes back from a store: its client is away, since now if it was connected."""
        if session.away_since is None:
            session.away_since = turn.now
            turn.changes.append(session.saved())
        self._plan_end(session)

    def _moved(self, session: Session) -> None:
        if session.interests:
            self._realm.interests.presence += 1
