"""Another codec of MQTT 5 (PyPI's `mqtt5`, in Rust) reads what we write and writes what we read.

It is known to be wrong where it is more lenient than the standard (NUL and wildcards in topics, flags
and reason codes that are not checked), to panic on texts that are not UTF-8, and to refuse an AUTH of
length 0, which means success; so only packets that are right are shown to it, and not that one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mqtt5
from hypothesis import given, settings
from msgspec import structs

from ramify.mqtt import Decoder, Packet, Reason, Version, encode
from ramify.mqtt.packets import (
    Auth,
    ConnAck,
    Connect,
    Disconnect,
    PingReq,
    PingResp,
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
    UnsubscribeProperties,
    WillProperties,
)
from tests.mqtt.strategies import connects, others


def pairs(packet: Any) -> Any:
    return tuple(packet.user_properties)


def said(packet: Any) -> AckProperties:
    return AckProperties(packet.reason_str, pairs(packet))


def message(it: Any) -> tuple[Any, ...]:
    return it.message_expiry_interval, it.content_type, it.response_topic, it.correlation_data


def connect(it: Any) -> Connect:
    wishes = ConnectProperties(
        it.session_expiry_interval,
        it.receive_max,
        it.max_packet_size,
        it.topic_alias_max,
        it.request_response_info,
        it.request_problem_info,
        pairs(it),
        it.authentication_method,
        it.authentication_data,
    )
    last = it.will and will(it.will)
    return Connect(
        it.client_id, Version.V5, it.clean_start, it.keep_alive, it.username, it.password, last, wishes
    )


def will(it: Any) -> Will:
    expiry, content_type, response_topic, correlation_data = message(it)
    extra = WillProperties(
        it.will_delay_interval,
        it.payload_format_indicator,
        expiry,
        content_type,
        response_topic,
        correlation_data,
        pairs(it),
    )
    return Will(it.topic, it.payload or b"", int(it.qos), it.retain, extra)  # type: ignore[arg-type]


def connack(it: Any) -> ConnAck:
    extra = ConnAckProperties(
        it.session_expiry_interval,
        it.receive_max,
        int(it.max_qos),
        it.retain_available,
        it.max_packet_size,
        it.assigned_client_id,
        it.topic_alias_max,
        it.reason_str,
        pairs(it),
        it.wildcard_subscription_available,
        it.subscription_id_available,
        it.shared_subscription_available,
        it.server_keep_alive,
        it.response_info,
        it.server_reference,
        it.authentication_method,
        it.authentication_data,
    )
    return ConnAck(Reason(it.reason_code), it.session_present, extra)


def publish(it: Any) -> Publish:
    expiry, content_type, response_topic, correlation_data = message(it)
    extra = PublishProperties(
        it.payload_format_indicator,
        expiry,
        it.topic_alias,
        response_topic,
        correlation_data,
        pairs(it),
        tuple(it.subscription_ids),
        content_type,
    )
    flags = int(it.qos), it.retain, it.duplicate
    return Publish(it.topic, it.payload, *flags, it.packet_id or 0, extra)  # type: ignore[arg-type]


def request(it: Any) -> SubscribeRequest:
    handling = int(it.retain_handling)
    return SubscribeRequest(it.pattern, int(it.max_qos), it.no_local, it.retain_as_published, handling)  # type: ignore[arg-type]


def reasons(it: Any) -> tuple[Reason, ...]:
    return tuple(Reason(code) for code in it.reason_codes)


OURS: dict[str, Callable[[Any], Packet]] = {
    "ConnectPacket": connect,
    "ConnAckPacket": connack,
    "PublishPacket": publish,
    "PubAckPacket": lambda it: PubAck(it.packet_id, Reason(it.reason_code), said(it)),
    "PubRecPacket": lambda it: PubRec(it.packet_id, Reason(it.reason_code), said(it)),
    "PubRelPacket": lambda it: PubRel(it.packet_id, Reason(it.reason_code), said(it)),
    "PubCompPacket": lambda it: PubComp(it.packet_id, Reason(it.reason_code), said(it)),
    "SubscribePacket": lambda it: Subscribe(
        it.packet_id,
        tuple(request(each) for each in it.topic_filters),
        SubscribeProperties(it.subscription_id, pairs(it)),
    ),
    "SubAckPacket": lambda it: SubAck(it.packet_id, reasons(it), said(it)),
    "UnsubscribePacket": lambda it: Unsubscribe(
        it.packet_id, tuple(it.patterns), UnsubscribeProperties(pairs(it))
    ),
    "UnsubAckPacket": lambda it: UnsubAck(it.packet_id, reasons(it), said(it)),
    "PingReqPacket": lambda it: PingReq(),
    "PingRespPacket": lambda it: PingResp(),
    "DisconnectPacket": lambda it: Disconnect(
        Reason(it.reason_code),
        DisconnectProperties(it.session_expiry_interval, it.reason_str, pairs(it), it.server_reference),
    ),
    "AuthPacket": lambda it: Auth(
        Reason(it.reason_code),
        AuthProperties(it.authentication_method, it.authentication_data, it.reason_str, pairs(it)),
    ),
}
"""How to say a packet of theirs in our words."""


def in_their_words(packet: Packet) -> Packet:
    """The packet as they can say it: to them no payload format is the same as 0."""
    if isinstance(packet, Connect) and packet.will:
        return structs.replace(packet, will=in_their_words_too(packet.will))
    return in_their_words_too(packet) if isinstance(packet, Publish) else packet


def in_their_words_too(packet: Any) -> Any:
    extra = structs.replace(packet.properties, payload_format=packet.properties.payload_format or 0)
    return structs.replace(packet, properties=extra)


def check(packet: Packet, version: Version | None) -> None:
    data = encode(packet, Version.V5)
    theirs, size = mqtt5.read(memoryview(data))
    assert size == len(data)
    assert OURS[type(theirs).__name__](theirs) == in_their_words(packet)
    (back,) = Decoder(version=version).feed(theirs.write())
    assert in_their_words(back) == in_their_words(packet)


@settings(max_examples=300)
@given(others(Version.V5).filter(lambda packet: packet != Auth()))
def test_another_codec_understands_us_and_we_understand_it(packet: Packet) -> None:
    check(packet, Version.V5)


@given(connects(Version.V5))
def test_another_codec_reads_our_connect_and_we_read_its(packet: Connect) -> None:
    check(packet, None)
