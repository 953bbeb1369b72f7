"""The reason codes of MQTT 5, which packets may carry each, and what MQTT 3.1.1 says instead.

Inside ramify there are only MQTT 5's codes; the codec translates for 3.1.1 at the edge.
"""

from __future__ import annotations

from enum import IntEnum

from ramify.errors import BadPacket


class Reason(IntEnum):
    """Why something was done or refused; from 0x80 on it was refused."""

    SUCCESS = 0x00
    NORMAL_DISCONNECTION = 0x00
    GRANTED_QOS_0 = 0x00
    GRANTED_QOS_1 = 0x01
    GRANTED_QOS_2 = 0x02
    DISCONNECT_WITH_WILL = 0x04
    NO_MATCHING_SUBSCRIBERS = 0x10
    NO_SUBSCRIPTION_EXISTED = 0x11
    CONTINUE_AUTHENTICATION = 0x18
    RE_AUTHENTICATE = 0x19
    UNSPECIFIED_ERROR = 0x80
    MALFORMED_PACKET = 0x81
    PROTOCOL_ERROR = 0x82
    IMPLEMENTATION_SPECIFIC_ERROR = 0x83
    UNSUPPORTED_PROTOCOL_VERSION = 0x84
    CLIENT_ID_NOT_VALID = 0x85
    BAD_USER_NAME_OR_PASSWORD = 0x86
    NOT_AUTHORIZED = 0x87
    SERVER_UNAVAILABLE = 0x88
    SERVER_BUSY = 0x89
    BANNED = 0x8A
    SERVER_SHUTTING_DOWN = 0x8B
    BAD_AUTHENTICATION_METHOD = 0x8C
    KEEP_ALIVE_TIMEOUT = 0x8D
    SESSION_TAKEN_OVER = 0x8E
    TOPIC_FILTER_INVALID = 0x8F
    TOPIC_NAME_INVALID = 0x90
    PACKET_ID_IN_USE = 0x91
    PACKET_ID_NOT_FOUND = 0x92
    RECEIVE_MAXIMUM_EXCEEDED = 0x93
    TOPIC_ALIAS_INVALID = 0x94
    PACKET_TOO_LARGE = 0x95
    MESSAGE_RATE_TOO_HIGH = 0x96
    QUOTA_EXCEEDED = 0x97
    ADMINISTRATIVE_ACTION = 0x98
    PAYLOAD_FORMAT_INVALID = 0x99
    RETAIN_NOT_SUPPORTED = 0x9A
    QOS_NOT_SUPPORTED = 0x9B
    USE_ANOTHER_SERVER = 0x9C
    SERVER_MOVED = 0x9D
    SHARED_SUBSCRIPTIONS_NOT_SUPPORTED = 0x9E
    CONNECTION_RATE_EXCEEDED = 0x9F
    MAXIMUM_CONNECT_TIME = 0xA0
    SUBSCRIPTION_IDS_NOT_SUPPORTED = 0xA1
    WILDCARD_SUBSCRIPTIONS_NOT_SUPPORTED = 0xA2

    @property
    def is_refusal(self) -> bool:
        """Whether it says that something was not done."""
        return self >= 0x80


def _codes(text: str) -> dict[int, Reason]:
    return {int(code, 16): Reason(int(code, 16)) for code in text.split()}


# [MQTT-3.2.2-8] [MQTT-3.4.2-1] [MQTT-3.5.2-1] [MQTT-3.6.2-1] [MQTT-3.7.2-1] [MQTT-3.9.3-2] [MQTT-3.11.3-2]
# [MQTT-3.14.2-1] [MQTT-3.15.2-1]
ALLOWED: dict[str, dict[int, Reason]] = {
    "CONNACK": _codes("00 80 81 82 83 84 85 86 87 88 89 8A 8C 90 95 97 99 9A 9B 9C 9D 9F"),
    "PUBACK": _codes("00 10 80 83 87 90 91 97 99"),
    "PUBREC": _codes("00 10 80 83 87 90 91 97 99"),
    "PUBREL": _codes("00 92"),
    "PUBCOMP": _codes("00 92"),
    "SUBACK": _codes("00 01 02 80 83 87 8F 91 97 9E A1 A2"),
    "UNSUBACK": _codes("00 11 80 83 87 8F 91"),
    "DISCONNECT": _codes(
        "00 04 80 81 82 83 87 89 8B 8D 8E 8F 90 93 94 95 96 97 98 99 9A 9B 9C 9D 9E 9F A0 A1 A2"
    ),
    "AUTH": _codes("00 18 19"),
}
"""Which codes each packet may carry."""

CONNACK_311: dict[int, Reason] = {
    0: Reason.SUCCESS,
    1: Reason.UNSUPPORTED_PROTOCOL_VERSION,
    2: Reason.CLIENT_ID_NOT_VALID,
    3: Reason.SERVER_UNAVAILABLE,
    4: Reason.BAD_USER_NAME_OR_PASSWORD,
    5: Reason.NOT_AUTHORIZED,
}
"""The return codes of MQTT 3.1.1's CONNACK."""

TO_CONNACK_311: dict[Reason, int] = {
    **{reason: code for code, reason in CONNACK_311.items()},
    Reason.BANNED: 5,
    Reason.BAD_AUTHENTICATION_METHOD: 5,
    Reason.SERVER_BUSY: 3,
    Reason.QUOTA_EXCEEDED: 3,
    Reason.USE_ANOTHER_SERVER: 3,
    Reason.SERVER_MOVED: 3,
    Reason.CONNECTION_RATE_EXCEEDED: 3,
}
"""What a 3.1.1 client is told; with any other reason its connection closes without a CONNACK."""

SUBACK_311: dict[int, Reason] = _codes("00 01 02 80")
"""The return codes of MQTT 3.1.1's SUBACK; every refusal is 0x80 there."""


def allowed_reason(code: int, packet: str) -> Reason:
    """The reason that a packet carries, if it may carry it."""
    reason = ALLOWED[packet].get(code)
    if reason is None:
        raise protocol_error(f"the reason code 0x{code:02X} is not one of {packet}", _REASON_CLAUSE[packet])
    return reason


_REASON_CLAUSE = {
    "CONNACK": "MQTT-3.2.2-8",
    "PUBACK": "MQTT-3.4.2-1",
    "PUBREC": "MQTT-3.5.2-1",
    "PUBREL": "MQTT-3.6.2-1",
    "PUBCOMP": "MQTT-3.7.2-1",
    "SUBACK": "MQTT-3.9.3-2",
    "UNSUBACK": "MQTT-3.11.3-2",
    "DISCONNECT": "MQTT-3.14.2-1",
    "AUTH": "MQTT-3.15.2-1",
}


def malformed(reason: str, clause: str = "") -> BadPacket:
    """The bytes are no packet."""
    return BadPacket(Reason.MALFORMED_PACKET, reason, clause)


def protocol_error(reason: str, clause: str = "") -> BadPacket:
    """The packet can be read, and is not allowed."""
    return BadPacket(Reason.PROTOCOL_ERROR, reason, clause)
