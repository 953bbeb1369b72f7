"""Clients around a broker with a store: what they hear, and when."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from ramify.broker import Broker
from ramify.mqtt import Decoder, Packet, Reason, Version, encode
from ramify.mqtt.packets import (
    ConnAck,
    Connect,
    Disconnect,
    PubAck,
    Publish,
    PubRec,
    SubAck,
    Subscribe,
    SubscribeRequest,
)
from ramify.mqtt.properties import ConnectProperties
from ramify.net.mqtt_clients import Client
from ramify.net.mqtt_hub import Hub
from ramify.net.mqtt_settings import Settings
from tests.net.test_turns import HeldStore, settled

LASTING = ConnectProperties(session_expiry=100)
LOG = structlog.wrap_logger(structlog.ReturnLogger(), processors=[])


class Wire:
    """A socket that remembers."""

    def __init__(self) -> None:
        self.writes = 0
        self.is_reading = True
        self.is_open = True
        self._decoder = Decoder(version=Version.V5)
        self._heard: list[Packet] = []

    def write(self, data: bytes, /) -> None:
        self.writes += 1
        self._heard += self._decoder.feed(data)

    def heard(self) -> list[Packet]:
        heard, self._heard = self._heard, []
        return heard

    def can_write_eof(self) -> bool:
        return False

    def write_eof(self) -> None:
        raise AssertionError

    def close(self) -> None:
        self.is_open = False

    abort = close

    def pause_reading(self) -> None:
        self.is_reading = False

    def resume_reading(self) -> None:
        self.is_reading = True


class House:
    """A hub, its store, and those who come."""

    def __init__(self) -> None:
        self.store = HeldStore()
        self.hub = Hub(Broker(), Settings(connects_per_second=0), LOG, self.store)

    def arrive(self) -> tuple[Client, Wire]:
        wire = Wire()
        client = self.hub.arrive(wire, "here")
        assert client is not None
        return client, wire

    async def commit(self) -> None:
        await settled()
        self.store.commits[-1][1].set_result(None)
        await settled()


async def say(client: Client, *packets: Packet) -> None:
    client.hear(b"".join(encode(packet, Version.V5) for packet in packets))
    await settled()


def played(play: Callable[[House], Awaitable[None]]) -> None:
    async def run() -> None:
        house = House()
        await play(house)
        house.hub.settings = Settings(grace=0.0)
        await house.hub.stop()
        house.hub.failure.cancel()

    asyncio.run(run())


def test_a_lasting_session_is_let_in_when_it_is_durable() -> None:
    async def play(house: House) -> None:
        client, wire = house.arrive()
        await say(client, Connect("ann", properties=LASTING), Subscribe(1, (SubscribeRequest("a", 1),)))
        assert wire.heard() == []
        await house.commit()
        assert [type(packet) for packet in wire.heard()] == [ConnAck]
        await house.commit()
        assert [type(packet) for packet in wire.heard()] == [SubAck]

    played(play)


def test_an_event_is_acknowledged_and_delivered_when_it_is_durable() -> None:
    async def play(house: House) -> None:
        ann, ann_hears = house.arrive()
        await say(ann, Connect("ann", properties=LASTING), Subscribe(1, (SubscribeRequest("a/#", 2),)))
        await house.commit()
        await house.commit()
        bob, bob_hears = house.arrive()
        await say(bob, Connect("bob"))
        ann_hears.heard()
        bob_hears.heard()
        await say(bob, Publish("a/1", b"1", 1, packet_id=1), Publish("a/2", b"2", 2, packet_id=2))
        await say(bob, Publish("other", b"3", 1, packet_id=3))
        assert ann_hears.heard() + bob_hears.heard() == []
        await house.commit()
        assert [
            (packet.topic, packet.qos) for packet in ann_hears.heard() if isinstance(packet, Publish)
        ] == [
            ("a/1", 1),
            ("a/2", 2),
        ]
        assert bob_hears.heard() == [PubAck(1), PubRec(2), PubAck(3, Reason.NO_MATCHING_SUBSCRIBERS)]

    played(play)


def test_plain_traffic_does_not_wait_for_the_disk() -> None:
    async def play(house: House) -> None:
        ann, ann_hears = house.arrive()
        await say(ann, Connect("ann"), Subscribe(1, (SubscribeRequest("a"),)))
        bob, bob_hears = house.arrive()
        await say(bob, Connect("bob"))
        await say(bob, Publish("kept", b"x", 1, retain=True, packet_id=1), Publish("a", b"now"))
        assert Publish("a", b"now") in ann_hears.heard()
        assert PubAck(1) not in bob_hears.heard()

    played(play)


def test_a_turn_writes_once_to_each_socket() -> None:
    async def play(house: House) -> None:
        ann, hears = house.arrive()
        await say(ann, Connect("ann"), Subscribe(1, (SubscribeRequest("a"),)))
        bob, _ = house.arrive()
        await say(bob, Connect("bob"))
        before = hears.writes
        await say(bob, *(Publish("a", b"%d" % number) for number in range(50)))
        assert hears.writes == before + 1
        assert len(hears.heard()) == 52

    played(play)


def test_whoever_goes_while_it_is_let_in_leaves_nothing_behind() -> None:
    async def play(house: House) -> None:
        client, wire = house.arrive()
        await say(client, Connect("ann", properties=LASTING))
        house.hub.depart(client)
        await house.commit()
        await house.commit()
        assert wire.heard() == []
        assert house.hub.connected == 0
        session = house.hub.broker.session("ann")
        assert session is not None
        assert not session.is_connected

    played(play)


def test_a_failing_store_ends_the_service() -> None:
    async def play(house: House) -> None:
        client, wire = house.arrive()
        await say(client, Connect("ann", properties=LASTING))
        house.store.commits[-1][1].set_exception(OSError("the disk is full"))
        await settled()
        assert isinstance(house.hub.failure.exception(), OSError)
        assert wire.heard() == []

    played(play)


def test_a_slow_socket_is_spared_until_it_takes_more() -> None:
    async def play(house: House) -> None:
        ann, hears = house.arrive()
        await say(ann, Connect("ann"), Subscribe(1, (SubscribeRequest("a", 1),)))
        bob, _ = house.arrive()
        await say(bob, Connect("bob"))
        hears.heard()
        ann.congest(True)
        await say(bob, Publish("a", b"1"), Publish("a", b"2", 1, packet_id=1))
        assert hears.heard() == []
        ann.congest(False)
        await settled()
        assert {packet.payload for packet in hears.heard() if isinstance(packet, Publish)} == {b"1", b"2"}

    played(play)


def test_everyone_hears_that_the_server_stops() -> None:
    async def play(house: House) -> None:
        client, wire = house.arrive()
        await say(client, Connect("ann"))
        wire.heard()
        house.hub.settings = Settings(grace=0.0)
        await house.hub.stop()
        (last,) = wire.heard()
        assert isinstance(last, Disconnect)
        assert last.reason is Reason.SERVER_SHUTTING_DOWN
        assert not wire.is_open

    played(play)
