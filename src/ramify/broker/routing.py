"""The way of an event from whoever published it to everyone who wants it."""

from __future__ import annotations

from collections.abc import Hashable

from ramify.broker.access import Action
from ramify.broker.audiences import Audience, Seat
from ramify.broker.changes import RetainedCleared, RetainedSet
from ramify.broker.coalescing import Batch, defer_policy, delivery_key, event_key
from ramify.broker.effects import FanOut, Forward, Turn
from ramify.broker.interests import Interest
from ramify.broker.outcomes import Outcome
from ramify.broker.realm import Realm
from ramify.broker.timetable import Task
from ramify.broker.values import Defer, Delivery, Event
from ramify.errors import InvalidPolicy


class Routing:
    """Routes events in one realm."""

    def __init__(self, realm: Realm) -> None:
        self._realm = realm

    def defer(self, event: Event, defer: Defer, turn: Turn) -> Outcome:
        """Let an event wait until its key is quiet, in place of the one that waits there."""
        limits, coalescing = self._realm.limits, self._realm.coalescing
        try:
            policy = defer_policy(defer, limits)
        except InvalidPolicy:
            return Outcome.INVALID_OPTION
        batch = Batch(((event, 0),), event.quality > 0, defer)
        joined = coalescing.push(event_key(event.topic, defer.key), batch, policy, turn)
        if joined is None:
            return Outcome.QUOTA_EXCEEDED
        self._realm.counters.coalesced += joined
        return Outcome.SUCCESS

    def route(self, event: Event, turn: Turn, *, is_local: bool = False) -> Outcome:
        """Retain an event if it asks for it, and deliver it; a local one is not told to other nodes."""
        realm = self._realm
        if event.is_expired(turn.now):
            realm.counters.expired += 1
            return Outcome.SUCCESS
        if event.is_retained and event.payload and not realm.retained.has_room(event):
            return Outcome.QUOTA_EXCEEDED
        realm.sequence = sequence = realm.sequence + 1
        if event.is_retained:
            self._retain(event, sequence, turn)
        audience = realm.interests.audience_of(event)
        self._deliver(event, sequence, audience, turn)
        is_wanted = not audience.is_empty
        if realm.peers is not None and not is_local:
            is_wanted = self._forward(event, sequence, turn) or is_wanted
        realm.counters.unmatched += not is_wanted
        return Outcome.SUCCESS if is_wanted else Outcome.NO_MATCH

    def _forward(self, event: Event, sequence: int, turn: Turn) -> bool:
        nodes = self._realm.peers.nodes_for(event.topic) if self._realm.peers is not None else ()
        if nodes:
            turn.effects.append(Forward(event, nodes, sequence))
        return bool(nodes)

    def _retain(self, event: Event, sequence: int, turn: Turn) -> None:
        realm, topic = self._realm, event.topic
        realm.timetable.cancel(Task.DROP_RETAINED, topic)
        if event.payload:
            realm.retained.keep(event, sequence)
            turn.changes.append(RetainedSet(event, sequence))
            if event.expires_at is not None:
                realm.timetable.plan(Task.DROP_RETAINED, topic, event.expires_at)
        elif realm.retained.clear(topic):
            # An empty payload clears and is not itself retained. [MQTT-3.3.1-6] [MQTT-3.3.1-7]
            turn.changes.append(RetainedCleared(topic))

    # ── to everyone ───────────────────────────────────────────────────────────────────────

    def _deliver(self, event: Event, sequence: int, audience: Audience, turn: Turn) -> None:
        deliveries: list[Delivery] = []
        for each in audience.seats:
            seat: Seat | None = each
            if each.has_no_local and each.session.client == event.publisher:
                seat = each.for_publisher()
            if seat is not None:
                self._seat(seat, event, sequence, turn, deliveries)
        for group, members in audience.groups.items():
            chosen = self._chosen(group, members)
            if chosen.interests[0].policy is None:
                self._seat(chosen, event, sequence, turn, deliveries)
            else:
                self._debounce(chosen.interests[0], event, sequence, turn)
        for interest in audience.patient:
            self._debounce(interest, event, sequence, turn)
        for interest in audience.shadows:
            interest.seen += 1
            self._realm.counters.shadowed += 1
        if deliveries or self._realm.tells_all:
            turn.effects.append(FanOut(event, tuple(deliveries), sequence))

    def _seat(self, seat: Seat, event: Event, sequence: int, turn: Turn, deliveries: list[Delivery]) -> None:
        session, quality = seat.session, seat.quality
        outbox = session.outbox
        if event.quality < quality:
            quality = event.quality
        # The flag tells what was retained from what is new, unless the client wants it as it was.
        # [MQTT-3.3.1-12] [MQTT-3.3.1-13]
        is_retained = event.is_retained and seat.keeps_retained
        delivery = outbox.offer(event, sequence, quality, turn, seat.identifiers, is_retained)
        if delivery is not None:
            deliveries.append(delivery)
        elif quality and outbox.is_open and outbox.is_overfull:
            self._realm.holds.hold(event.publisher, session, turn)

    def _chosen(self, group: Hashable, members: list[Seat]) -> Seat:
        """One member of a share group: one that is there and keeps up, if any; each in turn."""
        present = [member for member in members if member.session.is_connected]
        able = [member for member in present if not member.session.outbox.is_full]
        lasting = [member for member in members if member.session.is_durable]
        candidates = able or present or lasting or members
        turns = self._realm.interests.turns
        turns[group] = number = turns.get(group, -1) + 1
        return candidates[number % len(candidates)]

    # ── later ─────────────────────────────────────────────────────────────────────────────

    def _debounce(self, interest: Interest, event: Event, sequence: int, turn: Turn) -> None:
        session, wish, policy = interest.session, interest.wish, interest.policy
        if policy is None or (wish.no_local and session.client == event.publisher):
            return
        is_durable = session.is_durable and min(wish.quality, event.quality) > 0
        key = delivery_key(session.client, wish.identity, event.topic)
        batch = Batch(((event, sequence),), is_durable, None, session.client, wish.identity)
        joined = self._realm.coalescing.push(key, batch, policy, turn)
        if joined is None:
            self._realm.counters.dropped += 1
            return
        self._realm.counters.coalesced += joined
        interest.waiting.add(key)

    def carry_out(self, key: str, batch: Batch, turn: Turn) -> None:
        """Do what was waiting until now."""
        if batch.identity is None:
            for event, _ in batch.events:
                self.route(event, turn)
            return
        session = self._realm.sessions.get(batch.client)
        interest = None if session is None else session.interests.get(batch.identity)
        if session is None or interest is None:
            return
        interest.waiting.discard(key)
        if not session.rights.allow(Action.SUBSCRIBE, batch.events[0][0].topic):
            return  # a right that was lost while they waited
        for event, sequence in batch.events:
            if event.is_expired(turn.now):
                self._realm.counters.expired += 1
            else:
                self.deliver_one(interest, event, sequence, turn)

    def deliver_one(
        self, interest: Interest, event: Event, sequence: int, turn: Turn, *, is_retained: bool = False
    ) -> None:
        """Deliver an event to one subscription."""
        wish, outbox = interest.wish, interest.session.outbox
        identifiers = (wish.identifier,) if wish.identifier else ()
        shown = is_retained or (event.is_retained and wish.keeps_retained)
        delivery = outbox.offer(event, sequence, min(wish.quality, event.quality), turn, identifiers, shown)
        if delivery is not None:
            turn.deliver(event, sequence, delivery)
