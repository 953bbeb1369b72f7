"""Bytes become packets: however they are cut, whichever version is spoken, in bounded memory.

What takes most of a broker's time is reading small PUBLISH packets, so that path is short: it
makes no reader, and looks topics and properties up that were read before.
"""

from __future__ import annotations

from ramify.errors import BadPacket
from ramify.mqtt import known
from ramify.mqtt.decode_bodies import BODIES
from ramify.mqtt.decode_connect import (
    answering_version,
    check_protocol,
    check_response_topic,
    read_connack,
    read_connect,
    read_protocol,
)
from ramify.mqtt.packets import NO_PUBLISH_PROPERTIES, Connect, Packet, Publish, QoS, Version
from ramify.mqtt.properties import PublishProperties
from ramify.mqtt.reading import Reader, read_properties
from ramify.mqtt.reasons import Reason, malformed, protocol_error
from ramify.mqtt.topics import learn_topic

LARGEST_PACKET = 268_435_460
"""What the standard allows: a first byte, four of length, and the most that they can say."""

_CONNECT, _CONNACK = 0x10, 0x20


class Decoder:
    """Takes the bytes of one connection as they come, and gives the packets that are whole.

    The version is the one that CONNECT names, or given by a client that knows what it speaks.
    """

    __slots__ = ("_held", "_is_padded", "_largest", "_needed", "error", "version")

    def __init__(self, maximum_packet_size: int = LARGEST_PACKET, version: Version | None = None) -> None:
        self._largest = maximum_packet_size
        self._held = bytearray()
        self._needed = 2
        self._is_padded = False
        self.version = version
        """What the peer speaks; of a CONNECT that is refused, what to answer it in."""
        self.error: BadPacket | None = None
        """What was wrong with the packet behind the last one that was given."""

    def feed(self, data: bytes | bytearray | memoryview) -> list[Packet]:
        """The packets that are whole with these bytes.

        At a bad packet reading ends: the packets before it are given, and `error` says what is
        wrong. Feeding more raises that error.
        """
        if self.error is not None:
            raise self.error
        if type(data) is not bytes:
            data = bytes(data)
        if self._held:
            self._held += data
            if len(self._held) < self._needed:
                return []
            data = bytes(self._held)
            self._held = bytearray()
        packets: list[Packet] = []
        try:
            taken = self._read_all(data, packets)
        except BadPacket as error:
            self.error = error.with_traceback(None)  # which would keep all of this chunk alive
            return packets
        if taken < len(data):
            self._held += data[taken:]
        return packets

    def _read_all(self, data: bytes, packets: list[Packet]) -> int:
        """Read what is whole, and say how many bytes that took."""
        at, end, largest = 0, len(data), self._largest
        is_5 = self.version is Version.V5
        while end - at >= 2:
            body = at + 2
            length = data[at + 1]
            if length > 0x7F:
                body, length = self._long_length(data, at)
            stop = body + length
            if stop - at > largest:
                raise _too_large(stop - at, largest)
            first = data[at]
            if stop > end or not body:
                self._expect(first, stop - at if body else end - at + 1)
                return at
            if first & 0xF0 == 0x30 and self.version is not None:
                packets.append(_read_publish(data, first, body, stop, is_5))
            else:
                packets.append(self._read_other(first, Reader(data, body, stop)))
                is_5 = self.version is Version.V5
            at = stop
        self._needed = 2
        return at

    def _expect(self, first: int, size: int) -> None:
        """Wait for a whole packet, but not for one that cannot be right."""
        if first != _CONNECT and self.version is None:
            raise protocol_error("the first packet is not CONNECT", "MQTT-3.1.0-1")
        self._needed = size

    def _long_length(self, data: bytes, at: int) -> tuple[int, int]:
        """Where a body starts and its length, which takes several bytes; 0 while those are not there."""
        length = 0
        for place, byte in enumerate(data[at + 1 : at + 5]):
            length |= (byte & 0x7F) << 7 * place
            if byte < 0x80:
                if not byte:
                    self._pad()
                return at + 2 + place, length
        if len(data) - at >= 5:
            raise malformed("the remaining length goes on after four bytes")
        return 0, 0

    def _pad(self) -> None:
        """Refuse a length that takes more bytes than it needs, which only MQTT 5 forbids."""
        self._is_padded = True
        if self.version is Version.V5:
            raise malformed("the remaining length takes more bytes than it needs", "MQTT-1.5.5-1")

    def _read_other(self, first: int, reader: Reader) -> Packet:
        if first == _CONNECT:
            return self._read_connect(reader)
        if self.version is None:
            raise protocol_error("the first packet is not CONNECT", "MQTT-3.1.0-1")
        if first == _CONNACK:
            return read_connack(reader, self.version)
        read = BODIES.get(first)
        if read is None:
            raise malformed(f"no packet begins with 0x{first:02X}", "MQTT-2.1.3-1")
        return read(reader, self.version)

    def _read_connect(self, reader: Reader) -> Connect:
        if self.version is not None:
            raise protocol_error("a second CONNECT", "MQTT-3.1.0-2")
        name, level = read_protocol(reader)
        self.version = version = answering_version(level)
        check_protocol(name, level)
        if self._is_padded:
            self._pad()
        return read_connect(reader, version)


