"""Every packet survives being written and read, in both versions, however its bytes are cut."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ramify.errors import InvalidPacket
from ramify.mqtt import Decoder, Packet, PublishTemplate, Version, encode
from ramify.mqtt.packets import Auth, ConnAck, Connect, PubAck, Publish, SubAck
from ramify.mqtt.properties import PublishProperties
from ramify.mqtt.reasons import Reason
from tests.mqtt.strategies import BYTES, IDS, QOS, TOPICS, connects, others, properties

BOTH = pytest.mark.parametrize("version", list(Version))


def decoded(data: bytes, version: Version | None = None) -> list[Packet]:
    decoder = Decoder(version=version)
    packets = decoder.feed(data)
    if decoder.error is not None:
        raise decoder.error
    return packets


@BOTH
@settings(max_examples=300)
@given(data=st.data())
def test_every_packet_is_read_as_it_was_written(version: Version, data: st.DataObject) -> None:
    packet = data.draw(others(version))
    assert decoded(encode(packet, version), version) == [packet]


@BOTH
@given(data=st.data())
def test_every_connect_is_read_as_it_was_written(version: Version, data: st.DataObject) -> None:
    connect = data.draw(connects(version))
    assert decoded(encode(connect, version)) == [connect]


@BOTH
@given(data=st.data())
def test_a_stream_gives_the_same_packets_wherever_it_is_cut(version: Version, data: st.DataObject) -> None:
    packets = [data.draw(connects(version)), *data.draw(st.lists(others(version), max_size=6))]
    stream = b"".join(encode(packet, version) for packet in packets)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(stream)), max_size=8)))
    decoder, given_out = Decoder(), []
    for start, stop in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        given_out += decoder.feed(stream[start:stop])
    assert given_out == packets


@BOTH
@settings(max_examples=30)
@given(data=st.data())
def test_a_stream_can_come_byte_by_byte(version: Version, data: st.DataObject) -> None:
    packets = [data.draw(connects(version)), *data.draw(st.lists(others(version), max_size=4))]
    stream = b"".join(encode(packet, version) for packet in packets)
    decoder, given_out = Decoder(), []
    for at in range(len(stream)):
        given_out += decoder.feed(stream[at : at + 1])
    assert given_out == packets


@BOTH
@given(data=st.data())
def test_a_packet_that_is_cut_short_is_never_given_out(version: Version, data: st.DataObject) -> None:
    written = encode(data.draw(others(version)), version)
    cut = data.draw(st.integers(0, len(written) - 1))
    decoder = Decoder(version=version)
    assert decoder.feed(written[:cut]) == []
    assert decoder.error is None


@BOTH
@given(data=st.data(), dup=st.booleans(), packet_id=IDS)
def test_a_template_writes_what_the_encoder_writes(
    version: Version, data: st.DataObject, dup: bool, packet_id: int
) -> None:
    extra = data.draw(properties(PublishProperties))
    qos = data.draw(QOS)
    publish = Publish(data.draw(TOPICS), data.draw(BYTES), qos, data.draw(st.booleans()), properties=extra)
    template = PublishTemplate(publish, version)
    if qos:
        number, dup_of = packet_id, dup
        written = template.with_packet_id(packet_id, dup=dup)
    else:
        number, dup_of = 0, False
        written = template.plain
    whole = Publish(publish.topic, publish.payload, qos, publish.retain, dup_of, number, extra)
    assert written == encode(whole, version)
    assert template.size == len(written)


@given(data=st.data(), alias=IDS, names_topic=st.booleans(), packet_id=IDS)
def test_a_template_can_say_an_alias(
    data: st.DataObject, alias: int, names_topic: bool, packet_id: int
) -> None:
    extra = data.draw(properties(PublishProperties).filter(lambda extra: extra.topic_alias is None))
    qos = data.draw(QOS)
    publish = Publish(data.draw(TOPICS), data.draw(BYTES), qos, properties=extra)
    written = PublishTemplate(publish, Version.V5).with_alias(
        alias, names_topic=names_topic, packet_id=packet_id
    )
    (read,) = decoded(written, Version.V5)
    assert isinstance(read, Publish)
    assert read.topic == (publish.topic if names_topic else "")
    assert (read.payload, read.qos, read.packet_id) == (publish.payload, qos, packet_id if qos else 0)
    assert read.properties.topic_alias == alias
    assert read.properties.user_properties == extra.user_properties


UNWRITABLE: list[tuple[Packet, Version]] = [
    (Publish("a", qos=1), Version.V5),
    (Publish("a", packet_id=1), Version.V5),
    (Publish("a", dup=True), Version.V311),
    (Publish("a\0"), Version.V5),
    (Publish("\ud800"), Version.V5),
    (Publish("é" * 32_768), Version.V311),
    (Publish("a", properties=PublishProperties(message_expiry=1 << 32)), Version.V5),
    (PubAck(65_536), Version.V5),
    (Connect("a", Version.V311), Version.V5),
    (Connect("a", Version.V311, password=b"x"), Version.V311),
    (ConnAck(Reason.MALFORMED_PACKET), Version.V311),
    (Auth(), Version.V311),
]


@pytest.mark.parametrize(("packet", "version"), UNWRITABLE, ids=str)
def test_what_cannot_be_said_is_refused(packet: Packet, version: Version) -> None:
    with pytest.raises(InvalidPacket):
        encode(packet, version)


def test_version_3_1_1_is_told_less() -> None:
    refused = SubAck(7, (Reason.NOT_AUTHORIZED, Reason.GRANTED_QOS_1))
    assert encode(refused, Version.V311) == bytes.fromhex("9004 0007 80 01")
    assert encode(PubAck(7, Reason.NOT_AUTHORIZED), Version.V311) == bytes.fromhex("4002 0007")
    assert encode(ConnAck(Reason.BANNED), Version.V311) == bytes.fromhex("2002 00 05")
