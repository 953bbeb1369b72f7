"""Whatever comes over the wire, out come packets or a `BadPacket`, and every answer is right itself."""

from __future__ import annotations

from random import Random, SystemRandom

import pytest

from ramify.errors import BadPacket
from ramify.mqtt import Closed, Connection, Decoder, Limits, Packet, PublishTemplate, Reason, Version, encode
from ramify.mqtt.packets import (
    Auth,
    ConnAck,
    Connect,
    Disconnect,
    PingReq,
    PubAck,
    PubComp,
    Publish,
    PubRec,
    PubRel,
    SubAck,
    Subscribe,
    SubscribeRequest,
    UnsubAck,
    Unsubscribe,
    Will,
)
from ramify.mqtt.properties import (
    AckProperties,
    AuthProperties,
    ConnAckProperties,
    ConnectProperties,
    DisconnectProperties,
    PublishProperties,
    SubscribeProperties,
    WillProperties,
)

INPUTS = 100_000
LARGEST = 10_000

USER = (("a", "1"), ("é", ""))
WILL = Will("w/ill", b"gone", 1, True, WillProperties(3, 1, 10, "text", "re/ply", b"\x00\x01", USER))
WISHES = ConnectProperties(100, 3, 500, 2, True, False, USER)
EVERYTHING = PublishProperties(1, 10, None, "re/ply", b"\x00\xff", USER, content_type="text")

FROM_CLIENTS: list[Packet] = [
    Publish("a/b", b"payload"),
    Publish("a/b", b"payload", 1, True, False, 7),
    Publish("é/$", b"", 2, False, True, 8, EVERYTHING),
    Publish("al/ias", b"x", properties=PublishProperties(topic_alias=2)),
    PubAck(7),
    PubRec(8, Reason.QUOTA_EXCEEDED, AckProperties("full", USER)),
    PubRel(8),
    PubComp(8, Reason.PACKET_ID_NOT_FOUND, AckProperties("gone")),
    Subscribe(
        1,
        (SubscribeRequest("a/+", 1, True, True, 2), SubscribeRequest("$share/g/#", 2)),
        SubscribeProperties(200, USER),
    ),
    Unsubscribe(2, ("a/+", "b")),
    PingReq(),
    Disconnect(Reason.DISCONNECT_WITH_WILL, DisconnectProperties(5, "bye", USER)),
]
FROM_SERVERS: list[Packet] = [
    ConnAck(
        Reason.SUCCESS,
        True,
        ConnAckProperties(1, 2, 1, False, 3, "id", 4, "ok", USER, False, False, False, 5),
    ),
    SubAck(1, (Reason.GRANTED_QOS_1, Reason.NOT_AUTHORIZED), AckProperties("no", USER)),
    UnsubAck(2, (Reason.SUCCESS, Reason.NO_SUBSCRIPTION_EXISTED)),
    Auth(Reason.CONTINUE_AUTHENTICATION, AuthProperties("m", b"data", "why", USER)),
    Publish("a", b"x", properties=PublishProperties(subscription_ids=(1, 200_000))),
]


def connects(version: Version) -> list[Connect]:
    if version is Version.V5:
        return [Connect("c"), Connect("", version, False, 60, "user", b"pass", WILL, WISHES)]
    return [Connect("c", version), Connect("c", version, False, 60, "user", b"pass", Will("w", b"x", 2))]


def written(packets: list[Packet], version: Version) -> list[bytes]:
    return [
        encode(packet, version) for packet in packets if version is Version.V5 or not isinstance(packet, Auth)
    ]


def mutated(random: Random, data: bytes) -> bytes:
    """The bytes with one to four small accidents."""
    changed = bytearray(data)
    for _ in range(random.randint(1, 4)):
        at = random.randrange(len(changed) + 1)
        match random.randrange(6):
            case 0 if at < len(changed):
                changed[at] ^= 1 << random.randrange(8)
            case 1 if at < len(changed):
                changed[at] = random.choice((0, 1, 0x7F, 0x80, 0xFF, random.randrange(256)))
            case 2:
                del changed[at : at + random.randint(1, 4)]
            case 3:
                changed[at:at] = random.randbytes(random.randint(1, 4))
            case 4:
                start = random.randrange(len(changed) + 1)
                changed[at:at] = changed[start : start + random.randint(1, 40)]
            case 5:
                del changed[at:]
    return bytes(changed)


def fed(decoder: Decoder, data: bytes, random: Random) -> list[Packet]:
    cut = random.randrange(len(data) + 1)
    packets = decoder.feed(data[:cut])
    return packets if decoder.error is not None else packets + decoder.feed(data[cut:])


def check_decoder(data: bytes, version: Version, random: Random) -> None:
    """What is read can be written, and is read again as the same."""
    packets = fed(Decoder(LARGEST, version), data, random)
    again = Decoder(version=version)
    assert again.feed(b"".join(encode(packet, version) for packet in packets)) == packets


def check_connection(data: bytes, version: Version) -> bool:
    """Talk to a connection as a broker would; what it says must be right. Says whether it was let in."""
    connection = Connection(Limits(LARGEST, receive_maximum=3, send_maximum=2), now=0.0)
    inputs = connection.receive(data, 1.0)
    was_let_in = connection.is_deciding
    inputs += connection.accept(2.0, session_present=False)
    version = connection.version or version
    for packet in inputs:
        if isinstance(packet, Publish) and packet.qos:
            connection.send(PubAck(packet.packet_id) if packet.qos == 1 else PubRec(packet.packet_id))
            connection.deliver(PublishTemplate(packet, version), 1)
    connection.expire(1_000_000.0)
    assert any(isinstance(packet, Closed) for packet in inputs) <= connection.is_closed
    client = Decoder(version=version)
    client.feed(connection.take_output())
    assert client.error is None
    return was_let_in


@pytest.mark.parametrize("version", list(Version))
def test_mutated_streams_give_packets_or_bad_packets(version: Version) -> None:
    seed = SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    random = Random(seed)
    said = written(FROM_CLIENTS + FROM_SERVERS, version)
    hellos = written(list(connects(version)), version)
    let_in = 0
    for turn in range(INPUTS // 2):
        packets = random.sample(said, random.randint(1, 3))
        if turn % 2:
            check_decoder(mutated(random, b"".join(packets)), version, random)
        else:
            hello = random.choice(hellos)
            spoiled = mutated(random, b"".join([hello, *packets]))
            let_in += check_connection(hello + mutated(random, packets[0]) if turn % 4 else spoiled, version)
    assert let_in > INPUTS // 16


def test_noise_gives_packets_or_bad_packets() -> None:
    seed = SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    random = Random(seed)
    for _ in range(5_000):
        check_decoder(random.randbytes(random.randint(0, 60)), random.choice(list(Version)), random)


def test_a_bad_packet_is_the_peers_fault() -> None:
    decoder = Decoder()
    decoder.feed(b"\x00\x00")
    with pytest.raises(BadPacket):
        decoder.feed(b"")
