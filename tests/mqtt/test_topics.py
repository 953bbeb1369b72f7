"""Topics and filters from the wire are judged as the tables of truth say."""

from __future__ import annotations

import pytest

from ramify.errors import InvalidPattern
from ramify.mqtt import Decoder, Reason, Version, encode, pattern_of
from ramify.mqtt.packets import Publish, Subscribe, SubscribeRequest
from ramify.mqtt.writing import binary
from tests.cases import load
from tests.cases.load import BytesCase, ShareCase, TopicCase, ValidCase


def published(topic: bytes, version: Version) -> Decoder:
    body = binary(topic) + (b"\0" if version is Version.V5 else b"")
    decoder = Decoder(version=version)
    decoder.feed(bytes((0x30, len(body))) + body)
    return decoder


@pytest.mark.parametrize("version", list(Version))
@pytest.mark.parametrize("case", load.mqtt_topic_valid(), ids=lambda case: repr(case.topic))
def test_a_topic_is_taken_as_the_table_says(case: TopicCase, version: Version) -> None:
    for _ in range(2):  # a topic that is known by then is judged the same
        error = published(case.topic.encode(), version).error
        assert (error is None) is case.valid
        assert error is None or error.code in (Reason.TOPIC_NAME_INVALID, Reason.MALFORMED_PACKET)


def is_pattern(text: str, version: Version) -> bool:
    try:
        pattern_of(text, version)
    except InvalidPattern:
        return False
    return True


@pytest.mark.parametrize("case", load.mqtt_valid(), ids=lambda case: case.pattern)
def test_a_filter_means_something_as_the_table_says(case: ValidCase) -> None:
    assert is_pattern(case.pattern, Version.V5) is case.valid
    assert is_pattern(case.pattern, Version.V311) is case.valid_v311


@pytest.mark.parametrize("case", load.mqtt_valid_hex(), ids=lambda case: case.pattern.hex())
def test_bytes_are_a_filter_as_the_table_says(case: BytesCase) -> None:
    body = b"\x00\x01\x00" + binary(case.pattern) + b"\x00"
    decoder = Decoder(version=Version.V5)
    packets = decoder.feed(bytes((0x82, len(body))) + body)
    if case.valid:
        assert packets == [Subscribe(1, (SubscribeRequest(case.pattern.decode()),))]
    else:
        assert decoder.error is not None
        assert decoder.error.code == Reason.MALFORMED_PACKET


@pytest.mark.parametrize("case", load.mqtt_share(), ids=lambda case: case.pattern)
def test_a_share_takes_no_local_from_nobody(case: ShareCase) -> None:
    written = encode(Subscribe(1, (SubscribeRequest(case.pattern, no_local=True),)), Version.V5)
    decoder = Decoder(version=Version.V5)
    decoder.feed(written)
    assert (decoder.error is not None) is (case.group is not None)


def test_the_longest_topic_is_taken() -> None:
    """[MQTT-4.7.3-3]"""
    (packet,) = Decoder(version=Version.V5).feed(encode(Publish("é" * 32_767 + "a"), Version.V5))
    assert isinstance(packet, Publish)
    assert len(packet.topic) == 32_768
