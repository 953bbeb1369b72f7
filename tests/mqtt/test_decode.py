"""The decoder keeps what it has, stops at what is wrong, and never holds more than it must."""

from __future__ import annotations

import pytest

from ramify.errors import BadPacket
from ramify.mqtt import Decoder, Reason, Version, encode, known
from ramify.mqtt.packets import Connect, PingReq, Publish
from ramify.mqtt.properties import PublishProperties

PING = b"\xc0\x00"
BAD = b"\xc1\x00"


def test_packets_before_a_bad_one_are_given() -> None:
    decoder = Decoder(version=Version.V5)
    assert decoder.feed(PING + PING + BAD + PING) == [PingReq(), PingReq()]
    assert decoder.error is not None
    assert decoder.error.code == Reason.MALFORMED_PACKET


def test_feeding_on_after_a_bad_packet_raises_its_error() -> None:
    decoder = Decoder(version=Version.V5)
    decoder.feed(BAD)
    with pytest.raises(BadPacket) as again:
        decoder.feed(PING)
    assert again.value is decoder.error


def test_a_packet_that_is_too_large_is_refused_before_it_comes() -> None:
    decoder = Decoder(100, Version.V5)
    assert decoder.feed(b"\x30\x62" + bytes(20)) == []
    assert decoder.error is None
    decoder = Decoder(100, Version.V5)
    assert decoder.feed(b"\x30\x63") == []
    assert decoder.error is not None
    assert decoder.error.code == Reason.PACKET_TOO_LARGE


def test_whoever_does_not_speak_mqtt_is_refused_at_once() -> None:
    decoder = Decoder()
    decoder.feed(b"GET / HTTP/1.1\r\n")
    assert decoder.error is not None
    assert decoder.error.clause == "MQTT-3.1.0-1"
    assert decoder.version is None


def test_a_large_packet_in_small_pieces_is_looked_at_once() -> None:
    looks = 0

    class Watched(Decoder):
        def _read_all(self, data: bytes, packets: list) -> int:  # type: ignore[type-arg]
            nonlocal looks
            looks += 1
            return super()._read_all(data, packets)

    publish = Publish("a/b", bytes(50_000))
    written, decoder = encode(publish, Version.V5), Watched(version=Version.V5)
    given_out = [packet for at in range(0, len(written), 7) for packet in decoder.feed(written[at : at + 7])]
    assert given_out == [publish]
    assert looks == 2


def test_any_buffer_can_be_fed() -> None:
    written = encode(Publish("a/b", b"x"), Version.V5)
    for buffer in (bytearray(written), memoryview(written), memoryview(bytearray(written))):
        (packet,) = Decoder(version=Version.V5).feed(buffer)
        assert packet == Publish("a/b", b"x")


def test_a_payload_does_not_change_with_the_buffer_that_it_came_in() -> None:
    buffer = bytearray(encode(Publish("a/b", b"x"), Version.V5))
    (packet,) = Decoder(version=Version.V5).feed(buffer)
    buffer[-1] = 0
    assert packet == Publish("a/b", b"x")


def test_known_topics_are_bounded() -> None:
    decoder = Decoder(version=Version.V311)
    for number in range(known.MOST + 10):
        decoder.feed(encode(Publish(f"bounded/{number}"), Version.V311))
    decoder.feed(encode(Publish("x" * 1_000), Version.V311))
    assert len(known.topics) <= known.MOST
    assert b"x" * 1_000 not in known.topics


def test_the_version_is_the_one_that_connect_names() -> None:
    for version in Version:
        decoder = Decoder()
        decoder.feed(encode(Connect("a", version), version))
        assert decoder.version is version


def test_an_error_names_its_code_and_clause() -> None:
    decoder = Decoder(version=Version.V5)
    decoder.feed(b"\x36\x05\x00\x01a\x00\x01")
    assert str(decoder.error) == "0x81: a PUBLISH of QoS 3 [MQTT-3.3.1-4]"


def test_an_error_keeps_no_frames_alive() -> None:
    decoder = Decoder(version=Version.V5)
    decoder.feed(BAD)
    assert decoder.error is not None
    assert decoder.error.__traceback__ is None


def test_many_user_properties_are_read_in_good_time() -> None:
    many = PublishProperties(user_properties=(("", ""),) * 40_000)
    (packet,) = Decoder(version=Version.V5).feed(encode(Publish("a", properties=many), Version.V5))
    assert packet == Publish("a", properties=many)


def test_properties_that_were_read_before_are_the_same_value() -> None:
    extra = PublishProperties(content_type="text/plain", user_properties=(("a", "b"),))
    written = encode(Publish("a", b"1", properties=extra), Version.V5)
    first, second = Decoder(version=Version.V5).feed(written + written)
    assert first == second == Publish("a", b"1", properties=extra)
    assert isinstance(first, Publish)
    assert isinstance(second, Publish)
    assert first.properties is second.properties


def test_properties_of_another_length_are_not_mistaken() -> None:
    """The rest of a packet that is cut short, or has a long length, is not taken for what was read before."""
    known.properties.clear()
    long = PublishProperties(user_properties=(("k", "v" * 200),))
    written = encode(Publish("a", b"payload", properties=long), Version.V5)
    for _ in range(2):
        assert Decoder(version=Version.V5).feed(written) == [Publish("a", b"payload", properties=long)]
    whole = encode(Publish("a", properties=PublishProperties(content_type="abc")), Version.V5)
    cut = bytes((whole[0], whole[1] - 1)) + whole[2:]  # the last byte is behind the packet
    for data in (whole, cut, cut[:-1]):
        decoder = Decoder(version=Version.V5)
        assert len(decoder.feed(data)) == (data is whole)
        assert (decoder.error is None) is (data is whole)
