"""Reads CONNECT and CONNACK: who comes, in which version, and what is agreed."""

from __future__ import annotations

from ramify.errors import BadPacket
from ramify.mqtt.packets import ConnAck, Connect, QoS, Version, Will
from ramify.mqtt.properties import ConnAckProperties, ConnectProperties, WillProperties, none_of
from ramify.mqtt.reading import Reader
from ramify.mqtt.reasons import CONNACK_311, Reason, allowed_reason, malformed, protocol_error
from ramify.mqtt.topics import topic_name

_USER_NAME, _PASSWORD, _WILL_RETAIN, _WILL_QOS, _WILL, _CLEAN, _RESERVED = 0x80, 0x40, 0x20, 0x18, 4, 2, 1
_BRIDGE = 0x80
"""Mosquitto's bridges say with this bit of the level that they are bridges, and take a no for an answer."""

_QOS: dict[int, QoS] = {0x00: 0, 0x08: 1, 0x10: 2}


def read_protocol(reader: Reader) -> tuple[bytes, int]:
    """The name and level of the protocol, whatever they are."""
    return reader.binary(), reader.byte()


def answering_version(level: int) -> Version:
    """The version to answer a CONNECT in, be its level spoken here or not."""
    return Version.V5 if level & ~_BRIDGE >= Version.V5 else Version.V311


def check_protocol(name: bytes, level: int) -> None:
    """Refuse what is neither MQTT 3.1.1 nor 5.0. [MQTT-3.1.2-1] [MQTT-3.1.2-2]"""
    if name != b"MQTT":
        shown = name[:20].decode(errors="replace")
        raise BadPacket(
            Reason.UNSUPPORTED_PROTOCOL_VERSION, f"the protocol is {shown!r}, not 'MQTT'", "MQTT-3.1.2-1"
        )
    if level not in (Version.V311, Version.V5):
        raise BadPacket(
            Reason.UNSUPPORTED_PROTOCOL_VERSION, f"protocol level {level} is not spoken", "MQTT-3.1.2-2"
        )


def read_connect(reader: Reader, version: Version) -> Connect:
    """The rest of a CONNECT behind its protocol."""
    flags, keep_alive = reader.byte(), reader.two_bytes()
    _check_flags(flags, version)
    properties = reader.properties(ConnectProperties) if version is Version.V5 else none_of(ConnectProperties)
    if properties.authentication_data is not None and properties.authentication_method is None:
        raise protocol_error("authentication data without a method")
    client_id = reader.text()  # [MQTT-3.1.3-3] [MQTT-3.1.3-4]
    _check_client_id(client_id, flags, version)
    # [MQTT-3.1.3-1] The order of the fields; [MQTT-3.1.2-16] to [MQTT-3.1.2-19] which of them are there.
    will = _read_will(reader, flags, version) if flags & _WILL else None
    user_name = reader.text() if flags & _USER_NAME else None
    password = reader.binary() if flags & _PASSWORD else None
    reader.finish()
    clean_start = bool(flags & _CLEAN)
    return Connect(client_id, version, clean_start, keep_alive, user_name, password, will, properties)


def _check_flags(flags: int, version: Version) -> None:
    if flags & _RESERVED:
        raise malformed("the reserved flag of CONNECT is set", "MQTT-3.1.2-3")
    if flags & _WILL_QOS == _WILL_QOS:
        raise malformed("the will has QoS 3", "MQTT-3.1.2-12")
    if not flags & _WILL and flags & _WILL_QOS:
        raise malformed("QoS of a will that is not there", "MQTT-3.1.2-11")
    if not flags & _WILL and flags & _WILL_RETAIN:
        raise malformed("retain flag of a will that is not there", "MQTT-3.1.2-13")
    if version is Version.V311 and flags & _PASSWORD and not flags & _USER_NAME:
        raise malformed("a password without a user name, in MQTT 3.1.1", "MQTT-3.1.2-22")


def _check_client_id(client_id: str, flags: int, version: Version) -> None:
    """Refuse to keep a session for nobody; MQTT 5 has the server assign an id. [MQTT-3.1.3-8]"""
    if version is Version.V311 and not client_id and not flags & _CLEAN:
        raise BadPacket(
            Reason.CLIENT_ID_NOT_VALID, "a session that is not clean needs a client id", "MQTT-3.1.3-8"
        )


def _read_will(reader: Reader, flags: int, version: Version) -> Will:
    properties = reader.properties(WillProperties) if version is Version.V5 else none_of(WillProperties)
    check_response_topic(properties.response_topic)
    topic = topic_name(reader.text(), "MQTT-4.7.0-1")  # [MQTT-3.1.3-11]
    return Will(topic, reader.binary(), _QOS[flags & _WILL_QOS], bool(flags & _WILL_RETAIN), properties)


def check_response_topic(topic: str | None) -> None:
    """Refuse a response topic that no answer could be published on. [MQTT-3.3.2-14]"""
    if topic is not None and ("+" in topic or "#" in topic or not topic):
        raise protocol_error(f"the response topic {topic[:80]!r} cannot be published on", "MQTT-3.3.2-14")


def read_connack(reader: Reader, version: Version) -> ConnAck:
    """A CONNACK; the return codes of 3.1.1 become reasons."""
    flags, code = reader.byte(), reader.byte()
    if flags > 1:
        raise malformed("reserved flags of CONNACK are set", "MQTT-3.2.2-1")
    if version is Version.V5:
        answer = ConnAck(allowed_reason(code, "CONNACK"), flags == 1, reader.properties(ConnAckProperties))
    elif code in CONNACK_311:
        answer = ConnAck(CONNACK_311[code], flags == 1)
    else:
        raise protocol_error(f"the return code {code} is not one of CONNACK")
    reader.finish()
    if answer.reason and answer.session_present:
        raise protocol_error("a refused connection has no session", "MQTT-3.2.2-6")
    return answer
