"""The packets of MQTT 3.1.1 and 5.0, as frozen values.

They speak MQTT 5; what 3.1.1 lacks (properties, most reason codes) has its default there. All of
them are hidden from the garbage collector: being frozen and made of frozen parts they cannot form
a cycle, and a busy broker makes them by the million.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Literal

from ramify.mqtt.properties import (
    NEVER_EXPIRES,
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
    none_of,
)
from ramify.mqtt.reasons import Reason

QoS = Literal[0, 1, 2]
"""At most once, at least once, exactly once."""

RetainHandling = Literal[0, 1, 2]
"""Retained messages are sent at a subscribe, at a new subscription only, or never."""

NO_PUBLISH_PROPERTIES = none_of(PublishProperties)
NO_ACK_PROPERTIES = none_of(AckProperties)


class Version(IntEnum):
    """The protocol level in CONNECT."""

    V311 = 4
    V5 = 5


class Will(Value, frozen=True):
    """The message that is published when its client is gone."""

    topic: str
    payload: bytes = b""
    qos: QoS = 0
    retain: bool = False
    properties: WillProperties = none_of(WillProperties)


class Connect(Value, frozen=True):
    """A client wants to connect."""

    client_id: str
    version: Version = Version.V5
    clean_start: bool = True
    keep_alive: int = 0
    user_name: str | None = None
    password: bytes | None = None
    will: Will | None = None
    properties: ConnectProperties = none_of(ConnectProperties)

    @property
    def session_expiry(self) -> int:
        """Seconds that the session outlives the connection; in 3.1.1 a session is clean or stays."""
        if self.version is Version.V5:
            return self.properties.session_expiry
        return 0 if self.clean_start else NEVER_EXPIRES


class ConnAck(Value, frozen=True):
    """A server lets a client in, or says why not."""

    reason: Reason = Reason.SUCCESS
    session_present: bool = False
    properties: ConnAckProperties = none_of(ConnAckProperties)


class Publish(Value, frozen=True):
    """A message, to a server or from it; with QoS 0 its packet id is 0."""

    topic: str
    payload: bytes = b""
    qos: QoS = 0
    retain: bool = False
    dup: bool = False
    packet_id: int = 0
    properties: PublishProperties = NO_PUBLISH_PROPERTIES


class PubAck(Value, frozen=True):
    """A message of QoS 1 has come, or was refused."""

    packet_id: int
    reason: Reason = Reason.SUCCESS
    properties: AckProperties = NO_ACK_PROPERTIES


class PubRec(Value, frozen=True):
    """A message of QoS 2 has come, or was refused."""

    packet_id: int
    reason: Reason = Reason.SUCCESS
    properties: AckProperties = NO_ACK_PROPERTIES


class PubRel(Value, frozen=True):
    """The sender of a QoS 2 message has let go of it."""

    packet_id: int
    reason: Reason = Reason.SUCCESS
    properties: AckProperties = NO_ACK_PROPERTIES


class PubComp(Value, frozen=True):
    """A message of QoS 2 is done."""

    packet_id: int
    reason: Reason = Reason.SUCCESS
    properties: AckProperties = NO_ACK_PROPERTIES


class SubscribeRequest(Value, frozen=True):
    """One filter of a SUBSCRIBE with its options; 3.1.1 has none but the QoS."""

    filter: str
    qos: QoS = 0
    no_local: bool = False
    retain_as_published: bool = False
    retain_handling: RetainHandling = 0


class Subscribe(Value, frozen=True):
    """A client wants what some filters match."""

    packet_id: int
    requests: tuple[SubscribeRequest, ...]
    properties: SubscribeProperties = none_of(SubscribeProperties)


class SubAck(Value, frozen=True):
    """What became of each request of a SUBSCRIBE, in its order."""

    packet_id: int
    reasons: tuple[Reason, ...]
    properties: AckProperties = NO_ACK_PROPERTIES


class Unsubscribe(Value, frozen=True):
    """A client does not want any more what some filters match."""

    packet_id: int
    filters: tuple[str, ...]
    properties: UnsubscribeProperties = none_of(UnsubscribeProperties)


class UnsubAck(Value, frozen=True):
    """What became of each filter of an UNSUBSCRIBE, in its order; 3.1.1 does not tell."""

    packet_id: int
    reasons: tuple[Reason, ...] = ()
    properties: AckProperties = NO_ACK_PROPERTIES


class PingReq(Value, frozen=True):
    """A client asks whether the server is there, and says that it is."""


class PingResp(Value, frozen=True):
    """The server is there."""


class Disconnect(Value, frozen=True):
    """The last packet of either side; in 3.1.1 only a client says it, without a reason."""

    reason: Reason = Reason.NORMAL_DISCONNECTION
    properties: DisconnectProperties = none_of(DisconnectProperties)


class Auth(Value, frozen=True):
    """A step of an enhanced authentication."""

    reason: Reason = Reason.SUCCESS
    properties: AuthProperties = none_of(AuthProperties)


Ack = PubAck | PubRec | PubRel | PubComp
Packet = (
    Connect
    | ConnAck
    | Publish
    | Ack
    | Subscribe
    | SubAck
    | Unsubscribe
    | UnsubAck
    | PingReq
    | PingResp
    | Disconnect
    | Auth
)
