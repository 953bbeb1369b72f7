"""Packets become bytes, in either version.

What MQTT 3.1.1 cannot say is left out: properties, and the reasons of acknowledgements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ramify.errors import InvalidPacket
from ramify.mqtt.packets import (
    NO_ACK_PROPERTIES,
    NO_PUBLISH_PROPERTIES,
    Ack,
    Auth,
    ConnAck,
    Connect,
    Disconnect,
    Packet,
    PingReq,
    PingResp,
    PubAck,
    PubComp,
    Publish,
    PubRec,
    PubRel,
    SubAck,
    Subscribe,
    UnsubAck,
    Unsubscribe,
    Version,
    Will,
)
from ramify.mqtt.properties import AuthProperties, DisconnectProperties, Value, none_of
from ramify.mqtt.reasons import TO_CONNACK_311, Reason
from ramify.mqtt.topics import topic_bytes
from ramify.mqtt.writing import binary, number, properties, text, varint

V5 = Version.V5


def encode(packet: Packet, version: Version) -> bytes:
    """The bytes of a packet; one that the version cannot say at all raises `InvalidPacket`."""
    write: Callable[[Any, Version], bytes] = _WRITE[type(packet)]
    return write(packet, version)


def framed(first: int, body: bytes) -> bytes:
    """A packet of a first byte and a body."""
    length = len(body)
    return bytes((first, length)) + body if length < 0x80 else bytes((first,)) + varint(length) + body


def properties_if(version: Version, value: Value) -> bytes:
    """Properties, where there are any such things."""
    return properties(value) if version is V5 else b""


# ── connections ───────────────────────────────────────────────────────────────────────────


def _write_connect(packet: Connect, version: Version) -> bytes:
    if packet.version is not version:
        raise InvalidPacket(f"a CONNECT of {packet.version.name} in {version.name}")
    if version is Version.V311 and packet.password is not None and packet.user_name is None:
        raise InvalidPacket("a password without a user name, in MQTT 3.1.1")  # [MQTT-3.1.2-22]
    head = text("MQTT") + bytes((version, _connect_flags(packet))) + number(packet.keep_alive, 2)
    will = _will(packet.will, version) if packet.will else b""
    user_name = b"" if packet.user_name is None else text(packet.user_name)
    password = b"" if packet.password is None else binary(packet.password)
    payload = text(packet.client_id) + will + user_name + password
    return framed(0x10, head + properties_if(version, packet.properties) + payload)


def _connect_flags(packet: Connect) -> int:
    flags = packet.clean_start << 1
    if packet.will:
        flags |= 0x04 | packet.will.qos << 3 | packet.will.retain << 5
    return flags | (packet.password is not None) << 6 | (packet.user_name is not None) << 7


def _will(will: Will, version: Version) -> bytes:
    return properties_if(version, will.properties) + text(will.topic) + binary(will.payload)


def _write_connack(packet: ConnAck, version: Version) -> bytes:
    if version is V5:
        code = int(packet.reason)
    elif packet.reason in TO_CONNACK_311:
        code = TO_CONNACK_311[packet.reason]
    else:
        raise InvalidPacket(f"MQTT 3.1.1 has no return code for {packet.reason.name}")
    head = bytes((packet.session_present, code))
    return framed(0x20, head + properties_if(version, packet.properties))


def _write_disconnect(packet: Disconnect, version: Version) -> bytes:
    if version is not V5:
        return b"\xe0\x00"
    if packet.properties == none_of(DisconnectProperties):
        return b"\xe0\x01" + bytes((packet.reason,)) if packet.reason else b"\xe0\x00"
    return framed(0xE0, bytes((packet.reason,)) + properties(packet.properties))


def _write_auth(packet: Auth, version: Version) -> bytes:
    if version is not V5:
        raise InvalidPacket("MQTT 3.1.1 has no AUTH")
    if packet.reason is Reason.SUCCESS and packet.properties == none_of(AuthProperties):
        return b"\xf0\x00"
    return framed(0xF0, bytes((packet.reason,)) + properties(packet.properties))


# ── messages ──────────────────────────────────────────────────────────────────────────────


def publish_flags(packet: Publish) -> int:
    """The first byte of a PUBLISH."""
    return 0x30 | packet.dup << 3 | packet.qos << 1 | packet.retain


def _write_publish(packet: Publish, version: Version) -> bytes:
    if bool(packet.qos) != bool(packet.packet_id):
        raise InvalidPacket(f"a PUBLISH of QoS {packet.qos} with the packet id {packet.packet_id}")
    if packet.dup and not packet.qos:
        raise InvalidPacket("a PUBLISH of QoS 0 that is a duplicate")  # [MQTT-3.3.1-2]
    packet_id = number(packet.packet_id, 2) if packet.qos else b""
    body = topic_bytes(packet.topic) + packet_id + publish_properties(packet, version) + packet.payload
    return framed(publish_flags(packet), body)


def publish_properties(packet: Publish, version: Version) -> bytes:
    """The properties of a PUBLISH, which most often has none."""
    if version is not V5:
        return b""
    return b"\0" if packet.properties is NO_PUBLISH_PROPERTIES else properties(packet.properties)


def _write_ack(first: int) -> Callable[[Ack, Version], bytes]:
    plain = bytes((first, 2))

    def write(packet: Ack, version: Version) -> bytes:
        packet_id = number(packet.packet_id, 2)
        is_plain = packet.reason is Reason.SUCCESS and packet.properties is NO_ACK_PROPERTIES
        if is_plain or version is not V5:
            return plain + packet_id
        reason = bytes((packet.reason,))
        if packet.properties == NO_ACK_PROPERTIES:
            return framed(first, packet_id + reason)
        return framed(first, packet_id + reason + properties(packet.properties))

    return write


# ── subscriptions ─────────────────────────────────────────────────────────────────────────


def _write_subscribe(packet: Subscribe, version: Version) -> bytes:
    requests = b"".join(
        text(request.filter) + bytes((_options(request) if version is V5 else request.qos,))
        for request in packet.requests
    )
    return framed(0x82, _numbered(packet.packet_id, packet.properties, version) + requests)


def _options(request: Any) -> int:
    return int(
        request.qos | request.no_local << 2 | request.retain_as_published << 3 | request.retain_handling << 4
    )


def _write_suback(packet: SubAck, version: Version) -> bytes:
    is_5 = version is V5
    codes = bytes(code if is_5 else min(code, Reason.UNSPECIFIED_ERROR) for code in packet.reasons)
    return framed(0x90, _numbered(packet.packet_id, packet.properties, version) + codes)


def _write_unsubscribe(packet: Unsubscribe, version: Version) -> bytes:
    filters = b"".join(text(each) for each in packet.filters)
    return framed(0xA2, _numbered(packet.packet_id, packet.properties, version) + filters)


def _write_unsuback(packet: UnsubAck, version: Version) -> bytes:
    codes = bytes(packet.reasons) if version is V5 else b""
    return framed(0xB0, _numbered(packet.packet_id, packet.properties, version) + codes)


def _numbered(packet_id: int, value: Value, version: Version) -> bytes:
    return number(packet_id, 2) + properties_if(version, value)


_WRITE: dict[type, Callable[[Any, Version], bytes]] = {
    Connect: _write_connect,
    ConnAck: _write_connack,
    Publish: _write_publish,
    PubAck: _write_ack(0x40),
    PubRec: _write_ack(0x50),
    PubRel: _write_ack(0x62),
    PubComp: _write_ack(0x70),
    Subscribe: _write_subscribe,
    SubAck: _write_suback,
    Unsubscribe: _write_unsubscribe,
    UnsubAck: _write_unsuback,
    PingReq: lambda packet, version: b"\xc0\x00",
    PingResp: lambda packet, version: b"\xd0\x00",
    Disconnect: _write_disconnect,
    Auth: _write_auth,
}
