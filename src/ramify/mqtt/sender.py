"""What one client is sent: in its version, no larger than it takes, no more than it acknowledges."""

from __future__ import annotations

from typing import TypeVar

from msgspec import structs

from ramify.mqtt.aliases import OutboundAliases
from ramify.mqtt.boundary import Answer, Delivered, Limits
from ramify.mqtt.encode import encode
from ramify.mqtt.packets import Ack, ConnAck, Connect, Disconnect, PubRec, Version
from ramify.mqtt.template import PublishTemplate

_AnyT = TypeVar("_AnyT", bound=Answer | ConnAck | Disconnect)


class Sender:
    """The outbound half of a connection: its bytes wait here until they are taken."""

    __slots__ = (
        "_aliases",
        "_largest",
        "_output",
        "_tells_problems",
        "_unacknowledged",
        "_window",
        "version",
    )

    def __init__(self, limits: Limits) -> None:
        self.version = Version.V311
        self._output: list[bytes] = []
        self._aliases: OutboundAliases | None = None
        self._largest: int | None = None
        self._tells_problems = True
        self._unacknowledged: set[int] = set()
        self._window = limits.send_maximum

    def agree(self, connect: Connect, limits: Limits) -> None:
        """Keep to what the client says about itself."""
        wishes = connect.properties
        self.version = connect.version
        self._largest = wishes.maximum_packet_size
        self._tells_problems = wishes.request_problem_information
        self._window = min(limits.send_maximum, wishes.receive_maximum)  # [MQTT-4.9.0-1]
        aliases = min(limits.send_alias_maximum, wishes.topic_alias_maximum)
        self._aliases = OutboundAliases(aliases) if aliases else None

    @property
    def room(self) -> int:
        """How many more messages of QoS 1 and 2 the client takes now. [MQTT-4.9.0-2]"""
        return self._window - len(self._unacknowledged)

    def acknowledged(self, packet: Ack) -> None:
        """PUBACK, PUBCOMP, or a PUBREC that refuses, makes room. [MQTT-3.3.4-9]"""
        if not isinstance(packet, PubRec) or packet.reason.is_refusal:
            self._unacknowledged.discard(packet.packet_id)

    def take(self) -> bytes:
        """All bytes that wait to be written."""
        output = self._output
        if not output:
            return b""
        self._output = []
        return output[0] if len(output) == 1 else b"".join(output)

    def clear(self) -> None:
        """Forget what waits."""
        self._output.clear()

    def pong(self) -> None:
        """Say PINGRESP."""
        self._output.append(b"\xd0\x00")

    def say(self, packet: ConnAck | Disconnect) -> None:
        """Say CONNACK or DISCONNECT, which may always tell their reason in words."""
        self._write(packet)

    def answer(self, packet: Answer) -> None:
        """Say any other packet but PUBLISH, which tells as many words as the client wants. [MQTT-3.1.2-29]"""
        self._write(packet if self._tells_problems else _terse(packet))

    def _write(self, packet: Answer | ConnAck | Disconnect) -> None:
        """Write a packet, leaving words out if it were too large with them. [MQTT-3.4.2-2] [MQTT-3.4.2-3]"""
        written = encode(packet, self.version)
        if not self._fits(written):
            written = encode(_terse(packet), self.version)
        if self._fits(written):
            self._output.append(written)

    def _fits(self, written: bytes) -> bool:
        return self._largest is None or len(written) <= self._largest

    def deliver(self, template: PublishTemplate, packet_id: int, dup: bool) -> Delivered:
        """Send a message, if there is room for it and it fits. [MQTT-3.1.2-24] [MQTT-3.1.2-25]"""
        if template.qos and self.room <= 0:
            return Delivered.NO_ROOM
        written = self._written(template, packet_id, dup)
        if not self._fits(written):
            return Delivered.TOO_LARGE
        if template.qos:
            self._unacknowledged.add(packet_id)
        self._output.append(written)
        return Delivered.SENT

    def _written(self, template: PublishTemplate, packet_id: int, dup: bool) -> bytes:
        if self._aliases is not None:
            written = self._aliased(template, packet_id, dup, self._aliases)
            if written is not None:
                return written
        return template.with_packet_id(packet_id, dup=dup) if template.qos else template.plain

    def _aliased(
        self, template: PublishTemplate, packet_id: int, dup: bool, aliases: OutboundAliases
    ) -> bytes | None:
        alias = aliases.known(template.topic)
        if alias is not None:
            return template.with_alias(alias, names_topic=False, packet_id=packet_id, dup=dup)
        alias = aliases.free
        if alias is None:
            return None
        written = template.with_alias(alias, names_topic=True, packet_id=packet_id, dup=dup)
        if not self._fits(written):
            return None
        aliases.learn(template.topic, alias)
        return written


def _terse(packet: _AnyT) -> _AnyT:
    """The packet without words about its reason."""
    bare = structs.replace(packet.properties, reason_string=None, user_properties=())
    return structs.replace(packet, properties=bare)
