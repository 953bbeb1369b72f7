"""Between MQTT's packets and the broker's values: the same things, in other words."""

from __future__ import annotations

from math import inf
from typing import cast

from ramify.broker import Event, Extras, Farewell, Outcome, Terms, Will
from ramify.mqtt import Reason, Version
from ramify.mqtt.packets import NO_PUBLISH_PROPERTIES, Connect, Publish, QoS
from ramify.mqtt.packets import Will as WillPacket
from ramify.mqtt.properties import NEVER_EXPIRES, PublishProperties, WillProperties

# ── outcomes ──────────────────────────────────────────────────────────────────────────────

TO_CONNACK: dict[Outcome, Reason] = {
    Outcome.NOT_AUTHORIZED: Reason.NOT_AUTHORIZED,
    Outcome.QUOTA_EXCEEDED: Reason.QUOTA_EXCEEDED,
}
TO_PUBACK: dict[Outcome, Reason] = {
    Outcome.SUCCESS: Reason.SUCCESS,
    Outcome.NO_MATCH: Reason.NO_MATCHING_SUBSCRIBERS,
    Outcome.NOT_AUTHORIZED: Reason.NOT_AUTHORIZED,
    Outcome.QUOTA_EXCEEDED: Reason.QUOTA_EXCEEDED,
    Outcome.INVALID_TOPIC: Reason.TOPIC_NAME_INVALID,
    Outcome.INVALID_OPTION: Reason.IMPLEMENTATION_SPECIFIC_ERROR,
}
"""For PUBACK and PUBREC."""
TO_SUBACK: dict[Outcome, Reason] = {
    Outcome.NOT_AUTHORIZED: Reason.NOT_AUTHORIZED,
    Outcome.QUOTA_EXCEEDED: Reason.QUOTA_EXCEEDED,
    Outcome.INVALID_PATTERN: Reason.TOPIC_FILTER_INVALID,
    Outcome.INVALID_CRITERIA: Reason.UNSPECIFIED_ERROR,
    Outcome.INVALID_OPTION: Reason.IMPLEMENTATION_SPECIFIC_ERROR,
}
TO_UNSUBACK: dict[Outcome, Reason] = {
    Outcome.SUCCESS: Reason.SUCCESS,
    Outcome.NOT_SUBSCRIBED: Reason.NO_SUBSCRIPTION_EXISTED,
}
TO_DISCONNECT: dict[Farewell, Reason] = {
    Farewell.TAKEN_OVER: Reason.SESSION_TAKEN_OVER,
    Farewell.TOO_SLOW: Reason.QUOTA_EXCEEDED,
    Farewell.DISMISSED: Reason.ADMINISTRATIVE_ACTION,
}
GRANTED = (Reason.GRANTED_QOS_0, Reason.GRANTED_QOS_1, Reason.GRANTED_QOS_2)

# ── from packets ──────────────────────────────────────────────────────────────────────────


def seconds_of(expiry: int) -> float:
    """An expiry as the broker counts it."""
    return inf if expiry == NEVER_EXPIRES else float(expiry)


def terms_of(connect: Connect, client: str, send_maximum: int) -> Terms:
    """What a CONNECT asks of its session."""
    window = min(connect.properties.receive_maximum, send_maximum)
    expiry = seconds_of(connect.session_expiry)
    return Terms(client, connect.user_name, connect.clean_start, expiry, window)


def will_of(packet: WillPacket | None, client: str) -> Will | None:
    """What a CONNECT leaves for the case that its client is lost."""
    if packet is None:
        return None
    properties = packet.properties
    event = Event(packet.topic, packet.payload, packet.qos, packet.retain, client, None, _extras(properties))
    return Will(event, float(properties.will_delay), properties.message_expiry)


def event_of(packet: Publish, client: str, now: float) -> Event:
    """What a client publishes."""
    properties = packet.properties
    if properties is NO_PUBLISH_PROPERTIES:
        return Event(packet.topic, packet.payload, packet.qos, packet.retain, client)
    expires_at = None if properties.message_expiry is None else now + properties.message_expiry
    return Event(
        packet.topic, packet.payload, packet.qos, packet.retain, client, expires_at, _extras(properties)
    )


def _extras(properties: PublishProperties | WillProperties) -> Extras | None:
    extras = Extras(
        properties.content_type,
        properties.response_topic,
        properties.correlation_data,
        None if properties.payload_format is None else bool(properties.payload_format),
        properties.user_properties,
    )
    return None if extras == _NO_EXTRAS else extras


_NO_EXTRAS = Extras()

# ── to packets ────────────────────────────────────────────────────────────────────────────


def publish_of(
    event: Event, quality: int, retain: bool, identifiers: tuple[int, ...], version: Version, now: float
) -> Publish:
    """What a subscriber gets, but for its packet id; MQTT 3.1.1 has no words for properties."""
    qos = cast("QoS", quality)
    if version is Version.V311 or (event.extras is None and event.expires_at is None and not identifiers):
        return Publish(event.topic, event.payload, qos, retain)
    extras = event.extras or _NO_EXTRAS
    properties = PublishProperties(
        payload_format=None if extras.is_text is None else int(extras.is_text),
        # [MQTT-3.3.2-6] What is left of it; what was sent once is sent again even if nothing is.
        message_expiry=None if event.expires_at is None else max(1, round(event.expires_at - now)),
        response_topic=extras.response_topic,
        correlation_data=extras.correlation,
        user_properties=extras.user_properties,
        subscription_ids=identifiers,
        content_type=extras.content_type,
    )
    return Publish(event.topic, event.payload, qos, retain, properties=properties)
