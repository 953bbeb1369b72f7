"""Topic names and filters as they come from the wire, judged by the rules of `ramify.patterns`."""

from __future__ import annotations

from ramify.errors import BadPacket, InvalidTopic
from ramify.model import Pattern
from ramify.mqtt import known
from ramify.mqtt.packets import Version
from ramify.mqtt.reading import text_of
from ramify.mqtt.reasons import Reason
from ramify.mqtt.writing import text
from ramify.patterns import mqtt, validate_topic

_SHARE = "$share/"


def topic_name(topic: str, clause: str = "MQTT-3.3.2-2") -> str:
    """The text, if a message can be published on it. [MQTT-3.3.2-2] [MQTT-4.7.3-1]"""
    try:
        return validate_topic(topic)
    except InvalidTopic as refusal:
        clause = clause if topic else "MQTT-4.7.3-1"
        raise BadPacket(Reason.TOPIC_NAME_INVALID, str(refusal), clause) from None


def learn_topic(raw: bytes) -> str:
    """Judge a topic that is not among the known."""
    topic = text_of(raw)
    if "+" in topic or "#" in topic or not topic:
        topic_name(topic)  # which says what is wrong
    known.remember(known.topics, raw, topic)
    return topic


def topic_bytes(topic: str) -> bytes:
    """A topic as it stands in a packet."""
    written = known.topic_bytes.get(topic)
    if written is None:
        written = text(topic)
        known.remember(known.topic_bytes, topic, written)
    return written


def is_shared(name: str, version: Version) -> bool:
    """Whether a filter names a share group; MQTT 3.1.1 knows no shares."""
    return version is Version.V5 and name.startswith(_SHARE)


def pattern_of(name: str, version: Version) -> Pattern:
    """What a filter means; one that means nothing raises `InvalidPattern`, to be answered with 0x8F."""
    return mqtt.parse(name, shares=version is Version.V5)
