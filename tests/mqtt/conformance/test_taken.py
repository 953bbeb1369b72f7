"""What the standard allows is taken: packets written by hand, and what they mean."""

from __future__ import annotations

import pytest

from ramify.mqtt import Decoder, Packet, Reason, Version, encode
from ramify.mqtt.packets import (
    Auth,
    ConnAck,
    Connect,
    Disconnect,
    PingReq,
    PubAck,
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
    KINDS,
    AckProperties,
    AuthProperties,
    ConnAckProperties,
    ConnectProperties,
    DisconnectProperties,
    PublishProperties,
    SubscribeProperties,
    UnsubscribeProperties,
    Value,
    WillProperties,
    rows_of,
)
from ramify.mqtt.reasons import ALLOWED
from tests.mqtt.conformance.raw import V5, V311, connect, hexed, packet, text

USER = (("a", "1"), ("a", "2"))

SAME_BOTH_WAYS: list[tuple[Version | None, str, Packet]] = [
    # The CONNECT of the standard's own example, as it were: all flags, in order. [MQTT-3.1.3-1]
    (
        None,
        "10 26 0004 4D515454 04 CE 000A 0001 63 0006 622F77696C6C 0003 6F6666 0004 75736572 0004 70617373",
        Connect("c", V311, True, 10, "user", b"pass", Will("b/will", b"off", 1)),
    ),
    (None, "10 0C 0004 4D515454 04 02 0000 0000", Connect("", V311)),
    (None, "10 0D 0004 4D515454 05 00 003C 00 0000", Connect("", V5, False, 60)),
    # In MQTT 5 a password may come without a user name.
    (None, "10 11 0004 4D515454 05 42 0000 00 0001 63 0001 70", Connect("c", password=b"p")),
    # [MQTT-3.1.2-9] A will with everything of its own.
    (
        None,
        "10 27 0004 4D515454 05 36 0000 05 11 FFFFFFFF 0001 63"
        "0C 18 00000005 01 01 02 0000000A 0001 77 0002 6869",
        Connect(
            "c",
            will=Will("w", b"hi", 2, True, WillProperties(5, 1, 10)),
            properties=ConnectProperties(session_expiry=0xFFFF_FFFF),
        ),
    ),
    (V311, "20 02 01 00", ConnAck(session_present=True)),
    (V311, "20 02 00 05", ConnAck(Reason.NOT_AUTHORIZED)),
    (V5, "20 03 00 8C 00", ConnAck(Reason.BAD_AUTHENTICATION_METHOD)),
    (
        V5,
        "20 09 00 00 06 21 000A 22 0005",
        ConnAck(properties=ConnAckProperties(receive_maximum=10, topic_alias_maximum=5)),
    ),
    # [MQTT-2.2.1-2] QoS 0 has no packet id.
    (V311, "30 05 0003 612F62", Publish("a/b")),
    (V5, "31 07 0003 612F62 00 78", Publish("a/b", b"x", retain=True)),
    (V311, "3D 08 0003 612F62 000A 78", Publish("a/b", b"x", 2, True, True, 10)),
    (V5, "32 08 0003 612F62 000A 00", Publish("a/b", qos=1, packet_id=10)),
    # [MQTT-1.5.4-3] A byte-order mark is kept.
    (V5, "30 07 0004 EFBBBF61 00", Publish("\ufeffa")),
    # [MQTT-3.3.2-17] [MQTT-3.3.2-18] User properties keep their order, and names that come back.
    (
        V5,
        "30 12 0001 61 0E 26 0001 61 0001 31 26 0001 61 0001 32",
        Publish("a", properties=PublishProperties(user_properties=USER)),
    ),
    # [MQTT-3.3.2-4] A payload format of 0 is not the same as none.
    (V5, "30 06 0001 61 02 01 00", Publish("a", properties=PublishProperties(payload_format=0))),
    # [MQTT-3.3.2-12] An alias in place of a topic.
    (V5, "30 06 0000 03 23 0007", Publish("", properties=PublishProperties(topic_alias=7))),
    # [MQTT-3.3.4-3] Several subscription ids, the largest of four bytes.
    (
        V5,
        "30 0B 0001 61 07 0B 01 0B FFFFFF7F",
        Publish("a", properties=PublishProperties(subscription_ids=(1, 268_435_455))),
    ),
    (V5, "40 02 0007", PubAck(7)),
    (V5, "40 03 0007 10", PubAck(7, Reason.NO_MATCHING_SUBSCRIBERS)),
    (V5, "50 08 0007 97 04 1F 0001 71", PubRec(7, Reason.QUOTA_EXCEEDED, AckProperties("q"))),
    (V311, "62 02 0007", PubRel(7)),
    (V5, "62 03 0007 92", PubRel(7, Reason.PACKET_ID_NOT_FOUND)),
    (V311, "82 09 0001 0001 61 02 0000 00", Subscribe(1, (SubscribeRequest("a", 2), SubscribeRequest("")))),
    (
        V5,
        "82 0A 0001 03 0B 8001 0001 61 2D",
        Subscribe(1, (SubscribeRequest("a", 1, True, True, 2),), SubscribeProperties(128)),
    ),
    # [MQTT-3.9.3-1] [MQTT-3.11.3-1] A code for each, in order.
    (V5, "90 05 0001 00 01 8F", SubAck(1, (Reason.GRANTED_QOS_1, Reason.TOPIC_FILTER_INVALID))),
    (V311, "90 04 0001 02 80", SubAck(1, (Reason.GRANTED_QOS_2, Reason.UNSPECIFIED_ERROR))),
    (V5, "A2 06 0001 00 0001 61", Unsubscribe(1, ("a",))),
    (V311, "B0 02 0001", UnsubAck(1)),
    (V5, "B0 05 0001 00 00 11", UnsubAck(1, (Reason.SUCCESS, Reason.NO_SUBSCRIPTION_EXISTED))),
    (V5, "C0 00", PingReq()),
    (V5, "E0 00", Disconnect()),
    (V5, "E0 01 04", Disconnect(Reason.DISCONNECT_WITH_WILL)),
    (V5, "E0 07 00 05 11 00000000", Disconnect(properties=DisconnectProperties(session_expiry=0))),
    (V5, "F0 06 18 04 15 0001 6D", Auth(Reason.CONTINUE_AUTHENTICATION, AuthProperties("m"))),
]


