"""One connection to a client, on the server's side, without any I/O: bytes and times in, bytes out.

What is about the protocol and ends with the connection is here: the order of packets, the version,
keep alive, topic aliases, receive maximum, packet sizes, and how errors are answered. What outlives
a connection is the broker's, and so are these, which belong to a session:

- the packet ids of deliveries with QoS 1 and 2, and which of those are unacknowledged: they are
  sent again, with the same ids, when the client comes back;
- the packet ids of received messages with QoS 2 that were not released yet;
- subscriptions, retained messages, the will, and when the session expires.

Whoever owns the socket calls `receive` with what was read and passes on what it gives, calls
`accept`, `refuse`, `send`, `deliver` and `disconnect` with the answers, writes what `take_output`
gives, looks at `deadline` and calls `expire` then, and closes the socket once `is_closed`.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from msgspec import structs

from ramify.errors import BadPacket
from ramify.mqtt.aliases import InboundAliases
from ramify.mqtt.boundary import Answer, Closed, Delivered, Input, Limits
from ramify.mqtt.decode import Decoder
from ramify.mqtt.packets import (
    NO_PUBLISH_PROPERTIES,
    Ack,
    Auth,
    ConnAck,
    Connect,
    Disconnect,
    Packet,
    PingReq,
    PubAck,
    PubComp,
    Publish,
    PubRec,
    PubRel,
    Subscribe,
    Unsubscribe,
    Version,
)
from ramify.mqtt.properties import ConnAckProperties, DisconnectProperties, none_of
from ramify.mqtt.reasons import ALLOWED, TO_CONNACK_311, Reason, protocol_error
from ramify.mqtt.sender import Sender
from ramify.mqtt.template import PublishTemplate


class _State(Enum):
    OPENED = "nothing was said"
    DECIDING = "CONNECT was said, and not yet answered"
    CONNECTED = "CONNECT was accepted"
    CLOSED = "over"


class Connection:
    """The state of one connection; every time is an argument."""

    __slots__ = (
        "_aliases",
        "_decoder",
        "_heard",
        "_held",
        "_held_bytes",
        "_limits",
        "_patience",
        "_sender",
        "_session_expiry",
        "_state",
        "_unacknowledged",
    )

    def __init__(self, limits: Limits, now: float) -> None:
        self._limits = limits
        self._state = _State.OPENED
        self._decoder = Decoder(limits.maximum_packet_size)
        self._sender = Sender(limits)
        self._aliases = InboundAliases(limits.topic_alias_maximum)
        self._unacknowledged: set[int] = set()
        self._heard, self._patience = now, limits.connect_timeout
        self._held: list[Packet] = []
        self._held_bytes = 0
        self._session_expiry = 0

    # ── what can be seen ──────────────────────────────────────────────────────────────────

    @property
    def version(self) -> Version | None:
        """What the client speaks, once it has said so."""
        return self._decoder.version

    @property
    def is_closed(self) -> bool:
        """Whether all is said: write what is left, and close the socket."""
        return self._state is _State.CLOSED

    @property
    def is_deciding(self) -> bool:
        """Whether a CONNECT waits for `accept` or `refuse`; better not read from the socket meanwhile."""
        return self._state is _State.DECIDING

    @property
    def room(self) -> int:
        """How many more messages of QoS 1 and 2 can be sent now."""
        return self._sender.room

    @property
    def deadline(self) -> float | None:
        """When the client has been silent for too long; `None` if it may be silent. [MQTT-3.1.2-22]"""
        if self._state in (_State.CLOSED, _State.DECIDING) or not self._patience:
            return None
        return self._heard + self._patience

    def take_output(self) -> bytes:
        """All bytes that wait to be written."""
        return self._sender.take()

    # ── what the client says ──────────────────────────────────────────────────────────────

    def receive(self, data: bytes, now: float) -> list[Input]:
        """What these bytes ask of the broker; after a bad packet the last of it is `Closed`."""
        if self._state is _State.CLOSED:
            return []
        packets = self._decoder.feed(data)
        if packets:
            self._heard = now
        if self._state is _State.DECIDING:
            return self._hold(packets, len(data))
        return self._take(packets)

    def _take(self, packets: list[Packet]) -> list[Input]:
        inputs: list[Input] = []
        try:
            for place, packet in enumerate(packets):
                said = _TAKE.get(type(packet), _refuse)(self, packet)
                if said is not None:
                    inputs.append(said)
                if self._state is not _State.CONNECTED:
                    self._held = packets[place + 1 :]
                    break
        except BadPacket as error:
            inputs.append(self._fail(error))
        if self._decoder.error is not None and not self.is_closed:
            before = [] if self.is_deciding else inputs  # whoever is not let in has said nothing
            return [*before, self._fail(self._decoder.error)]
        return inputs

    def _hold(self, packets: list[Packet], size: int) -> list[Input]:
        """Keep what comes before CONNECT is answered, which clients need not wait for, within bounds."""
        self._held += packets
        self._held_bytes += size
        if self._decoder.error is not None:
            return [self._fail(self._decoder.error)]
        if self._held_bytes > self._limits.maximum_packet_size:
            return [self._fail(BadPacket(Reason.QUOTA_EXCEEDED, "too much was said before CONNACK"))]
        return []

    def _take_connect(self, packet: Connect) -> Connect:
        self._sender.agree(packet, self._limits)
        if packet.properties.authentication_method is not None:
            raise BadPacket(
                Reason.BAD_AUTHENTICATION_METHOD, "no authentication method is spoken", "MQTT-4.12.0-1"
            )
        if packet.will is not None:
            self._check_payload(packet.will.payload, packet.will.properties.payload_format)
        self._state = _State.DECIDING
        self._patience = packet.keep_alive * 1.5
        self._session_expiry = packet.session_expiry
        return packet

    def _take_publish(self, packet: Publish) -> Publish | None:
        if packet.qos:
            self._count(packet.packet_id)
        if packet.properties is NO_PUBLISH_PROPERTIES:
            return packet
        if packet.properties.subscription_ids:
            raise protocol_error("a client's PUBLISH with a subscription id", "MQTT-3.3.4-6")
        packet = self._aliases.resolved(packet)
        return packet if self._is_readable(packet) else None

    def _count(self, packet_id: int) -> None:
        """Refuse more unacknowledged messages than were agreed. [MQTT-3.3.4-7]"""
        self._unacknowledged.add(packet_id)
        if len(self._unacknowledged) > self._limits.receive_maximum and self.version is Version.V5:
            raise BadPacket(
                Reason.RECEIVE_MAXIMUM_EXCEEDED,
                f"more than {self._limits.receive_maximum} unacknowledged messages",
                "MQTT-3.3.4-7",
            )

    def _is_readable(self, packet: Publish) -> bool:
        """Whether a payload is the UTF-8 that it is said to be; if not, the client is told."""
        try:
            self._check_payload(packet.payload, packet.properties.payload_format)
        except BadPacket:
            if not packet.qos:
                raise
            kind = PubAck if packet.qos == 1 else PubRec
            self.send(kind(packet.packet_id, Reason.PAYLOAD_FORMAT_INVALID))
            return False
        return True

    def _check_payload(self, payload: bytes, payload_format: int | None) -> None:
        if not payload_format or not self._limits.checks_payload_format:
            return
        try:
            payload.decode()
        except UnicodeDecodeError as refusal:
            reason = f"the payload is not UTF-8: {refusal.reason}"
            raise BadPacket(Reason.PAYLOAD_FORMAT_INVALID, reason) from None

    def _take_ack(self, packet: Ack) -> Ack:
        self._sender.acknowledged(packet)
        return packet

    def _take_request(self, packet: PubRel | Subscribe | Unsubscribe) -> Input:
        return packet

    def _take_ping(self, _: PingReq) -> None:
        self._sender.pong()  # [MQTT-3.12.4-1]

    def _take_disconnect(self, packet: Disconnect) -> Closed:
        expiry = packet.properties.session_expiry
        if expiry and not self._session_expiry:
            raise protocol_error("a DISCONNECT that keeps a session which was to end")
        if packet.properties.server_reference is not None:
            raise protocol_error("a client's DISCONNECT with a server reference")
        self._state = _State.CLOSED
        # [MQTT-3.14.4-3] Whoever leaves in peace takes the will along.
        publishes_will = packet.reason is not Reason.NORMAL_DISCONNECTION
        return Closed(packet.reason, publishes_will, session_expiry=expiry)

    # ── how it ends ───────────────────────────────────────────────────────────────────────

    def expire(self, now: float) -> Closed | None:
        """Close the connection if the client has been silent for too long. [MQTT-3.1.2-22]"""
        deadline = self.deadline
        if deadline is None or now < deadline:
            return None
        return self._end(Reason.KEEP_ALIVE_TIMEOUT)

    def lost(self) -> Closed | None:
        """The socket is gone; `None` if the connection was over before."""
        if self.is_closed:
            return None
        closed = self._end(Reason.UNSPECIFIED_ERROR)
        self._sender.clear()
        return closed

    def _fail(self, error: BadPacket) -> Closed:
        """Tell the client what is wrong, as far as its version has words for it. [MQTT-4.13.1-1]"""
        return self._end(Reason(error.code), error.reason, error.with_traceback(None))

    def _end(self, reason: Reason, text: str | None = None, error: BadPacket | None = None) -> Closed:
        was_connected = self._state is _State.CONNECTED
        self._state = _State.CLOSED
        self._held = []
        if was_connected:
            self._say_disconnect(reason, text)
        else:
            self._say_refusal(reason, text)
        return Closed(reason, publishes_will=was_connected, error=error)

    def _say_disconnect(self, reason: Reason, text: str | None) -> None:
        """In MQTT 3.1.1 a server closes without a word."""
        if self.version is Version.V5:
            reason = reason if reason in ALLOWED["DISCONNECT"] else Reason.UNSPECIFIED_ERROR
            self._sender.say(Disconnect(reason, DisconnectProperties(reason_string=text)))

    def _say_refusal(self, reason: Reason, text: str | None) -> None:
        """Whoever is not let in hears CONNACK, and never DISCONNECT. [MQTT-3.14.0-1]"""
        if self.version is None:
            return
        self._sender.version = self.version
        if self.version is Version.V5 and reason not in ALLOWED["CONNACK"]:
            reason = Reason.SERVER_UNAVAILABLE
        if self.version is Version.V5 or reason in TO_CONNACK_311:
            self._sender.say(ConnAck(reason, properties=ConnAckProperties(reason_string=text)))

    # ── what the broker says ──────────────────────────────────────────────────────────────

    def accept(
        self, now: float, *, session_present: bool, properties: ConnAckProperties | None = None
    ) -> list[Input]:
        """Let the client in, and give what it said meanwhile.

        The properties are the broker's part of CONNACK: an assigned client id, a keep alive or a
        session expiry other than the client's; the limits are put in here.
        """
        if not self.is_deciding:
            return []
        self._state, self._heard = _State.CONNECTED, now
        properties = self._with_limits(properties or none_of(ConnAckProperties))
        if properties.server_keep_alive is not None and self.version is Version.V5:
            self._patience = properties.server_keep_alive * 1.5  # [MQTT-3.1.2-21]
        self._sender.say(ConnAck(Reason.SUCCESS, session_present, properties))
        held, self._held = self._held, []
        return self._take(held)

    def _with_limits(self, properties: ConnAckProperties) -> ConnAckProperties:
        return structs.replace(
            properties,
            receive_maximum=self._limits.receive_maximum,
            maximum_packet_size=self._limits.maximum_packet_size,
            topic_alias_maximum=self._limits.topic_alias_maximum,
        )

    def refuse(self, reason: Reason, text: str | None = None) -> None:
        """Do not let the client in; nothing that it said behind its CONNECT counts. [MQTT-3.1.4-6]"""
        if self.is_deciding:
            self._end(reason, text)

    def disconnect(self, reason: Reason, text: str | None = None) -> Closed | None:
        """Close the connection for a reason of ours: a take-over, a shutdown, a limit."""
        return None if self.is_closed else self._end(reason, text)

    def send(self, packet: Answer) -> None:
        """Say what the broker answers, and PUBREL."""
        if self._state is not _State.CONNECTED:
            return
        if isinstance(packet, PubAck | PubComp) or (isinstance(packet, PubRec) and packet.reason.is_refusal):
            self._unacknowledged.discard(packet.packet_id)
        self._sender.answer(packet)

    def deliver(self, template: PublishTemplate, packet_id: int = 0, *, dup: bool = False) -> Delivered:
        """Send a message; its template is of the client's version, and its id one that the session keeps."""
        if self._state is not _State.CONNECTED:
            return Delivered.NO_ROOM
        return self._sender.deliver(template, packet_id, dup)


def _refuse(_: Connection, packet: Packet) -> None:
    clause = "MQTT-4.12.0-7" if isinstance(packet, Auth) else ""
    raise protocol_error(f"a client does not say {type(packet).__name__.upper()} here", clause)


_TAKE: dict[type, Callable[[Connection, Any], Input | None]] = {
    Connect: Connection._take_connect,
    Publish: Connection._take_publish,
    PubAck: Connection._take_ack,
    PubRec: Connection._take_ack,
    PubRel: Connection._take_request,
    PubComp: Connection._take_ack,
    Subscribe: Connection._take_request,
    Unsubscribe: Connection._take_request,
    PingReq: Connection._take_ping,
    Disconnect: Connection._take_disconnect,
}
"""What a client may say; anything else is a protocol error."""
