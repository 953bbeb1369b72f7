"""Whole sessions with damage in them: never a fault of ours, never a connection left behind."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

from ramify.broker import Broker
from ramify.mqtt import Version, encode
from ramify.mqtt.packets import (
    Connect,
    Disconnect,
    Packet,
    PingReq,
    PubAck,
    PubComp,
    Publish,
    PubRec,
    PubRel,
    QoS,
    Subscribe,
    SubscribeRequest,
    Unsubscribe,
    Will,
)
from ramify.mqtt.properties import ConnectProperties, PublishProperties, SubscribeProperties
from ramify.net.mqtt_hub import Hub
from ramify.net.mqtt_settings import Settings
from tests.net.test_mqtt_hub import LOG

SESSIONS = 3_000
QUALITIES: tuple[QoS, ...] = (0, 1, 2)


class Nowhere:
    """A socket that nobody reads."""

    def __init__(self) -> None:
        self.is_open = True

    def write(self, data: bytes, /) -> None:
        assert self.is_open

    def can_write_eof(self) -> bool:
        return False

    def write_eof(self) -> None:
        raise AssertionError

    def close(self) -> None:
        self.is_open = False

    def abort(self) -> None:
        self.is_open = False

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass


NAMES = ["where", "dialect", "debounce-quiet", "defer", "key", "shadow"]
VALUES = ["x = 1", "glob", "0.01", "-1", "true", "", "nan"]
PATTERNS = ["a", "#", "+/b", "$share/g/a", '$ramify/{"where": "x = 1"}/a', "$ramify/{]}/a", "a/#/b"]


def random_packet(random: Random, version: Version) -> Packet:
    number, qos = random.randint(1, 5), random.choice(QUALITIES)
    topic, pattern = random.choice(["a", "a/b", "$SYS/x", "c"]), random.choice(PATTERNS)
    user: tuple[tuple[str, str], ...] = ()
    if version is Version.V5 and random.random() < 0.5:
        user = ((random.choice(NAMES), random.choice(VALUES)),)
    said, asked = PublishProperties(user_properties=user), SubscribeProperties(user_properties=user)
    is_retained = random.random() < 0.2
    choices: list[Packet] = [
        Publish(topic, b'{"x": 1}', qos, is_retained, packet_id=number if qos else 0, properties=said),
        Subscribe(number, (SubscribeRequest(pattern, qos),), asked),
        Unsubscribe(number, (pattern,)),
        PubAck(number),
        PubRec(number),
        PubRel(number),
        PubComp(number),
        PingReq(),
        Disconnect(),
    ]
    return random.choice(choices)


def random_session(random: Random) -> bytes:
    version = random.choice([Version.V311, Version.V5])
    will = random.choice([None, Will("a", b"gone"), Will("$SYS/a", b"")])
    expiry = ConnectProperties(session_expiry=random.choice([0, 100])) if version is Version.V5 else None
    options: dict[str, Any] = {} if expiry is None else {"properties": expiry}
    name = random.choice(["ann", "bob", ""])
    packets: list[Packet] = [
        Connect(name, version, name == "" or random.random() < 0.5, will=will, **options)
    ]
    packets += [random_packet(random, version) for _ in range(random.randint(0, 12))]
    return b"".join(encode(packet, version) for packet in packets)


def damaged(random: Random, data: bytes) -> bytes:
    """Bytes with some of them changed, left out, or repeated."""
    mutable = bytearray(data)
    for _ in range(random.choice([0, 1, 1, 2, 5])):
        place = random.randrange(len(mutable))
        what = random.random()
        if what < 0.6:
            mutable[place] = random.randrange(256)
        elif what < 0.8:
            del mutable[place : place + random.randint(1, 4)]
        else:
            mutable[place:place] = mutable[place : place + 8]
        if not mutable:
            return data
    return bytes(mutable)


def test_damaged_sessions_are_no_fault_of_ours() -> None:
    seed = Random().randrange(1 << 32)
    print("seed", seed)
    random = Random(seed)

    async def run() -> None:
        hub = Hub(Broker(), Settings(connects_per_second=0, grace=0.0), LOG)
        present = []
        for _ in range(SESSIONS):
            client = hub.arrive(Nowhere(), "here")
            assert client is not None
            present.append(client)
            data = damaged(random, random_session(random))
            cut = random.randrange(len(data))
            client.hear(data[:cut])
            if random.random() < 0.3:
                await asyncio.sleep(0)
            client.hear(data[cut:])
            if len(present) > 20:
                hub.depart(present.pop(random.randrange(len(present))))
        for client in present:
            hub.depart(client)
        await asyncio.sleep(0)
        assert hub.connected == 0
        assert hub._links == {}
        assert not any(session.is_connected for session in hub.broker.sessions())
        await hub.stop()
        hub.failure.cancel()

    asyncio.run(run())
