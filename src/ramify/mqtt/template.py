"""One PUBLISH for many receivers: encoded once, with each receiver's packet id put in.

Receivers share a template if they speak the same version and get the same QoS, retain flag and
properties. What differs between them is the packet id, the dup flag, and a topic alias.
"""

from __future__ import annotations

from ramify.mqtt.encode import framed, publish_properties
from ramify.mqtt.packets import Publish, Version
from ramify.mqtt.topics import topic_bytes
from ramify.mqtt.writing import number, varint

_DUP = 0x08
_ALIAS = b"\x23"
"""The identifier of the property topic alias."""


class PublishTemplate:
    """The bytes of a PUBLISH but for its packet id; of `publish`, `dup` and `packet_id` do not count.

    `plain` is the whole packet of QoS 0.
    """

    __slots__ = (
        "_first",
        "_head",
        "_properties",
        "_tail",
        "_topic",
        "payload",
        "plain",
        "qos",
        "size",
        "topic",
    )

    def __init__(self, publish: Publish, version: Version) -> None:
        self.topic, self.payload, self.qos = publish.topic, publish.payload, publish.qos
        self._first = 0x30 | publish.qos << 1 | publish.retain
        self._topic = topic_bytes(publish.topic)
        self._properties = publish_properties(publish, version)
        tail = self._properties + publish.payload
        length = len(self._topic) + len(tail) + (2 if publish.qos else 0)
        head = varint(length) + self._topic
        self.size = 1 + len(head) - len(self._topic) + length
        """How many bytes the packet has, without an alias."""
        self._head, self._tail, self.plain = head, tail, b""
        if not publish.qos:
            # The same for all receivers, so that the parts need not be kept.
            self._head, self._tail, self.plain = b"", b"", bytes((self._first,)) + head + tail

    def with_packet_id(self, packet_id: int, *, dup: bool = False) -> bytes:
        """The packet of QoS 1 or 2 for one receiver."""
        first = self._first | _DUP if dup else self._first
        return bytes((first,)) + self._head + packet_id.to_bytes(2, "big") + self._tail

    def with_alias(self, alias: int, *, names_topic: bool, packet_id: int = 0, dup: bool = False) -> bytes:
        """The packet with a topic alias, in place of the topic or to go with it from now on; MQTT 5 only."""
        first = self._first | _DUP if dup else self._first
        topic = self._topic if names_topic else b"\0\0"
        number_of_packet = packet_id.to_bytes(2, "big") if self.qos else b""
        # The properties without their length, which may take several bytes.
        bare = self._properties[_varint_size(self._properties) :] + _ALIAS + number(alias, 2)
        body = topic + number_of_packet + varint(len(bare)) + bare + self.payload
        return framed(first, body)


def _varint_size(data: bytes) -> int:
    return next(place for place, byte in enumerate(data, 1) if byte < 0x80)
