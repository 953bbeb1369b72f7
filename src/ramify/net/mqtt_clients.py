"""One MQTT client on its connection: what it says becomes commands, and their answers become packets.

The state of the connection is `ramify.mqtt.Connection`'s, the session is the broker's, the bytes go
to a wire. What is here is who is who: a number for the connection, and a name once it is let in.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from ramify.broker import Connected, Event, Granted, Outcome
from ramify.errors import CallerError
from ramify.mqtt import Closed, Connection, Delivered, Input, PublishTemplate, Reason, Version
from ramify.mqtt.packets import (
    NO_PUBLISH_PROPERTIES,
    Connect,
    PubAck,
    PubComp,
    Publish,
    PubRec,
    PubRel,
    SubAck,
    Subscribe,
    UnsubAck,
    Unsubscribe,
)
from ramify.mqtt.properties import AckProperties, ConnAckProperties
from ramify.net.mqtt_options import defer_of, identity_of, wish_of
from ramify.net.mqtt_words import (
    GRANTED,
    TO_CONNACK,
    TO_PUBACK,
    TO_SUBACK,
    TO_UNSUBACK,
    event_of,
    seconds_of,
    terms_of,
    will_of,
)
from ramify.net.wire import Wire

if TYPE_CHECKING:
    from ramify.net.mqtt_hub import Hub

LINGER = 5.0
"""Seconds that a client has to read its last packets and hang up."""
AFTER_A_HOLD = 10.0
"""Seconds in which a client that was not heard for a while need not have said anything."""
MOST_WORDS = 1_000
"""Characters of a reason string."""


class Client:
    """A connection, from its first byte to its last."""

    __slots__ = ("_hub", "_is_held", "_not_before", "_unheard", "address", "connection", "deliver", "ends_at",
                 "is_congested", "name", "number", "version", "watched_at", "wire")  # fmt: skip

    def __init__(self, number: int, wire: Wire, address: str, hub: Hub) -> None:
        self.number, self.wire, self.address = number, wire, address
        self.connection = Connection(hub.settings.mqtt, hub.now())
        self.deliver = self.connection.deliver
        self.name = ""
        """The client's id, once it has asked to be let in."""
        self.version = Version.V5
        self.is_congested = False
        self.watched_at: float | None = None
        """When the server will next look at its deadline."""
        self.ends_at: float | None = None
        """When it is cut off, all being said."""
        self._hub = hub
        self._unheard: list[Input] = []
        self._is_held = False
        self._not_before = 0.0

    # ── what the client says ──────────────────────────────────────────────────────────────

    def hear(self, data: bytes) -> None:
        """Carry out what these bytes ask for."""
        hub = self._hub
        now = hub.now()
        if self._unheard:
            self.hear_held()
        self._carry_out(self.connection.receive(data, now), now)
        hub.mark(self)

    def hear_held(self) -> None:
        """Carry out what was said before the client was let in, or while it was held."""
        unheard, self._unheard = self._unheard, []
        self._carry_out(unheard, self._hub.now())
        self._hub.mark(self)

    def _carry_out(self, inputs: list[Input], now: float) -> None:
        for said in inputs:
            if self._is_held and type(said) not in HEARD_ALWAYS:
                self._unheard.append(said)
            else:
                HEARD[type(said)](self, said, now)

    def _connect(self, packet: Connect, now: float) -> None:
        hub = self._hub
        self.version = packet.version
        refusal = hub.admission(self, packet)
        if refusal is not None:
            self._refuse(*refusal)
            return
        self.name = packet.client_id or f"auto-{token_hex(12)}"
        terms = terms_of(packet, self.name, hub.settings.mqtt.send_maximum)
        will = will_of(packet.will, self.name)
        reply = hub.broker.connect(terms, now, will=will, connection=self.number)
        hub.turns.take(reply, self._say_connected, packet)

    def _say_connected(self, answer: Connected, packet: Connect) -> None:
        hub = self._hub
        hub.mark(self)
        if answer.outcome.is_refusal:
            self._refuse(TO_CONNACK.get(answer.outcome, Reason.UNSPECIFIED_ERROR), answer.reason)
            return
        if not self.connection.is_deciding:
            return  # it is gone already
        hub.let_in(self)
        properties = self._agreed(packet)
        self._unheard = self.connection.accept(
            hub.now(), session_present=answer.is_session_present, properties=properties
        )
        hub.watch(self)
        if self._unheard:
            # What its session is owed goes out first.
            hub.later(self.hear_held)

    def _agreed(self, packet: Connect) -> ConnAckProperties | None:
        """What is other than the client asked for. [MQTT-3.1.3-6] [MQTT-3.2.2-22]"""
        settings, changed = self._hub.settings, {}
        if not packet.client_id:
            changed["assigned_client_id"] = self.name
        longest = settings.broker.session_expiry
        if seconds_of(packet.session_expiry) > longest:
            changed["session_expiry"] = int(longest)  # type: ignore[assignment]
        if settings.keep_alive and not 0 < packet.keep_alive <= settings.keep_alive:
            changed["server_keep_alive"] = settings.keep_alive  # type: ignore[assignment]
        return ConnAckProperties(**changed) if changed else None  # type: ignore[arg-type]

    def _refuse(self, reason: Reason, text: str) -> None:
        self.connection.refuse(reason, text)
        self._hub.log.info("client.refused", client=self.name, address=self.address, reason=text)
        self.name = ""
        self._hub.mark(self)

    def _publish(self, packet: Publish, now: float) -> None:
        defer, qos = None, packet.qos
        if packet.properties is NO_PUBLISH_PROPERTIES:
            event = Event(packet.topic, packet.payload, qos, packet.retain, self.name)
        else:
            event = event_of(packet, self.name, now)
            if packet.properties.user_properties:
                try:
                    defer = defer_of(packet)
                except CallerError as refusal:
                    self._acknowledge(packet, Reason.IMPLEMENTATION_SPECIFIC_ERROR, str(refusal))
                    return
        hub = self._hub
        if qos:
            ticket = packet.packet_id if qos == 2 else 0
            reply = hub.broker.publish(self.name, event, now, ticket=ticket, defer=defer)
            hub.turns.take(reply, self._say_published, packet, is_plain=False)
            if hub.broker.is_held(self.name):
                # From here on; what was read together with this event is not carried out either.
                self.hold(True)
        else:
            hub.turns.take_plain(hub.broker.publish(self.name, event, now, defer=defer))

    def _say_published(self, outcome: Outcome, packet: Publish) -> None:
        self._acknowledge(packet, TO_PUBACK[outcome])

    def _acknowledge(self, packet: Publish, reason: Reason, text: str | None = None) -> None:
        if packet.qos:
            kind = PubAck if packet.qos == 1 else PubRec
            properties = AckProperties(text) if text else _NO_WORDS
            self.connection.send(kind(packet.packet_id, reason, properties))
            self._hub.mark(self)

    def _release(self, packet: PubRel, now: float) -> None:
        reply = self._hub.broker.release(self.name, packet.packet_id, now)
        self._hub.turns.take(reply, self._say_released, packet.packet_id, is_plain=False)

    def _say_released(self, outcome: Outcome, packet_id: int) -> None:
        known = outcome is Outcome.SUCCESS
        self.connection.send(PubComp(packet_id, Reason.SUCCESS if known else Reason.PACKET_ID_NOT_FOUND))
        self._hub.mark(self)

    # ── what it says of what it got ───────────────────────────────────────────────────────

    def _acknowledged(self, packet: PubAck, now: float) -> None:
        broker = self._hub.broker
        command = broker.refused if packet.reason.is_refusal else broker.acknowledge
        self._hub.turns.take(command(self.name, packet.packet_id, now), is_plain=False)

    def _received(self, packet: PubRec, now: float) -> None:
        hub, ticket = self._hub, packet.packet_id
        if packet.reason.is_refusal:
            hub.turns.take(hub.broker.refused(self.name, ticket, now), is_plain=False)
        else:
            reply = hub.broker.received(self.name, ticket, now)
            hub.turns.take(reply, self._say_received, ticket, is_plain=False)

    def _say_received(self, outcome: Outcome, ticket: int) -> None:
        if outcome is not Outcome.SUCCESS:
            self.connection.send(PubRel(ticket, Reason.PACKET_ID_NOT_FOUND))
            self._hub.mark(self)

    def _completed(self, packet: PubComp, now: float) -> None:
        reply = self._hub.broker.completed(self.name, packet.packet_id, now)
        self._hub.turns.take(reply, is_plain=False)

    # ── subscriptions ─────────────────────────────────────────────────────────────────────

    def _subscribe(self, packet: Subscribe, now: float) -> None:
        try:
            wishes = [wish_of(request, packet, self.version) for request in packet.requests]
        except CallerError as refusal:
            self._say_subscribed(
                [Granted(Outcome.INVALID_OPTION, reason=str(refusal))] * len(packet.requests), packet
            )
            return
        self._hub.turns.take(self._hub.broker.subscribe(self.name, wishes, now), self._say_subscribed, packet)
        # What is retained may be much: whether the socket takes it must be known before more is asked for.
        self.flush()

    def _say_subscribed(self, answers: list[Granted], packet: Subscribe) -> None:
        reasons = [
            TO_SUBACK[each.outcome] if each.outcome.is_refusal else GRANTED[each.quality] for each in answers
        ]
        words = "; ".join(dict.fromkeys(each.reason for each in answers if each.reason))[:MOST_WORDS]
        self.connection.send(SubAck(packet.packet_id, tuple(reasons), AckProperties(words or None)))
        self._hub.mark(self)

    def _unsubscribe(self, packet: Unsubscribe, now: float) -> None:
        try:
            names = [identity_of(name, packet.properties.user_properties) for name in packet.filters]
        except CallerError as refusal:
            reasons = (Reason.TOPIC_FILTER_INVALID,) * len(packet.filters)
            self.connection.send(
                UnsubAck(packet.packet_id, reasons, AckProperties(str(refusal)[:MOST_WORDS]))
            )
            return
        reply = self._hub.broker.unsubscribe(self.name, names, now)
        self._hub.turns.take(reply, self._say_unsubscribed, packet.packet_id)

    def _say_unsubscribed(self, outcomes: list[Outcome], packet_id: int) -> None:
        self.connection.send(UnsubAck(packet_id, tuple([TO_UNSUBACK[outcome] for outcome in outcomes])))
        self._hub.mark(self)

    # ── what the server says ──────────────────────────────────────────────────────────────

    def give(self, template: PublishTemplate, ticket: int, is_again: bool) -> None:
        """Send an event; what is too large for the client counts as delivered."""
        if self.deliver(template, ticket, dup=is_again) is Delivered.TOO_LARGE and ticket:
            hub = self._hub
            hub.turns.take(hub.broker.refused(self.name, ticket, hub.now()), is_plain=False)

    def release(self, ticket: int) -> None:
        """Send the second half of a delivery of QoS 2."""
        self.connection.send(PubRel(ticket))
        self._hub.mark(self)

    def flush(self) -> None:
        """Write what waits, and hang up if all is said."""
        data = self.connection.take_output()
        if data and self.ends_at is None:
            self._hub.counts.bytes_sent += len(data)
            self.wire.write(data)
        if self.connection.is_closed and self.ends_at is None:
            self._hang_up()

    def hold(self, is_held: bool) -> None:
        """Hear no more of it for now, or hear it again."""
        if is_held is self._is_held:
            return
        self._is_held = is_held
        if not is_held and self._unheard:
            self._hub.later(self.hear_held)
        if self.ends_at is not None:
            return
        if is_held:
            self.wire.pause_reading()
        else:
            self._not_before = self._hub.now() + AFTER_A_HOLD
            self.wire.resume_reading()
            self._hub.watch(self)

    def congest(self, is_congested: bool) -> None:
        """Tell the broker that the socket takes no more, or takes more again."""
        hub = self._hub
        self.is_congested = is_congested
        if self.name and hub.is_in(self):
            hub.turns.take(hub.broker.congested(self.name, is_congested, hub.now()))
            hub.schedule()

    # ── how it ends ───────────────────────────────────────────────────────────────────────

    @property
    def deadline(self) -> float | None:
        """When it must be looked at."""
        if self.ends_at is not None:
            return self.ends_at
        deadline = self.connection.deadline
        return None if deadline is None or self._is_held else max(deadline, self._not_before)

    def expire(self, now: float) -> None:
        """Its deadline has passed."""
        if self.ends_at is not None:
            self.ends_at = inf  # only once
            self.wire.abort()
            return
        closed = self.connection.expire(now)
        if closed is not None:
            self._hub.log.info("client.timed_out", client=self.name, address=self.address)
            self._lose(now)
            self._hub.mark(self)

    def disconnect(self, reason: Reason, text: str | None = None) -> None:
        """Say goodbye to a client whose session is on another connection, or is to stay as it is."""
        self.connection.disconnect(reason, text)
        self._depart()
        self._hub.mark(self)

    def lost(self) -> None:
        """The socket is gone."""
        self.connection.lost()
        unheard, self._unheard = self._unheard, []
        if unheard and isinstance(unheard[-1], Closed):
            self._closed(unheard[-1], self._hub.now())
        self._lose(self._hub.now())
        if self.ends_at is None:
            self.ends_at = 0.0

    def _closed(self, closed: Closed, now: float) -> None:
        if closed.error is not None:
            self._hub.log.info(
                "client.bad_packet", client=self.name, address=self.address, reason=str(closed.error)
            )
            self._lose(now)
        elif self.name:
            expiry = None if closed.session_expiry is None else seconds_of(closed.session_expiry)
            hub, name = self._hub, self._depart()
            reply = hub.broker.disconnect(
                name, now, keeps_will=closed.publishes_will, expiry=expiry, connection=self.number
            )
            hub.turns.take(reply)

    def _lose(self, now: float) -> None:
        if self.name:
            hub, name = self._hub, self._depart()
            hub.turns.take(hub.broker.lost(name, now, connection=self.number))

    def _depart(self) -> str:
        self._hub.leave(self)
        name, self.name = self.name, ""
        self._unheard = []
        return name

    def _hang_up(self) -> None:
        """Close the socket so that the client can read its last packet: at once would take that back."""
        hub = self._hub
        self.ends_at = hub.now() + LINGER
        hub.watch(self)
        if self._is_held:
            self.wire.resume_reading()
        if self.wire.can_write_eof():
            self.wire.write_eof()
        else:
            self.wire.close()


_NO_WORDS = AckProperties()

HEARD: dict[type, Callable[[Client, Any, float], None]] = {
    Connect: Client._connect,
    Publish: Client._publish,
    PubAck: Client._acknowledged,
    PubRec: Client._received,
    PubRel: Client._release,
    PubComp: Client._completed,
    Subscribe: Client._subscribe,
    Unsubscribe: Client._unsubscribe,
    Closed: Client._closed,
}
"""What a client may say, and who carries it out."""

HEARD_ALWAYS = (PubAck, PubRec, PubComp)
"""What is heard of a client that must publish nothing for now: others may be waiting for it."""