def _too_large(size: int, largest: int) -> BadPacket:
    return BadPacket(Reason.PACKET_TOO_LARGE, f"a packet of {size:,} bytes, of {largest:,} at most")


# ── PUBLISH ───────────────────────────────────────────────────────────────────────────────

_Flags = tuple[QoS, bool, bool]
_FLAGS: dict[int, _Flags] = {
    0x30 | dup << 3 | qos << 1 | retain: (qos, bool(retain), bool(dup))
    for dup in (0, 1)
    for qos in (0, 1, 2)
    for retain in (0, 1)
    if qos or not dup
}
"""QoS, retain and dup by the first byte; a first byte that is not here is malformed."""


def _read_publish(data: bytes, first: int, at: int, stop: int, is_5: bool) -> Publish:
    flags = _FLAGS.get(first)
    if flags is None:
        raise _bad_flags(first)
    at += 2
    if at > stop:
        raise malformed("the packet ends within its topic")
    end = at + (data[at - 2] << 8 | data[at - 1])
    if end > stop:
        raise malformed("the packet ends within its topic")
    topic = known.topics.get(data[at:end])
    if topic is None:
        topic = learn_topic(data[at:end]) if end > at else ""
    if first > 0x31:
        return _read_numbered(data, end, stop, topic, flags, is_5)
    if topic and (not is_5 or (end < stop and not data[end])):
        return Publish(topic, data[end + is_5 : stop], 0, flags[1])
    return _read_special(data, end, stop, topic, flags, 0, is_5)


def _read_numbered(data: bytes, at: int, stop: int, topic: str, flags: _Flags, is_5: bool) -> Publish:
    """The rest of a PUBLISH that has a packet id."""
    at += 2
    if at > stop:
        raise malformed("the packet ends within its packet id")
    packet_id = data[at - 2] << 8 | data[at - 1]
    if not packet_id:
        raise protocol_error("a packet id is not 0", "MQTT-2.2.1-3")
    if topic and (not is_5 or (at < stop and not data[at])):
        return Publish(topic, data[at + is_5 : stop], flags[0], flags[1], flags[2], packet_id)
    return _read_special(data, at, stop, topic, flags, packet_id, is_5)


def _read_special(
    data: bytes, at: int, stop: int, topic: str, flags: _Flags, packet_id: int, is_5: bool
) -> Publish:
    """The rest of a PUBLISH that has properties, or no topic."""
    properties, at = _publish_properties(data, at, stop) if is_5 else (NO_PUBLISH_PROPERTIES, at)
    if not topic and properties.topic_alias is None:
        raise _no_topic(is_5)
    return Publish(topic, data[at:stop], *flags, packet_id, properties)


def _publish_properties(data: bytes, at: int, stop: int) -> tuple[PublishProperties, int]:
    """The properties of a PUBLISH, looked up by all of their bytes if they are few and whole."""
    size = data[at] if at < stop else 0x80
    end = at + 1 + size
    if size > 0x7F or end > stop:
        return _judged_properties(data, at, stop)
    raw = data[at:end]
    properties = known.properties.get(raw)
    if properties is None:
        properties, _ = _judged_properties(data, at, stop)
        known.remember(known.properties, raw, properties)
    return properties, end


def _judged_properties(data: bytes, at: int, stop: int) -> tuple[PublishProperties, int]:
    properties, at = read_properties(data, at, stop, PublishProperties)
    check_response_topic(properties.response_topic)
    return properties, at


def _bad_flags(first: int) -> BadPacket:
    if first & 6 == 6:
        return malformed("a PUBLISH of QoS 3", "MQTT-3.3.1-4")
    return malformed("a PUBLISH of QoS 0 that is a duplicate", "MQTT-3.3.1-2")


def _no_topic(is_5: bool) -> BadPacket:
    if is_5:
        return protocol_error("a PUBLISH with neither a topic nor an alias", "MQTT-4.7.3-1")
    return BadPacket(Reason.TOPIC_NAME_INVALID, "a PUBLISH without a topic", "MQTT-4.7.3-1")
