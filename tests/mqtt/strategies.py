"""Packets for properties: every kind, with everything that its version can say."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from msgspec import structs

from ramify.mqtt import Packet, Reason, Version
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
    Kind,
    PropertiesT,
    Property,
    PublishProperties,
    SubscribeProperties,
    UnsubscribeProperties,
    WillProperties,
    defaults_of,
    none_of,
    rows_of,
)
from ramify.mqtt.reasons import ALLOWED, CONNACK_311, SUBACK_311

_CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
_TOPIC_CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0+#")

TEXTS = st.text(_CHARACTERS, max_size=6) | st.sampled_from(["", "\ufeffé", "𝄞" * 40])
TOPICS = st.text(_TOPIC_CHARACTERS, min_size=1, max_size=8) | st.sampled_from(["a/b", "$SYS/x", "/" * 200])
BYTES = st.binary(max_size=200)
QOS: SearchStrategy[Any] = st.sampled_from((0, 1, 2))
IDS = st.integers(1, 65_535)
PAIRS = st.lists(st.tuples(TEXTS, TEXTS), max_size=3).map(tuple)

_VALUES: dict[Kind, SearchStrategy[Any]] = {
    Kind.BYTE: st.integers(0, 1),
    Kind.FLAG: st.booleans(),
    Kind.TEXT: TEXTS,
    Kind.BINARY: BYTES,
    Kind.PAIR: st.tuples(TEXTS, TEXTS),
}
_SIZES = {Kind.TWO_BYTES: 0xFFFF, Kind.FOUR_BYTES: 0xFFFF_FFFF, Kind.VARINT: 268_435_455}


def values_of(row: Property) -> SearchStrategy[Any]:
    """What a property can be."""
    if row.name == "response_topic":
        value: SearchStrategy[Any] = TOPICS
    elif row.kind in _SIZES:
        value = st.integers(row.least or 0, _SIZES[row.kind])
    else:
        value = _VALUES[row.kind]
    return st.lists(value, max_size=3).map(tuple) if row.repeats else value


def properties(kind: type[PropertiesT]) -> SearchStrategy[PropertiesT]:
    """Any properties of a kind, most often few of them."""
    defaults = defaults_of(kind)
    members = {row.name: st.just(defaults[row.name]) | values_of(row) for row in rows_of(kind)}
    return st.just(none_of(kind)) | st.builds(kind, **members)


def _with_method(value: Any) -> Any:
    has_method = value.authentication_method is not None
    return value if has_method else structs.replace(value, authentication_data=None)


def _publish(
    topic: str, payload: bytes, qos: Any, flags: tuple[bool, bool], number: int, extra: Any
) -> Publish:
    retain, dup = flags
    return Publish(topic, payload, qos, retain, dup and qos > 0, number if qos else 0, extra)


def _connack(reason: Reason, is_present: bool, extra: Any) -> ConnAck:
    return ConnAck(reason, is_present and reason is Reason.SUCCESS, extra)


@cache
def connects(version: Version) -> SearchStrategy[Connect]:
    """Every CONNECT that a version allows."""
    wills = st.builds(Will, TOPICS, BYTES, QOS, st.booleans(), _extra(WillProperties, version))
    made = st.builds(
        Connect,
        TEXTS,
        st.just(version),
        st.booleans(),
        st.integers(0, 65_535),
        st.none() | TEXTS,
        st.none() | BYTES,
        st.none() | wills,
        _extra(ConnectProperties, version).map(_with_method),
    )
    return made if version is Version.V5 else made.map(_for_311)


def _for_311(connect: Connect) -> Connect:
    password = None if connect.user_name is None else connect.password
    clean_start = connect.clean_start or not connect.client_id
    return structs.replace(connect, password=password, clean_start=clean_start)


def _extra(kind: type[PropertiesT], version: Version) -> SearchStrategy[PropertiesT]:
    return properties(kind) if version is Version.V5 else st.just(none_of(kind))


def _reasons(packet: str, version: Version) -> SearchStrategy[Reason]:
    if version is Version.V5:
        return st.sampled_from(list(ALLOWED[packet].values()))
    legacy = {"CONNACK": CONNACK_311, "SUBACK": SUBACK_311}.get(packet, {0: Reason.SUCCESS})
    return st.sampled_from(list(legacy.values()))


@cache
def others(version: Version) -> SearchStrategy[Packet]:
    """Every packet but CONNECT that a version allows."""
    is_5 = version is Version.V5
    ack = _extra(AckProperties, version)
    flags = st.booleans() if is_5 else st.just(False)
    handling: SearchStrategy[Any] = QOS if is_5 else st.just(0)
    no_local = st.just(False)
    requests = st.builds(SubscribeRequest, TEXTS, QOS, no_local, flags, handling) | st.builds(
        SubscribeRequest, TOPICS.filter(lambda text: not text.startswith("$share/")), QOS, flags
    )
    listed = _extra(SubscribeProperties, version), _extra(UnsubscribeProperties, version)
    unsubacks = st.lists(_reasons("UNSUBACK", version), min_size=1).map(tuple) if is_5 else st.just(())
    kinds: list[SearchStrategy[Packet]] = [
        st.builds(_connack, _reasons("CONNACK", version), st.booleans(), _extra(ConnAckProperties, version)),
        st.builds(
            _publish,
            TOPICS,
            BYTES,
            QOS,
            st.tuples(st.booleans(), st.booleans()),
            IDS,
            _extra(PublishProperties, version),
        ),
        st.builds(PubAck, IDS, _reasons("PUBACK", version), ack),
        st.builds(PubRec, IDS, _reasons("PUBREC", version), ack),
        st.builds(PubRel, IDS, _reasons("PUBREL", version), ack),
        st.builds(PubComp, IDS, _reasons("PUBCOMP", version), ack),
        st.builds(Subscribe, IDS, st.lists(requests, min_size=1, max_size=4).map(tuple), listed[0]),
        st.builds(SubAck, IDS, st.lists(_reasons("SUBACK", version), min_size=1).map(tuple), ack),
        st.builds(Unsubscribe, IDS, st.lists(TEXTS, min_size=1, max_size=4).map(tuple), listed[1]),
        st.builds(UnsubAck, IDS, unsubacks, ack),
        st.just(PingReq()),
        st.just(PingResp()),
    ]
    if is_5:
        authentic = properties(AuthProperties).filter(lambda extra: extra.authentication_method is not None)
        kinds += [
            st.builds(Disconnect, _reasons("DISCONNECT", version), properties(DisconnectProperties)),
            st.builds(Auth, _reasons("AUTH", version), authentic) | st.just(Auth()),
        ]
    else:
        kinds.append(st.just(Disconnect()))
    return st.one_of(kinds)
