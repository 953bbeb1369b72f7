"""A client at the other end of a connection, for tests that talk."""

from __future__ import annotations

from typing import Any

from ramify.mqtt import Connection, Decoder, Input, Limits, Packet, PublishTemplate, Version, encode
from ramify.mqtt.packets import ConnAck, Connect, Publish


class Peer:
    """A connection, and a client that says packets to it and reads the answers."""

    def __init__(self, version: Version = Version.V5, limits: Limits | None = None) -> None:
        self.version = version
        self.connection = Connection(limits or Limits(), now=0.0)
        self._decoder = Decoder(version=version)

    def say(self, *packets: Packet, now: float = 0.0) -> list[Input]:
        """What the connection makes of the packets."""
        data = b"".join(encode(packet, self.version) for packet in packets)
        return self.connection.receive(data, now)

    def say_bytes(self, data: bytes, now: float = 0.0) -> list[Input]:
        return self.connection.receive(data, now)

    def heard(self) -> list[Packet]:
        """What the connection has to say, which is always right."""
        packets = self._decoder.feed(self.connection.take_output())
        assert self._decoder.error is None
        return packets

    def publishes(self) -> list[Publish]:
        return [packet for packet in self.heard() if isinstance(packet, Publish)]

    def deliver(self, publish: Publish, packet_id: int = 0, *, dup: bool = False) -> Any:
        template = PublishTemplate(publish, self.version)
        return self.connection.deliver(template, packet_id, dup=dup)


def connected(version: Version = Version.V5, limits: Limits | None = None, **wishes: Any) -> Peer:
    """A client that was let in."""
    peer = Peer(version, limits)
    connect = Connect("c", version, **wishes)
    assert peer.say(connect) == [connect]
    assert peer.connection.accept(0.0, session_present=False) == []
    (answer,) = peer.heard()
    assert isinstance(answer, ConnAck)
    return peer
