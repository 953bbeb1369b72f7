"""The broker: commands in, replies out.

It opens no socket, reads no clock and writes no file. Each command says what time it is and
returns what is to be done (see `effects`); time never goes back.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence

from ramify.broker.access import OPEN, Access, Action
from ramify.broker.audiences import OWN_TOPICS
from ramify.broker.changes import RetainedCleared, Row, TicketNoted, TicketReleased
from ramify.broker.counters import Counters, Holdings
from ramify.broker.effects import Close, Connected, FanOut, Granted, Reply, Turn
from ramify.broker.granting import Granting
from ramify.broker.interests import Interest
from ramify.broker.lifecycle import Lifecycle
from ramify.broker.outcomes import Farewell, Outcome
from ramify.broker.realm import Peers, Realm
from ramify.broker.restoring import restore
from ramify.broker.routing import Routing
from ramify.broker.sessions import Session
from ramify.broker.timetable import Task
from ramify.broker.values import Defer, Event, Identity, Limits, Terms, Will, Wish
from ramify.errors import InvalidTopic
from ramify.model import Explanation, Fields, Subscription
from ramify.patterns import validate_topic

# Looking up a member of an enum takes Python 3.11 about as long as splitting a topic.
_SUCCESS, _NO_MATCH = Outcome.SUCCESS, Outcome.NO_MATCH
_PUBLISH = Action.PUBLISH


class Broker:
    """Sessions, subscriptions and events of one realm."""

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        access: Access = OPEN,
        peers: Peers | None = None,
        tells_all: bool = False,
        sequence: int = 0,
    ) -> None:
        self._realm = Realm(limits or Limits(), access, peers, tells_all=tells_all, sequence=sequence)
        self._routing = Routing(self._realm)
        self._lifecycle = Lifecycle(self._realm, self._routing)
        self._granting = Granting(self._realm, self._routing, self._lifecycle)
        self._sessions = self._realm.sessions
        self._interests = self._realm.interests
        self.counters: Counters = self._realm.counters

    # ── connections ───────────────────────────────────────────────────────────────────────

    def connect(
        self, terms: Terms, now: float, *, will: Will | None = None, connection: Hashable = None
    ) -> Reply[Connected]:
        """A client comes; what its session is owed goes out after the answer."""
        turn = Turn(now)
        return turn.reply(self._lifecycle.connect(terms, will, connection, turn))

    def disconnect(
        self,
        client: str,
        now: float,
        *,
        keeps_will: bool = False,
        expiry: float | None = None,
        connection: Hashable = None,
    ) -> Reply[Outcome]:
        """A client says goodbye; without a will, unless it asks for that to be published all the same."""
        turn = Turn(now)
        session = self._connected(client, connection)
        if session is None:
            return turn.reply(Outcome.SUCCESS)
        if expiry and not session.expiry:
            return turn.reply(Outcome.INVALID_EXPIRY)
        if not keeps_will:
            self._lifecycle.clear_will(session, turn)
        if expiry is not None:
            self._lifecycle.set_expiry(session, expiry, turn)
        self._lifecycle.leave(session, turn)
        return turn.reply(Outcome.SUCCESS)

    def lost(self, client: str, now: float, *, connection: Hashable = None) -> Reply[None]:
        """A connection is gone without goodbye; one that was taken over is gone already."""
        turn = Turn(now)
        session = self._connected(client, connection)
        if session is not None:
            self._lifecycle.leave(session, turn)
        return turn.reply(None)

    def dismiss(self, client: str, now: float) -> Reply[None]:
        """End a session by order, connected or not."""
        turn = Turn(now)
        session = self._realm.session_of(client)
        if session.is_connected:
            turn.effects.append(Close(client, session.connection, Farewell.DISMISSED))
            self._lifecycle.leave(session, turn, ends=True)
        else:
            self._lifecycle.end(session, turn)
        return turn.reply(None)

    def congested(self, client: str, is_congested: bool, now: float) -> Reply[None]:
        """A connection has more to write than it should hold, or can write again."""
        turn = Turn(now)
        session = self._sessions.get(client)
        if session is not None and session.is_connected:
            session.outbox.is_congested = is_congested
            self._interests.presence += 1
            self._after_pumping(session, turn)
        return turn.reply(None)

    # ── subscriptions ─────────────────────────────────────────────────────────────────────

    def subscribe(self, client: str, wishes: Sequence[Wish], now: float) -> Reply[list[Granted]]:
        """Grant wishes one by one; retained events come as effects, after the answer."""
        turn = Turn(now)
        session = self._realm.session_of(client)
        return turn.reply([self._granting.grant(session, wish, turn) for wish in wishes])

    def unsubscribe(self, client: str, names: Sequence[Identity], now: float) -> Reply[list[Outcome]]:
        """Take subscriptions away, and with them what waits to be coalesced for them."""
        turn = Turn(now)
        session = self._realm.session_of(client)
        return turn.reply([self._granting.withdraw(session, name, turn) for name in names])

    # ── events ────────────────────────────────────────────────────────────────────────────

    def publish(
        self, client: str, event: Event, now: float, *, ticket: int = 0, defer: Defer | None = None
    ) -> Reply[Outcome]:
        """Take an event from a client; one of quality 2 comes with the client's ticket for it."""
        session = self._sessions.get(client)
        if session is None:
            session = self._realm.session_of(client)
        self.counters.published += 1
        if event.quality == 0 and defer is None and not event.is_retained and event.expires_at is None:
            reply = self._publish_plainly(session, event)
            if reply is not None:
                return reply
        turn = Turn(now)
        return turn.reply(self._publish(session, event, ticket, defer, turn))

    def announce(self, event: Event, now: float, *, is_local: bool = False) -> Reply[Outcome]:
        """Publish without a session: what the broker itself says, or another node has forwarded."""
        turn = Turn(now)
        self.counters.published += 1
        outcome = self._check_topic(event.topic) or self._routing.route(event, turn, is_local=is_local)
        self.counters.refused += outcome.is_refusal
        return turn.reply(outcome)

    def release(self, client: str, ticket: int, now: float) -> Reply[Outcome]:
        """A client forgets its ticket of an event of quality 2: the next under it is a new one."""
        turn = Turn(now)
        session = self._realm.session_of(client)
        if ticket not in session.inbound:
            return turn.reply(Outcome.UNKNOWN_TICKET)
        session.inbound.remove(ticket)
        if session.is_durable:
            turn.changes.append(TicketReleased(client, ticket))
        return turn.reply(Outcome.SUCCESS)

    # ── acknowledgements ──────────────────────────────────────────────────────────────────

    def acknowledge(self, client: str, ticket: int, now: float) -> Reply[Outcome]:
        """A delivery of quality 1 has arrived."""
        turn, session = Turn(now), self._realm.session_of(client)
        return self._acknowledged(session, session.outbox.acknowledge(ticket, turn), turn)

    def received(self, client: str, ticket: int, now: float) -> Reply[Outcome]:
        """The first half of a delivery of quality 2 has arrived; a `Release` goes out."""
        turn, session = Turn(now), self._realm.session_of(client)
        return turn.reply(session.outbox.received(ticket, turn))

    def completed(self, client: str, ticket: int, now: float) -> Reply[Outcome]:
        """A delivery of quality 2 has arrived."""
        turn, session = Turn(now), self._realm.session_of(client)
        return self._acknowledged(session, session.outbox.completed(ticket, turn), turn)

    def refused(self, client: str, ticket: int, now: float) -> Reply[Outcome]:
        """A client does not take a delivery, or it is too large for it; as if it had arrived."""
        turn, session = Turn(now), self._realm.session_of(client)
        return self._acknowledged(session, session.outbox.refused(ticket, turn), turn)

    # ── time ──────────────────────────────────────────────────────────────────────────────

    def tick(self, now: float) -> Reply[None]:
        """Do what is due."""
        turn = Turn(now)
        for task, name in self._realm.timetable.due(now):
            self._carry_out(task, name, turn)
        for key, batch in self._realm.coalescing.due(turn):
            self._routing.carry_out(key, batch, turn)
        return turn.reply(None)

    def next_deadline(self) -> float | None:
        """When `tick` has something to do."""
        dates = [self._realm.timetable.next_deadline, self._realm.coalescing.next_deadline]
        return min((date for date in dates if date is not None), default=None)

    # ── questions ─────────────────────────────────────────────────────────────────────────

    def match(self, topic: str, fields: Fields | None = None) -> list[Subscription]:
        """Every subscription that wants an event; their data is an `Interest`."""
        return self._interests.match(topic, fields)

    def explain(self, topic: str, fields: Fields | None, id: str) -> Explanation:
        """Why a subscription wants an event, or why not."""
        return self._interests.explain(topic, fields, id)

    def is_held(self, client: str) -> bool:
        """Whether a client is to publish nothing for now."""
        return self._realm.holds.is_held(client)

    def sessions(self) -> Iterator[Session]:
        """Every session, to be read and not changed."""
        return iter(list(self._sessions.values()))

    def session(self, client: str) -> Session | None:
        """The session of a client, to be read and not changed."""
        return self._sessions.get(client)

    def subscriptions(self) -> Iterator[Interest]:
        """Every subscription, to be read and not changed."""
        return iter(self._interests)

    def retained(self) -> Iterator[tuple[Event, int]]:
        """Every retained event, with its sequence number."""
        return iter(self._realm.retained)

    def holdings(self) -> Holdings:
        """How much there is of everything."""
        realm = self._realm
        connected = sum(session.is_connected for session in self._sessions.values())
        return Holdings(
            len(self._sessions),
            connected,
            len(self._interests),
            len(realm.retained),
            realm.retained.bytes,
            len(realm.coalescing),
            realm.sequence,
        )

    # ── operation ─────────────────────────────────────────────────────────────────────────

    def restore(self, rows: Iterable[Row], now: float) -> Reply[None]:
        """Take back what a store kept; clients that were connected then have been lost now."""
        turn = Turn(now)
        restore(self._realm, self._lifecycle, rows, turn)
        return turn.reply(None)

    def set_access(self, access: Access) -> None:
        """Judge by other rules from now on; subscriptions stay, and get what they may."""
        self._realm.access = access
        for session in self._sessions.values():
            session.rights = access.rights_of(session.user, session.client)
        self._interests.forget_audiences()

    # ── in private ────────────────────────────────────────────────────────────────────────

    def _connected(self, client: str, connection: Hashable) -> Session | None:
        session = self._sessions.get(client)
        if session is None or not session.is_connected or session.connection != connection:
            return None
        return session

    def _publish_plainly(self, session: Session, event: Event) -> Reply[Outcome] | None:
        """The hot path: an audience that is known, nobody to be asked and nothing to be kept."""
        audience = self._interests.audiences.get(event.topic)
        realm = self._realm
        if audience is None or realm.peers is not None:
            return None
        if not session.rights.are_unlimited and not session.rights.allow(_PUBLISH, event.topic):
            return None
        deliveries = audience.plain
        if audience.plain_since != self._interests.presence:
            deliveries = audience.plain_deliveries(self._interests.presence)
        if deliveries is None:
            return None
        realm.sequence = sequence = realm.sequence + 1
        if deliveries:
            self.counters.delivered += len(deliveries)
            return Reply(_SUCCESS, (FanOut(event, deliveries, sequence),))
        self.counters.unmatched += audience.is_empty
        effects = (FanOut(event, (), sequence),) if realm.tells_all else ()
        return Reply(_NO_MATCH if audience.is_empty else _SUCCESS, effects)

    def _publish(
        self, session: Session, event: Event, ticket: int, defer: Defer | None, turn: Turn
    ) -> Outcome:
        if ticket and ticket in session.inbound:
            # The same event again: it is answered and not routed. [MQTT-4.3.3-10]
            self.counters.repeated += 1
            return _SUCCESS
        outcome = self._judge(session, event)
        if outcome is None:
            if defer is None:
                outcome = self._routing.route(event, turn)
            else:
                outcome = self._routing.defer(event, defer, turn)
        if outcome.is_refusal:
            self.counters.refused += 1
        elif ticket:
            session.inbound.add(ticket)
            if session.is_durable:
                turn.changes.append(TicketNoted(session.client, ticket))
        return outcome

    def _judge(self, session: Session, event: Event) -> Outcome | None:
        """Why an event is refused, if it is."""
        if event.topic.startswith(OWN_TOPICS) or not session.rights.allow(_PUBLISH, event.topic):
            return Outcome.NOT_AUTHORIZED
        return self._check_topic(event.topic)

    def _check_topic(self, topic: str) -> Outcome | None:
        if topic in self._interests.audiences:
            return None  # it was checked when it was first seen
        try:
            validate_topic(topic)
        except InvalidTopic:
            return Outcome.INVALID_TOPIC
        return Outcome.QUOTA_EXCEEDED if topic.count("/") >= self._realm.limits.levels else None

    def _acknowledged(self, session: Session, outcome: Outcome, turn: Turn) -> Reply[Outcome]:
        self._realm.holds.relieve(session, turn)
        return turn.reply(outcome)

    def _after_pumping(self, session: Session, turn: Turn) -> None:
        session.outbox.pump(turn)
        self._realm.holds.relieve(session, turn)

    def _carry_out(self, task: Task, name: str, turn: Turn) -> None:
        session = self._sessions.get(name)
        if task is Task.DROP_RETAINED:
            self.counters.expired += 1
            self._realm.retained.clear(name)
            turn.changes.append(RetainedCleared(name))
        elif session is None:
            return
        elif task is Task.PUBLISH_WILL:
            self._lifecycle.publish_will(session, turn)
        elif task is Task.END_SESSION:
            self._lifecycle.end(session, turn)
        elif session.is_connected:
            turn.effects.append(Close(name, session.connection, Farewell.TOO_SLOW))
            self._lifecycle.leave(session, turn)