@pytest.mark.parametrize(
    ("version", "written", "meant"), SAME_BOTH_WAYS, ids=lambda part: part if isinstance(part, str) else None
)
def test_bytes_mean_a_packet_and_a_packet_makes_these_bytes(
    version: Version | None, written: str, meant: Packet
) -> None:
    data = hexed(written)
    decoder = Decoder(version=version)
    assert decoder.feed(data) == [meant], decoder.error
    assert decoder.version is not None
    assert encode(meant, decoder.version) == data


READ_ONLY: list[tuple[Version | None, bytes, Packet]] = [
    # 3.1.1 does not ask for the shortest length.
    (V311, hexed("30 8300 0001 61"), Publish("a")),
    (None, hexed("10 8D00 0004 4D515454 04 02 0000 0001 63"), Connect("c", V311)),
    # What could be left out may be said. [MQTT-2.2.2-1]
    (V5, hexed("40 04 0007 00 00"), PubAck(7)),
    (V5, hexed("E0 02 00 00"), Disconnect()),
    (None, connect(properties=hexed("21 FFFF 17 01 19 00 11 00000000")), Connect("c")),
    # [MQTT-3.1.3-5] A client id of 23 letters, and one of many more.
    (None, connect(5, 2, text("0123456789abcdefghijABC")), Connect("0123456789abcdefghijABC")),
    (None, connect(4, 2, text("é/+#" * 1_000)), Connect("é/+#" * 1_000, V311)),
    # A filter that means nothing is answered in SUBACK, and is not the codec's to refuse.
    (V5, packet(0x82, hexed("0001 00"), text("a+"), b"\0"), Subscribe(1, (SubscribeRequest("a+"),))),
    # In 3.1.1 nothing is shared.
    (
        V311,
        packet(0x82, hexed("0001"), text("$share/g/a"), b"\0"),
        Subscribe(1, (SubscribeRequest("$share/g/a"),)),
    ),
]


@pytest.mark.parametrize(("version", "data", "meant"), READ_ONLY, ids=lambda part: None)
def test_what_may_be_said_otherwise_is_taken(version: Version | None, data: bytes, meant: Packet) -> None:
    decoder = Decoder(version=version)
    assert decoder.feed(data) == [meant], decoder.error


@pytest.mark.parametrize("size", [127, 128, 16_383, 16_384, 2_097_151, 2_097_152])
def test_lengths_take_as_few_bytes_as_they_need(size: int) -> None:
    """[MQTT-1.5.5-1]"""
    publish = Publish("a", bytes(size - 4))
    written = encode(publish, V5)
    assert len(written) - size - 1 == next(n for n in (1, 2, 3, 4) if size < 1 << 7 * n)
    assert Decoder(version=V5).feed(written) == [publish]


def test_a_level_that_is_not_spoken_is_answered_in_the_nearest_version() -> None:
    """[MQTT-3.1.2-2]"""
    for level, version in ((3, V311), (0, V311), (6, V5), (0x84, V311), (0x85, V5)):
        decoder = Decoder()
        decoder.feed(connect(level))
        assert decoder.version is version


ALLOWED_PROPERTIES: dict[type[Value], str] = {
    ConnectProperties: "11 15 16 17 19 21 22 26 27",
    WillProperties: "01 02 03 08 09 18 26",
    ConnAckProperties: "11 12 13 15 16 1A 1C 1F 21 22 24 25 26 27 28 29 2A",
    PublishProperties: "01 02 03 08 09 0B 23 26",
    AckProperties: "1F 26",
    SubscribeProperties: "0B 26",
    UnsubscribeProperties: "26",
    DisconnectProperties: "11 1C 1F 26",
    AuthProperties: "15 16 1F 26",
}
"""The standard's table of properties, by packet."""


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_each_packet_carries_the_properties_of_the_standards_table(kind: type[Value]) -> None:
    assert " ".join(sorted(f"{row.id:02X}" for row in rows_of(kind))) == ALLOWED_PROPERTIES[kind]


@pytest.mark.parametrize("code", range(256))
def test_each_packet_carries_the_reasons_of_the_standards_table(code: int) -> None:
    """[MQTT-3.4.2-1] [MQTT-3.5.2-1] [MQTT-3.6.2-1] [MQTT-3.7.2-1]"""
    for name, first in (("PUBACK", 0x40), ("PUBREC", 0x50), ("PUBREL", 0x62), ("PUBCOMP", 0x70)):
        decoder = Decoder(version=V5)
        taken = decoder.feed(packet(first, hexed("0001"), bytes((code,))))
        assert bool(taken) is (code in ALLOWED[name])
