"""The served broker, packet by packet: what clients say to it over TCP, and what they hear."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from ramify.mqtt import Reason, Version
from ramify.mqtt.packets import (
    ConnAck,
    Connect,
    Disconnect,
    PubAck,
    PubComp,
    Publish,
    PubRec,
    PubRel,
    Subscribe,
    SubscribeRequest,
    UnsubAck,
    Unsubscribe,
    Will,
)
from ramify.mqtt.properties import (
    ConnectProperties,
    DisconnectProperties,
    PublishProperties,
    SubscribeProperties,
    WillProperties,
)
from tests.net.mqtt_served import PATIENCE, ServedBroker, Talker, served_broker, talker

BOTH = pytest.mark.parametrize("version", [Version.V311, Version.V5])
LASTING = ConnectProperties(session_expiry=3600)


@pytest.fixture(scope="module")
def broker() -> Iterator[ServedBroker]:
    with served_broker("--session-expiry", "100000", "--log-level", "debug") as broker:
        yield broker


# ── events ────────────────────────────────────────────────────────────────────────────────


@BOTH
@pytest.mark.parametrize("qos", [0, 1, 2])
def test_an_event_reaches_its_subscriber_in_its_quality(
    broker: ServedBroker, version: Version, qos: int
) -> None:
    with talker(broker.port, f"q{qos}{version}", version) as client:
        assert client.subscribe("q/+", qos=qos).reasons == (Reason(qos),)
        client.say(Publish("q/a", b"hello", qos, packet_id=9 if qos else 0))  # type: ignore[arg-type]
        done = 1 if qos == 0 else 2
        while done:
            match client.hear():
                case Publish() as back:
                    assert (back.topic, back.payload, back.qos, back.retain) == ("q/a", b"hello", qos, False)
                    done -= qos < 2
                    if qos:
                        client.say(PubAck(back.packet_id) if qos == 1 else PubRec(back.packet_id))
                case PubRec() as answer:
                    assert answer == PubRec(9)
                    client.say(PubRel(9))
                case PubRel() as answer:
                    client.say(PubComp(answer.packet_id))
                    done -= 1
                case answer:
                    assert answer in (PubAck(9), PubComp(9))
                    done -= 1
        client.hear_nothing_before_a_ping()


def test_a_publisher_is_told_that_nobody_listens(broker: ServedBroker) -> None:
    with talker(broker.port, "lonely") as client:
        client.say(Publish("nobody/listens", b"", 1, packet_id=1))
        assert client.hear() == PubAck(1, Reason.NO_MATCHING_SUBSCRIBERS)
        client.say(Publish("$SYS/mine", b"", 1, packet_id=2))
        assert client.hear() == PubAck(2, Reason.NOT_AUTHORIZED)
        client.say(PubRel(77))
        assert client.hear() == PubComp(77, Reason.PACKET_ID_NOT_FOUND)
        client.say(PubRec(78))
        assert client.hear() == PubRel(78, Reason.PACKET_ID_NOT_FOUND)


def test_properties_pass_through_and_identifiers_are_added(broker: ServedBroker) -> None:
    with talker(broker.port, "props") as client:
        client.say(Subscribe(1, (SubscribeRequest("p/#"),), SubscribeProperties(subscription_id=268_435_455)))
        client.hear()
        said = PublishProperties(
            1, 60, None, "answer/here", b"\0id", (("k", "v"), ("k", "w")), (), "text/plain"
        )
        client.say(Publish("p/a", b"x", properties=said))
        heard = client.hear_a(Publish).properties
        assert heard == PublishProperties(
            1, 60, None, "answer/here", b"\0id", (("k", "v"), ("k", "w")), (268_435_455,), "text/plain"
        )


def test_many_packets_in_one_write_are_answered_in_order(broker: ServedBroker) -> None:
    with talker(broker.port, "batch") as client, talker(broker.port, "listener") as listener:
        listener.subscribe("batch/#", qos=1)
        client.say(*(Publish("batch/a", b"%d" % number, 1, packet_id=number) for number in range(1, 501)))
        assert [client.hear_a(PubAck).packet_id for _ in range(500)] == list(range(1, 501))
        for number in range(1, 501):
            event = listener.hear_a(Publish)
            assert event.payload == b"%d" % number
            listener.say(PubAck(event.packet_id))


def test_one_event_fans_out_to_many_of_both_versions(broker: ServedBroker) -> None:
    clients = [Talker(broker.port, (Version.V311, Version.V5)[each % 2]) for each in range(20)]
    for number, client in enumerate(clients):
        client.connect(f"fan{number}")
        client.subscribe("fan/+")
    for round_ in (b"1", b"2"):
        clients[0].say(Publish("fan/a", round_), Publish("fan/b", round_))
        for client in clients:
            assert [client.hear_event(), client.hear_event()] == [("fan/a", round_), ("fan/b", round_)]
    clients[0].close()
    clients[1].say(Publish("fan/a", b"3"))
    for client in clients[1:]:
        assert client.hear_event() == ("fan/a", b"3")
        client.close()


def test_whoever_unsubscribes_gets_no_more(broker: ServedBroker) -> None:
    with talker(broker.port, "leaver") as client:
        client.subscribe("u/a", "u/b")
        client.say(Unsubscribe(3, ("u/a", "u/never")))
        assert client.hear() == UnsubAck(3, (Reason.SUCCESS, Reason.NO_SUBSCRIPTION_EXISTED))
        client.say(Publish("u/a", b"1"), Publish("u/b", b"2"))
        assert client.hear_event() == ("u/b", b"2")
        client.hear_nothing_before_a_ping()


# ── sessions ──────────────────────────────────────────────────────────────────────────────


def test_a_retained_event_waits_for_later_subscribers(broker: ServedBroker) -> None:
    with talker(broker.port, "keeper") as client:
        client.say(Publish("kept/a", b"x", 1, retain=True, packet_id=1))
        client.hear_a(PubAck)
        client.subscribe("kept/#")
        event = client.hear_a(Publish)
        assert (event.payload, event.retain) == (b"x", True)
        client.say(Publish("kept/a", b"", retain=True))
        assert client.hear_event() == ("kept/a", b"")


@BOTH
def test_a_session_keeps_what_its_client_missed(broker: ServedBroker, version: Version) -> None:
    lasting = {"properties": LASTING} if version is Version.V5 else {"clean_start": False}
    name = f"absent{version}"
    with talker(broker.port, name, version, **lasting) as client:
        client.subscribe(f"missed/{version}", qos=1)
    with talker(broker.port, "present") as other:
        other.say(Publish(f"missed/{version}", b"1", 1, packet_id=1))
        assert other.hear() == PubAck(1)
    back = Talker(broker.port, version)
    assert back.connect(name, **{**lasting, "clean_start": False}).session_present
    event = back.hear_a(Publish)
    assert (event.payload, event.dup) == (b"1", False)
    back.close()  # unacknowledged: it comes again
    back = Talker(broker.port, version)
    assert back.connect(name, **{**lasting, "clean_start": False}).session_present
    again = back.hear_a(Publish)
    assert (again.packet_id, again.dup) == (event.packet_id, True)
    back.say(PubAck(again.packet_id))
    back.hear_nothing_before_a_ping()
    back.close()


def test_a_longer_session_than_is_kept_is_told(broker: ServedBroker) -> None:
    client = Talker(broker.port)
    answer = client.connect("long", properties=ConnectProperties(session_expiry=200_000))
    assert answer.properties.session_expiry == 100_000
    client.close()


def test_an_id_is_assigned_to_whoever_has_none(broker: ServedBroker) -> None:
    first, second = Talker(broker.port), Talker(broker.port)
    names = {client.connect("").properties.assigned_client_id for client in (first, second)}
    assert len(names) == 2
    assert None not in names
    first.close()
    second.close()


def test_a_new_connection_takes_the_session_over(broker: ServedBroker) -> None:
    with talker(broker.port, "twin") as old, talker(broker.port, "twin"):
        assert old.hear_a(Disconnect).reason is Reason.SESSION_TAKEN_OVER
        old.hear_end()


def test_what_is_said_before_connack_counts(broker: ServedBroker) -> None:
    client = Talker(broker.port)
    client.say(Connect("eager"), Subscribe(1, (SubscribeRequest("eager"),)), Publish("eager", b"x"))
    assert isinstance(client.hear(), ConnAck)
    client.hear()
    assert client.hear_event() == ("eager", b"x")
    client.close()


# ── wills and the end ─────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("last", "is_published"),
    [(None, True), (Disconnect(), False), (Disconnect(Reason.DISCONNECT_WITH_WILL), True)],
)
def test_a_will_is_published_unless_the_client_says_goodbye(
    broker: ServedBroker, last: Disconnect | None, is_published: bool
) -> None:
    with talker(broker.port, "heir") as heir:
        heir.subscribe("gone/#")
        with talker(broker.port, "dying", will=Will("gone/x", b"bye", properties=WillProperties())) as dying:
            if last is not None:
                dying.say(last)
        if is_published:
            assert heir.hear_event() == ("gone/x", b"bye")
        with talker(broker.port, "other") as other:
            other.say(Publish("gone/y", b""))
        assert heir.hear_event() == ("gone/y", b"")


def test_a_will_with_a_delay_comes_after_it(broker: ServedBroker) -> None:
    will = Will("late/x", b"bye", properties=WillProperties(will_delay=1))
    with talker(broker.port, "heir2") as heir:
        heir.subscribe("late/#")
        with talker(broker.port, "dying2", will=will, properties=LASTING) as dying:
            dying.say(Publish("late/before", b""))
            assert heir.hear_event() == ("late/before", b"")
        assert heir.hear_event() == ("late/x", b"bye")


def test_a_will_may_not_speak_for_the_server(broker: ServedBroker) -> None:
    client = Talker(broker.port)
    client.say(Connect("forger", will=Will("$SYS/broker/version", b"x", retain=True)))
    assert client.hear_a(ConnAck).reason is Reason.NOT_AUTHORIZED
    client.hear_end()
    client.close()


def test_whoever_is_silent_for_too_long_is_lost(broker: ServedBroker) -> None:
    with talker(broker.port, "watcher") as watcher:
        watcher.subscribe("silent/#")
        with talker(broker.port, "silent", keep_alive=1, will=Will("silent/x", b"lost")) as silent:
            assert silent.hear_a(Disconnect).reason is Reason.KEEP_ALIVE_TIMEOUT
            silent.hear_end()
            assert watcher.hear_event() == ("silent/x", b"lost")


def test_a_goodbye_can_shorten_the_session(broker: ServedBroker) -> None:
    with talker(broker.port, "brief", properties=LASTING) as client:
        client.say(Disconnect(properties=DisconnectProperties(session_expiry=0)))
        client.hear_end()
    back = Talker(broker.port)
    assert not back.connect("brief", clean_start=False).session_present
    back.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_is_told_to_the_clients(number: int) -> None:
    broker = ServedBroker()
    new, old = Talker(broker.port), Talker(broker.port, Version.V311)
    new.connect("new")
    old.connect("old")
    broker.process.send_signal(number)
    assert new.hear_a(Disconnect).reason is Reason.SERVER_SHUTTING_DOWN
    new.hear_end()
    old.hear_end()
    new.close()
    old.close()
    _, log = broker.process.communicate(timeout=PATIENCE)
    assert broker.process.returncode == 0
    assert [line for line in log.splitlines() if "server.stopped" in line]
    assert "Traceback" not in log
