"""The properties of MQTT 5's packets: one frozen value for each kind of packet that carries some.

A packet may carry exactly the properties that its value has members for. A member that is a tuple
may stand in the packet many times, any other once. Absent properties have the standard's default
where there is one, and are `None` otherwise; what equals the default is not written.
"""

from __future__ import annotations

from enum import Enum
from typing import TypeVar

from msgspec import Struct, structs

from ramify.mqtt.reasons import Reason

Pairs = tuple[tuple[str, str], ...]
"""User properties: in order, and a name may come back."""

NEVER_EXPIRES = 0xFFFF_FFFF
"""The session expiry of a session that stays."""


class Value(Struct, frozen=True, gc=False, repr_omit_defaults=True):
    """A frozen value made of frozen values, which the garbage collector need not look at."""


class ConnectProperties(Value, frozen=True):
    """What a client asks for when it connects."""

    session_expiry: int = 0
    receive_maximum: int = 65_535
    maximum_packet_size: int | None = None
    topic_alias_maximum: int = 0
    request_response_information: bool = False
    request_problem_information: bool = True
    user_properties: Pairs = ()
    authentication_method: str | None = None
    authentication_data: bytes | None = None


class WillProperties(Value, frozen=True):
    """What goes with a will."""

    will_delay: int = 0
    payload_format: int | None = None
    message_expiry: int | None = None
    content_type: str | None = None
    response_topic: str | None = None
    correlation_data: bytes | None = None
    user_properties: Pairs = ()


class ConnAckProperties(Value, frozen=True):
    """What a server offers, and what it decided for the client."""

    session_expiry: int | None = None
    receive_maximum: int = 65_535
    maximum_qos: int = 2
    retain_available: bool = True
    maximum_packet_size: int | None = None
    assigned_client_id: str | None = None
    topic_alias_maximum: int = 0
    reason_string: str | None = None
    user_properties: Pairs = ()
    wildcard_subscription_available: bool = True
    subscription_ids_available: bool = True
    shared_subscription_available: bool = True
    server_keep_alive: int | None = None
    response_information: str | None = None
    server_reference: str | None = None
    authentication_method: str | None = None
    authentication_data: bytes | None = None


class PublishProperties(Value, frozen=True):
    """What goes with a message."""

    payload_format: int | None = None
    message_expiry: int | None = None
    topic_alias: int | None = None
    response_topic: str | None = None
    correlation_data: bytes | None = None
    user_properties: Pairs = ()
    subscription_ids: tuple[int, ...] = ()
    content_type: str | None = None


class AckProperties(Value, frozen=True):
    """What goes with PUBACK, PUBREC, PUBREL, PUBCOMP, SUBACK and UNSUBACK."""

    reason_string: str | None = None
    user_properties: Pairs = ()


class SubscribeProperties(Value, frozen=True):
    """What goes with a SUBSCRIBE."""

    subscription_id: int | None = None
    user_properties: Pairs = ()


class UnsubscribeProperties(Value, frozen=True):
    """What goes with an UNSUBSCRIBE."""

    user_properties: Pairs = ()


class DisconnectProperties(Value, frozen=True):
    """What goes with a DISCONNECT; without a session expiry the one of CONNECT stays."""

    session_expiry: int | None = None
    reason_string: str | None = None
    user_properties: Pairs = ()
    server_reference: str | None = None


class AuthProperties(Value, frozen=True):
    """What goes with an AUTH."""

    authentication_method: str | None = None
    authentication_data: bytes | None = None
    reason_string: str | None = None
    user_properties: Pairs = ()


class Kind(Enum):
    """How a property's value stands in the bytes."""

    BYTE = "byte"
    FLAG = "byte, 0 or 1, that is read as a truth"
    TWO_BYTES = "two byte integer"
    FOUR_BYTES = "four byte integer"
    VARINT = "variable byte integer"
    TEXT = "UTF-8 encoded string"
    BINARY = "binary data"
    PAIR = "UTF-8 string pair"


