"""A connection keeps the standard's rules that need more than one packet to break."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ramify.mqtt import Closed, Delivered, Limits, Reason, Version, encode
from ramify.mqtt.packets import (
    Auth,
    ConnAck,
    Connect,
    Disconnect,
    Packet,
    PingReq,
    PingResp,
    PubAck,
    PubComp,
    Publish,
    PubRec,
    PubRel,
    SubAck,
    UnsubAck,
    Will,
)
from ramify.mqtt.properties import (
    AckProperties,
    AuthProperties,
    ConnAckProperties,
    ConnectProperties,
    DisconnectProperties,
    PublishProperties,
    WillProperties,
)
from tests.mqtt.conformance.raw import V5, V311, connect, hexed
from tests.mqtt.peers import Peer, connected

BOTH = pytest.mark.parametrize("version", list(Version))


def ended(inputs: Sequence[object], code: Reason) -> Closed:
    closed = inputs[-1]
    assert isinstance(closed, Closed)
    assert closed.reason is code
    return closed


# ── coming ────────────────────────────────────────────────────────────────────────────────


def test_whoever_does_not_begin_with_connect_hears_nothing() -> None:
    """[MQTT-3.1.0-1]"""
    peer = Peer()
    closed = ended(peer.say(PingReq()), Reason.PROTOCOL_ERROR)
    assert (closed.publishes_will, peer.heard(), peer.connection.is_closed) == (False, [], True)


def test_a_second_connect_ends_the_connection() -> None:
    """[MQTT-3.1.0-2]"""
    peer = connected()
    ended(peer.say(Connect("c")), Reason.PROTOCOL_ERROR)
    (told,) = peer.heard()
    assert isinstance(told, Disconnect)
    assert told.reason is Reason.PROTOCOL_ERROR


REFUSED_LEVELS = [
    (3, V311, "2002 00 01"),
    (6, V5, "20"),
    (0x84, V311, "2002 00 01"),
]


@pytest.mark.parametrize(("level", "version", "begins"), REFUSED_LEVELS)
def test_a_level_that_is_not_spoken_hears_so(level: int, version: Version, begins: str) -> None:
    """[MQTT-3.1.2-1] [MQTT-3.1.2-2]"""
    peer = Peer(version)
    ended(peer.say_bytes(connect(level)), Reason.UNSUPPORTED_PROTOCOL_VERSION)
    output = peer.connection.take_output()
    assert output.startswith(hexed(begins))
    assert version is V311 or output[3] == 0x84


def test_a_malformed_connect_hears_its_reason_in_version_5_and_nothing_in_3_1_1() -> None:
    """[MQTT-3.1.4-1] [MQTT-4.13.1-1] [MQTT-4.13.2-1]"""
    peer = Peer(V5)
    ended(peer.say_bytes(connect(5, 3)), Reason.MALFORMED_PACKET)
    (told,) = peer.heard()
    assert isinstance(told, ConnAck)
    assert (told.reason, told.session_present) == (Reason.MALFORMED_PACKET, False)  # [MQTT-3.2.2-6]
    peer = Peer(V311)
    ended(peer.say_bytes(connect(4, 3)), Reason.MALFORMED_PACKET)
    assert peer.heard() == []


def test_no_session_for_nobody_in_version_3_1_1() -> None:
    """[MQTT-3.1.3-8]"""
    peer = Peer(V311)
    ended(peer.say_bytes(connect(4, 0, hexed("0000"))), Reason.CLIENT_ID_NOT_VALID)
    assert peer.connection.take_output() == hexed("2002 00 02")


def test_an_authentication_method_is_refused_with_its_code() -> None:
    """[MQTT-4.12.0-1]"""
    peer = Peer()
    wishes = ConnectProperties(authentication_method="SCRAM-SHA-1", authentication_data=b"x")
    inputs = peer.say(Connect("c", properties=wishes))
    ended(inputs, Reason.BAD_AUTHENTICATION_METHOD)
    (told,) = peer.heard()
    assert isinstance(told, ConnAck)
    assert told.reason is Reason.BAD_AUTHENTICATION_METHOD
    assert told.properties.authentication_method is None  # [MQTT-4.12.0-6]


def test_auth_without_a_method_in_connect_is_a_protocol_error() -> None:
    """[MQTT-4.12.0-7]"""
    peer = connected()
    again = Auth(Reason.RE_AUTHENTICATE, AuthProperties("SCRAM-SHA-1"))
    ended(peer.say(again), Reason.PROTOCOL_ERROR)
    (told,) = peer.heard()
    assert isinstance(told, Disconnect)


def test_what_follows_connect_waits_until_it_is_accepted() -> None:
    peer = Peer()
    first, second = Publish("a"), Publish("b")
    assert peer.say(Connect("c"), first) == [Connect("c")]
    assert peer.connection.is_deciding
    assert peer.say(second, Disconnect()) == []
    assert peer.connection.accept(1.0, session_present=False) == [
        first,
        second,
        Closed(Reason.NORMAL_DISCONNECTION, publishes_will=False),
    ]
    # [MQTT-3.2.0-1] CONNACK is the first to be said, [MQTT-3.2.0-2] and once.
    assert [type(packet) for packet in peer.heard()] == [ConnAck]
    assert peer.connection.accept(1.0, session_present=False) == []
    assert peer.heard() == []


def test_what_follows_a_refused_connect_counts_for_nothing() -> None:
    """[MQTT-3.1.4-6] [MQTT-3.2.2-7] [MQTT-3.14.0-1]"""
    peer = Peer()
    peer.say(Connect("c"), Publish("a"))
    peer.connection.refuse(Reason.NOT_AUTHORIZED, "who are you?")
    assert peer.connection.is_closed
    properties = ConnAckProperties(reason_string="who are you?")
    assert peer.heard() == [ConnAck(Reason.NOT_AUTHORIZED, properties=properties)]
    assert peer.say(Publish("b")) == []
    assert peer.connection.accept(1.0, session_present=False) == []


@pytest.mark.parametrize(
    ("reason", "code"), [(Reason.BAD_USER_NAME_OR_PASSWORD, 4), (Reason.SERVER_BUSY, 3), (Reason.BANNED, 5)]
)
def test_version_3_1_1_hears_its_own_return_codes(reason: Reason, code: int) -> None:
    peer = Peer(V311)
    peer.say(Connect("c", V311))
    peer.connection.refuse(reason)
    assert peer.connection.take_output() == bytes((0x20, 2, 0, code))


def test_a_bad_packet_behind_connect_refuses_it() -> None:
    peer = Peer()
    (closed,) = peer.say_bytes(connect() + hexed("C100"))
    assert isinstance(closed, Closed)
    assert (closed.reason, closed.publishes_will) == (Reason.MALFORMED_PACKET, False)
    assert [type(packet) for packet in peer.heard()] == [ConnAck]


def test_too_much_before_connack_is_refused() -> None:
    peer = Peer(limits=Limits(maximum_packet_size=1_000))
    peer.say(Connect("c"))
    for _ in range(10):
        inputs = peer.say(Publish("a", bytes(400)))
    assert peer.connection.is_closed
    assert inputs == []


def test_connack_says_the_limits_and_what_the_broker_decided() -> None:
    """[MQTT-3.1.3-7] [MQTT-3.2.2-16]"""
    peer = Peer(limits=Limits(5_000, 7, topic_alias_maximum=3))
    peer.say(Connect(""))
    decided = ConnAckProperties(assigned_client_id="x", server_keep_alive=9)
    peer.connection.accept(0.0, session_present=True, properties=decided)
    assert peer.heard() == [
        ConnAck(
            Reason.SUCCESS,
            True,
            ConnAckProperties(
                receive_maximum=7,
                maximum_packet_size=5_000,
                topic_alias_maximum=3,
                assigned_client_id="x",
                server_keep_alive=9,
            ),
        )
    ]


# ── staying ───────────────────────────────────────────────────────────────────────────────


@BOTH
def test_silence_of_one_and_a_half_keep_alives_ends_the_connection(version: Version) -> None:
    """[MQTT-3.1.2-22] in 5.0, [MQTT-3.1.2-24] in 3.1.1"""
    peer = connected(version, keep_alive=10)
    assert peer.connection.deadline == 15.0
    assert peer.connection.expire(14.9) is None
    peer.say(PingReq(), now=14.9)
    assert peer.heard() == [PingResp()]  # [MQTT-3.12.4-1]
    assert peer.connection.expire(29.8) is None
    closed = peer.connection.expire(30.0)
    assert closed == Closed(Reason.KEEP_ALIVE_TIMEOUT, publishes_will=True)
    told = peer.heard()
    assert told == ([Disconnect(Reason.KEEP_ALIVE_TIMEOUT)] if version is V5 else [])
    assert peer.connection.expire(99.0) is None


def test_bytes_that_are_no_packet_keep_nobody_alive() -> None:
    peer = connected(keep_alive=10)
    written = encode(Publish("a", bytes(100)), V5)
    for second in range(14):
        peer.say_bytes(written[second : second + 1], now=float(second))
    assert peer.connection.expire(15.0) is not None


def test_without_keep_alive_a_client_may_be_silent() -> None:
    peer = connected(keep_alive=0)
    assert peer.connection.deadline is None


def test_the_servers_keep_alive_counts() -> None:
    """[MQTT-3.1.2-21]"""
    peer = Peer()
    peer.say(Connect("c", keep_alive=1_000))
    peer.connection.accept(5.0, session_present=False, properties=ConnAckProperties(server_keep_alive=10))
    assert peer.connection.deadline == 20.0


def test_whoever_says_nothing_at_all_is_not_waited_for() -> None:
    peer = Peer(limits=Limits(connect_timeout=3.0))
    assert peer.connection.deadline == 3.0
    assert peer.connection.expire(3.0) == Closed(Reason.KEEP_ALIVE_TIMEOUT, publishes_will=False)
    assert peer.heard() == []


FROM_SERVERS: list[Packet] = [
    ConnAck(),
    SubAck(1, (Reason.SUCCESS,)),
    UnsubAck(1, (Reason.SUCCESS,)),
    PingResp(),
]


@pytest.mark.parametrize("packet", FROM_SERVERS, ids=str)
def test_what_only_servers_say_is_a_protocol_error(packet: Packet) -> None:
    peer = connected()
    ended(peer.say(packet), Reason.PROTOCOL_ERROR)


def test_a_client_says_no_subscription_id() -> None:
    """[MQTT-3.3.4-6]"""
    peer = connected()
    ended(peer.say(Publish("a", properties=PublishProperties(subscription_ids=(1,)))), Reason.PROTOCOL_ERROR)


# ── topic aliases ─────────────────────────────────────────────────────────────────────────


def alias(number: int) -> PublishProperties:
    return PublishProperties(topic_alias=number)


def test_an_alias_stands_for_its_last_topic() -> None:
    """[MQTT-3.3.2-12]"""
    peer = connected(limits=Limits(topic_alias_maximum=2))
    given = peer.say(
        Publish("a", b"1", properties=alias(1)),
        Publish("b", b"2", properties=alias(2)),
        Publish("", b"3", properties=alias(1)),
        Publish("c", b"4", properties=alias(1)),
        Publish("", b"5", properties=alias(1)),
    )
    assert given == [Publish(t, p) for t, p in zip("abacc", (b"1", b"2", b"3", b"4", b"5"), strict=True)]


def test_an_alias_above_the_maximum_is_invalid() -> None:
    """[MQTT-3.3.2-9]"""
    peer = connected(limits=Limits(topic_alias_maximum=2))
    ended(peer.say(Publish("a", properties=alias(3))), Reason.TOPIC_ALIAS_INVALID)


def test_an_alias_that_was_never_named_is_a_protocol_error() -> None:
    """[MQTT-3.3.2-7] Aliases of another connection do not count."""
    connected().say(Publish("a", properties=alias(1)))
    peer = connected()
    ended(peer.say(Publish("", properties=alias(1))), Reason.PROTOCOL_ERROR)


def test_a_client_gets_aliases_as_many_as_it_takes() -> None:
    """[MQTT-3.1.2-26] [MQTT-3.3.2-11]"""
    peer = connected(properties=ConnectProperties(topic_alias_maximum=1))
    for topic in ("a", "a", "b", "a"):
        assert peer.deliver(Publish(topic)) is Delivered.SENT
    assert peer.publishes() == [
        Publish("a", properties=alias(1)),
        Publish("", properties=alias(1)),
        Publish("b"),
        Publish("", properties=alias(1)),
    ]


def test_a_client_gets_no_alias_that_it_did_not_ask_for() -> None:
    """[MQTT-3.1.2-27]"""
    peer = connected()
    peer.deliver(Publish("a"))
    peer.deliver(Publish("a"))
    assert peer.publishes() == [Publish("a")] * 2


def test_an_alias_in_a_packet_that_was_too_large_is_not_known() -> None:
    peer = connected(properties=ConnectProperties(topic_alias_maximum=1, maximum_packet_size=20))
    assert peer.deliver(Publish("a/b", bytes(30))) is Delivered.TOO_LARGE
    assert peer.deliver(Publish("a/b", bytes(12))) is Delivered.SENT  # fits without an alias only
    assert peer.deliver(Publish("a/b")) is Delivered.SENT
    assert [publish.topic for publish in peer.publishes()] == ["a/b", "a/b"]


# ── flow control and sizes ────────────────────────────────────────────────────────────────


def test_a_client_that_exceeds_the_receive_maximum_hears_so() -> None:
    """[MQTT-3.3.4-7]"""
    peer = connected(limits=Limits(receive_maximum=2))
    assert len(peer.say(*(Publish("a", qos=1, packet_id=n) for n in (1, 2)))) == 2
    peer.connection.send(PubAck(1))
    assert len(peer.say(Publish("a", qos=2, packet_id=3), Publish("a", qos=2, packet_id=3, dup=True))) == 2
    ended(peer.say(Publish("a", qos=1, packet_id=4)), Reason.RECEIVE_MAXIMUM_EXCEEDED)
    assert [packet.reason for packet in peer.heard() if isinstance(packet, Disconnect)] == [0x93]


def test_what_ends_a_message_makes_room_for_the_client() -> None:
    """[MQTT-4.9.0-3] Other packets are taken while there is no room."""
    peer = connected(limits=Limits(receive_maximum=1))
    peer.say(Publish("a", qos=2, packet_id=1))
    peer.connection.send(PubRec(1))
    assert peer.say(PubRel(1), PingReq()) == [PubRel(1)]
    peer.connection.send(PubComp(1))
    assert len(peer.say(Publish("a", qos=2, packet_id=2))) == 1
    peer.connection.send(PubRec(2, Reason.QUOTA_EXCEEDED))
    assert len(peer.say(Publish("a", qos=1, packet_id=3))) == 1
    assert not peer.connection.is_closed


def test_version_3_1_1_knows_no_receive_maximum() -> None:
    peer = connected(V311, Limits(receive_maximum=1))
    assert len(peer.say(*(Publish("a", qos=1, packet_id=n) for n in (1, 2, 3)))) == 3


def test_a_client_gets_no_more_than_it_acknowledges() -> None:
    """[MQTT-3.3.4-9] [MQTT-4.9.0-1] [MQTT-4.9.0-2]"""
    peer = connected(properties=ConnectProperties(receive_maximum=2))
    assert peer.connection.room == 2
    assert peer.deliver(Publish("a", qos=1), 1) is Delivered.SENT
    assert peer.deliver(Publish("a", qos=2), 2) is Delivered.SENT
    assert peer.deliver(Publish("a", qos=1), 3) is Delivered.NO_ROOM
    assert peer.deliver(Publish("a")) is Delivered.SENT
    peer.say(PubRec(2))
    peer.connection.send(PubRel(2))
    assert peer.connection.room == 0
    peer.say(PubAck(1))
    assert peer.connection.room == 1
    peer.say(PubComp(2), PubComp(2), PubAck(9))
    assert peer.connection.room == 2
    peer.deliver(Publish("a", qos=2), 4)
    peer.say(PubRec(4, Reason.UNSPECIFIED_ERROR))
    assert peer.connection.room == 2


def test_a_delivery_that_is_sent_again_says_so() -> None:
    """[MQTT-3.3.1-1]"""
    peer = connected()
    peer.deliver(Publish("a", qos=1), 5, dup=True)
    assert peer.publishes() == [Publish("a", qos=1, dup=True, packet_id=5)]


def test_a_message_larger_than_the_client_takes_is_not_sent() -> None:
    """[MQTT-3.1.2-24] [MQTT-3.1.2-25]"""
    peer = connected(properties=ConnectProperties(maximum_packet_size=20))
    assert peer.deliver(Publish("a", bytes(20), 1), 1) is Delivered.TOO_LARGE
    assert peer.connection.room == Limits().send_maximum
    assert peer.publishes() == []


def test_words_are_left_out_if_they_make_a_packet_too_large() -> None:
    """[MQTT-3.4.2-2] [MQTT-3.4.2-3]"""
    peer = connected(properties=ConnectProperties(maximum_packet_size=20))
    words = AckProperties("x" * 30, (("a", "b"),))
    peer.connection.send(PubAck(1, Reason.QUOTA_EXCEEDED, words))
    peer.connection.send(PubAck(2, Reason.QUOTA_EXCEEDED, AckProperties("x")))
    peer.connection.send(SubAck(3, (Reason.SUCCESS,) * 30))
    assert peer.heard() == [
        PubAck(1, Reason.QUOTA_EXCEEDED),
        PubAck(2, Reason.QUOTA_EXCEEDED, AckProperties("x")),
    ]


def test_a_client_that_wants_no_words_gets_none_but_at_the_end() -> None:
    """[MQTT-3.1.2-29]"""
    peer = connected(properties=ConnectProperties(request_problem_information=False))
    peer.connection.send(PubAck(1, Reason.QUOTA_EXCEEDED, AckProperties("x", (("a", "b"),))))
    peer.connection.disconnect(Reason.SERVER_SHUTTING_DOWN, "see you")
    assert peer.heard() == [
        PubAck(1, Reason.QUOTA_EXCEEDED),
        Disconnect(Reason.SERVER_SHUTTING_DOWN, DisconnectProperties(reason_string="see you")),
    ]


@BOTH
def test_a_packet_that_is_too_large_ends_the_connection(version: Version) -> None:
    peer = connected(version, Limits(maximum_packet_size=100))
    ended(peer.say(Publish("a", bytes(100))), Reason.PACKET_TOO_LARGE)
    assert [type(packet) for packet in peer.heard()] == ([Disconnect] if version is V5 else [])


# ── payloads ──────────────────────────────────────────────────────────────────────────────

IS_TEXT = PublishProperties(payload_format=1)


def test_a_payload_that_is_not_the_text_it_says_is_refused() -> None:
    peer = connected()
    given = peer.say(
        Publish("a", b"\xff", 1, packet_id=1, properties=IS_TEXT),
        Publish("a", b"\xff", 2, packet_id=2, properties=IS_TEXT),
        Publish("a", "é".encode(), properties=IS_TEXT),
    )
    assert given == [Publish("a", "é".encode(), properties=IS_TEXT)]
    bad = Reason.PAYLOAD_FORMAT_INVALID
    assert peer.heard() == [PubAck(1, bad), PubRec(2, bad)]
    ended(peer.say(Publish("a", b"\xff", properties=IS_TEXT)), bad)


def test_a_will_that_is_not_the_text_it_says_is_refused() -> None:
    peer = Peer()
    will = Will("a", b"\xff", properties=WillProperties(payload_format=1))
    ended(peer.say(Connect("c", will=will)), Reason.PAYLOAD_FORMAT_INVALID)
    assert [type(packet) for packet in peer.heard()] == [ConnAck]


def test_payloads_are_not_looked_at_if_so_configured() -> None:
    peer = connected(limits=Limits(checks_payload_format=False))
    assert len(peer.say(Publish("a", b"\xff", properties=IS_TEXT))) == 1


# ── going ─────────────────────────────────────────────────────────────────────────────────


@BOTH
def test_whoever_leaves_in_peace_takes_the_will_along(version: Version) -> None:
    """[MQTT-3.14.4-3]"""
    peer = connected(version)
    assert peer.say(Disconnect(), PingReq()) == [Closed(Reason.NORMAL_DISCONNECTION, publishes_will=False)]
    assert peer.connection.is_closed
    assert peer.heard() == []
    assert peer.connection.lost() is None


@pytest.mark.parametrize("reason", [Reason.DISCONNECT_WITH_WILL, Reason.UNSPECIFIED_ERROR])
def test_a_will_can_be_left(reason: Reason) -> None:
    assert connected().say(Disconnect(reason)) == [Closed(reason, publishes_will=True)]


@BOTH
def test_a_lost_connection_leaves_the_will(version: Version) -> None:
    peer = connected(version)
    closed = peer.connection.lost()
    assert closed is not None
    assert closed.publishes_will
    assert peer.heard() == []


def test_a_session_that_was_to_end_cannot_be_kept_at_the_end() -> None:
    peer = connected()
    late = Disconnect(properties=DisconnectProperties(session_expiry=1))
    closed = ended(peer.say(late), Reason.PROTOCOL_ERROR)
    assert closed.publishes_will
    assert [type(packet) for packet in peer.heard()] == [Disconnect]


def test_how_long_a_session_stays_can_be_changed_at_the_end() -> None:
    for expiry in (0, 5, 5_000):
        peer = connected(properties=ConnectProperties(session_expiry=100))
        (closed,) = peer.say(Disconnect(properties=DisconnectProperties(session_expiry=expiry)))
        assert closed == Closed(Reason.NORMAL_DISCONNECTION, publishes_will=False, session_expiry=expiry)


def test_a_client_names_no_other_server() -> None:
    peer = connected()
    ended(peer.say(Disconnect(properties=DisconnectProperties(server_reference="x"))), Reason.PROTOCOL_ERROR)


@BOTH
def test_a_server_that_closes_says_why_in_version_5(version: Version) -> None:
    """[MQTT-3.14.4-1] Nothing follows."""
    peer = connected(version)
    closed = peer.connection.disconnect(Reason.SESSION_TAKEN_OVER)
    assert closed == Closed(Reason.SESSION_TAKEN_OVER, publishes_will=True)
    assert peer.connection.disconnect(Reason.SESSION_TAKEN_OVER) is None
    peer.connection.send(PubAck(1))
    assert peer.deliver(Publish("a")) is Delivered.NO_ROOM
    assert peer.heard() == ([Disconnect(Reason.SESSION_TAKEN_OVER)] if version is V5 else [])
    assert peer.say(PingReq()) == []


def test_a_shutdown_before_connack_is_a_connack() -> None:
    peer = Peer()
    peer.say(Connect("c"))
    peer.connection.disconnect(Reason.SERVER_SHUTTING_DOWN)
    assert peer.heard() == [ConnAck(Reason.SERVER_UNAVAILABLE)]
