"""Reads the bodies of all packets but CONNECT, CONNACK and PUBLISH."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ramify.mqtt.packets import (
    NO_ACK_PROPERTIES,
    Auth,
    Disconnect,
    Packet,
    PingReq,
    PingResp,
    PubAck,
    PubComp,
    PubRec,
    PubRel,
    QoS,
    RetainHandling,
    SubAck,
    Subscribe,
    SubscribeRequest,
    UnsubAck,
    Unsubscribe,
    Version,
)
from ramify.mqtt.properties import (
    AckProperties,
    AuthProperties,
    DisconnectProperties,
    SubscribeProperties,
    UnsubscribeProperties,
    none_of,
)
from ramify.mqtt.reading import Reader
from ramify.mqtt.reasons import (
    ALLOWED,
    SUBACK_311,
    Reason,
    allowed_reason,
    malformed,
    protocol_error,
)
from ramify.mqtt.topics import is_shared

_AckT = TypeVar("_AckT", PubAck, PubRec, PubRel, PubComp)

# ── acknowledgements ──────────────────────────────────────────────────────────────────────


def _read_ack(kind: type[_AckT]) -> Callable[[Reader, Version], _AckT]:
    name = kind.__name__.upper()

    def read(reader: Reader, version: Version) -> _AckT:
        packet_id = reader.packet_id("MQTT-2.2.1-5")
        if reader.is_done:
            return kind(packet_id)
        if version is Version.V311:
            reader.finish()
        reason = allowed_reason(reader.byte(), name)
        properties = NO_ACK_PROPERTIES if reader.is_done else reader.properties(AckProperties)
        reader.finish()
        return kind(packet_id, reason, properties)

    return read


# ── subscriptions ─────────────────────────────────────────────────────────────────────────

_RESERVED = {Version.V311: 0xFC, Version.V5: 0xC0}
_RESERVED_CLAUSE = {Version.V311: "MQTT-3-8.3-4", Version.V5: "MQTT-3.8.3-5"}
_QOS: tuple[QoS, ...] = (0, 1, 2)
_RETAIN_HANDLING: tuple[RetainHandling, ...] = (0, 1, 2)


def _read_subscribe(reader: Reader, version: Version) -> Subscribe:
    packet_id = reader.packet_id()
    is_5 = version is Version.V5
    properties = reader.properties(SubscribeProperties) if is_5 else none_of(SubscribeProperties)
    requests = []
    while not reader.is_done:
        # [MQTT-3.8.3-1] What a filter means, and whether it means anything, is not the codec's to say.
        requests.append(_request(reader.text(), reader.byte(), version))
    if not requests:
        raise protocol_error("a SUBSCRIBE without filters", "MQTT-3.8.3-2")
    return Subscribe(packet_id, tuple(requests), properties)


def _request(text: str, options: int, version: Version) -> SubscribeRequest:
    if options & _RESERVED[version]:
        raise malformed(f"reserved bits of the options of {text[:80]!r} are set", _RESERVED_CLAUSE[version])
    qos, retain_handling, no_local = options & 3, options >> 4 & 3, bool(options & 4)
    if qos == 3:
        # In 3.1.1 QoS 3 is malformed [MQTT-3-8.3-4], in 5.0 it is called a protocol error.
        raise protocol_error(f"QoS 3 for {text[:80]!r}", "MQTT-3-8.3-4" if version is Version.V311 else "")
    if retain_handling == 3:
        raise protocol_error(f"retain handling 3 for {text[:80]!r}")
    if no_local and is_shared(text, version):
        raise protocol_error(f"no local for the shared {text[:80]!r}", "MQTT-3.8.3-4")
    return SubscribeRequest(text, _QOS[qos], no_local, bool(options & 8), _RETAIN_HANDLING[retain_handling])


def _read_suback(reader: Reader, version: Version) -> SubAck:
    packet_id = reader.packet_id("MQTT-2.2.1-6")
    properties = reader.properties(AckProperties) if version is Version.V5 else NO_ACK_PROPERTIES
    allowed = ALLOWED["SUBACK"] if version is Version.V5 else SUBACK_311
    return SubAck(packet_id, _reasons(reader, allowed, "SUBACK"), properties)


def _read_unsubscribe(reader: Reader, version: Version) -> Unsubscribe:
    packet_id = reader.packet_id()
    is_5 = version is Version.V5
    properties = reader.properties(UnsubscribeProperties) if is_5 else none_of(UnsubscribeProperties)
    filters = []
    while not reader.is_done:
        filters.append(reader.text())  # [MQTT-3.10.3-1]
    if not filters:
        raise protocol_error("an UNSUBSCRIBE without filters", "MQTT-3.10.3-2")
    return Unsubscribe(packet_id, tuple(filters), properties)


def _read_unsuback(reader: Reader, version: Version) -> UnsubAck:
    packet_id = reader.packet_id("MQTT-2.2.1-6")
    if version is Version.V311:
        reader.finish()
        return UnsubAck(packet_id)
    properties = reader.properties(AckProperties)
    return UnsubAck(packet_id, _reasons(reader, ALLOWED["UNSUBACK"], "UNSUBACK"), properties)


def _reasons(reader: Reader, allowed: dict[int, Reason], packet: str) -> tuple[Reason, ...]:
    codes = reader.rest()
    if not codes:
        raise protocol_error(f"a {packet} without reason codes")
    for code in codes:
        if code not in allowed:
            raise protocol_error(f"the reason code 0x{code:02X} is not one of {packet}")
    return tuple([allowed[code] for code in codes])


# ── the rest ──────────────────────────────────────────────────────────────────────────────


def _read_pingreq(reader: Reader, _: Version) -> PingReq:
    reader.finish()
    return PingReq()


def _read_pingresp(reader: Reader, _: Version) -> PingResp:
    reader.finish()
    return PingResp()


def _read_disconnect(reader: Reader, version: Version) -> Disconnect:
    if version is Version.V311:
        reader.finish()
    if reader.is_done:
        return Disconnect()
    reason = allowed_reason(reader.byte(), "DISCONNECT")
    properties = none_of(DisconnectProperties) if reader.is_done else reader.properties(DisconnectProperties)
    reader.finish()
    return Disconnect(reason, properties)


def _read_auth(reader: Reader, version: Version) -> Auth:
    if version is Version.V311:
        raise malformed("MQTT 3.1.1 has no packet of type 15")
    if reader.is_done:
        return Auth()
    reason, properties = allowed_reason(reader.byte(), "AUTH"), reader.properties(AuthProperties)
    reader.finish()
    if properties.authentication_method is None:
        raise protocol_error("an AUTH without an authentication method")
    return Auth(reason, properties)


BODIES: dict[int, Callable[[Reader, Version], Packet]] = {
    0x40: _read_ack(PubAck),
    0x50: _read_ack(PubRec),
    # [MQTT-3.6.1-1] [MQTT-3.8.1-1] [MQTT-3.10.1-1] These three have a flag set.
    0x62: _read_ack(PubRel),
    0x70: _read_ack(PubComp),
    0x82: _read_subscribe,
    0x90: _read_suback,
    0xA2: _read_unsubscribe,
    0xB0: _read_unsuback,
    0xC0: _read_pingreq,
    0xD0: _read_pingresp,
    0xE0: _read_disconnect,
    0xF0: _read_auth,
}
"""How to read what follows each first byte; with other flags it is malformed. [MQTT-2.1.3-1]"""