class Property(Struct, frozen=True):
    """One row of the standard's table of properties, with the values that are not allowed."""

    id: int
    name: str
    kind: Kind
    least: int | None = None
    most: int | None = None
    refusal: Reason = Reason.PROTOCOL_ERROR
    repeats: bool = False


PROPERTIES = (
    Property(0x01, "payload_format", Kind.BYTE, most=1),
    Property(0x02, "message_expiry", Kind.FOUR_BYTES),
    Property(0x03, "content_type", Kind.TEXT),
    Property(0x08, "response_topic", Kind.TEXT),
    Property(0x09, "correlation_data", Kind.BINARY),
    Property(0x0B, "subscription_id", Kind.VARINT, least=1),
    Property(0x0B, "subscription_ids", Kind.VARINT, least=1, repeats=True),
    Property(0x11, "session_expiry", Kind.FOUR_BYTES),
    Property(0x12, "assigned_client_id", Kind.TEXT),
    Property(0x13, "server_keep_alive", Kind.TWO_BYTES),
    Property(0x15, "authentication_method", Kind.TEXT),
    Property(0x16, "authentication_data", Kind.BINARY),
    Property(0x17, "request_problem_information", Kind.FLAG, most=1),
    Property(0x18, "will_delay", Kind.FOUR_BYTES),
    Property(0x19, "request_response_information", Kind.FLAG, most=1),
    Property(0x1A, "response_information", Kind.TEXT),
    Property(0x1C, "server_reference", Kind.TEXT),
    Property(0x1F, "reason_string", Kind.TEXT),
    Property(0x21, "receive_maximum", Kind.TWO_BYTES, least=1),
    Property(0x22, "topic_alias_maximum", Kind.TWO_BYTES),
    # [MQTT-3.3.2-8]
    Property(0x23, "topic_alias", Kind.TWO_BYTES, least=1, refusal=Reason.TOPIC_ALIAS_INVALID),
    Property(0x24, "maximum_qos", Kind.BYTE, most=1),
    Property(0x25, "retain_available", Kind.FLAG, most=1),
    Property(0x26, "user_properties", Kind.PAIR, repeats=True),
    Property(0x27, "maximum_packet_size", Kind.FOUR_BYTES, least=1),
    Property(0x28, "wildcard_subscription_available", Kind.FLAG, most=1),
    Property(0x29, "subscription_ids_available", Kind.FLAG, most=1),
    Property(0x2A, "shared_subscription_available", Kind.FLAG, most=1),
)

PropertiesT = TypeVar(
    "PropertiesT",
    ConnectProperties,
    WillProperties,
    ConnAckProperties,
    PublishProperties,
    AckProperties,
    SubscribeProperties,
    UnsubscribeProperties,
    DisconnectProperties,
    AuthProperties,
)

_BY_NAME = {row.name: row for row in PROPERTIES}


def rows_of(properties: type[Value]) -> list[Property]:
    """The rows of the properties that a kind of packet may carry, in the order of its members."""
    return [_BY_NAME[name] for name in properties.__struct_fields__]


def defaults_of(properties: type[Value]) -> dict[str, object]:
    """What each property is if it is absent."""
    return {field.name: field.default for field in structs.fields(properties)}


KINDS: tuple[type[Value], ...] = (
    ConnectProperties,
    WillProperties,
    ConnAckProperties,
    PublishProperties,
    AckProperties,
    SubscribeProperties,
    UnsubscribeProperties,
    DisconnectProperties,
    AuthProperties,
)
"""Every kind of packet's properties."""

_NONE: dict[type[Value], Value] = {kind: kind() for kind in KINDS}


def none_of(kind: type[PropertiesT]) -> PropertiesT:
    """The one value without any property, so that identity tells quickly that there are none."""
    return _NONE[kind]  # type: ignore[return-value]
