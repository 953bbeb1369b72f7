"""Ordinary clients of others, unchanged: paho-mqtt, aiomqtt, mosquitto_pub and mosquitto_sub."""

from __future__ import annotations

import asyncio
import queue
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import aiomqtt
import paho.mqtt.client as paho
import pytest
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.subscribeoptions import SubscribeOptions

from tests.net.mqtt_served import PATIENCE, ServedBroker, served_broker

VERSIONS = {"3.1.1": paho.MQTTv311, "5": paho.MQTTv5}
BOTH = pytest.mark.parametrize("version", list(VERSIONS))


@pytest.fixture(scope="module")
def broker() -> Iterator[ServedBroker]:
    with served_broker("--ws-port", "0") as broker:
        yield broker


# ── paho-mqtt ─────────────────────────────────────────────────────────────────────────────


class Paho:
    """A paho client whose callbacks end in queues."""

    def __init__(self, name: str, version: str, transport: Any = "tcp", **settings: Any) -> None:
        self.client = paho.Client(
            CallbackAPIVersion.VERSION2, name, protocol=VERSIONS[version], transport=transport, **settings
        )
        self.connected: queue.Queue[Any] = queue.Queue()
        self.granted: queue.Queue[Any] = queue.Queue()
        self.events: queue.Queue[paho.MQTTMessage] = queue.Queue()
        self.client.on_connect = lambda client, data, flags, reason, properties: self.connected.put(
            (reason, flags)
        )
        self.client.on_subscribe = lambda client, data, mid, reasons, properties: self.granted.put(reasons)
        self.client.on_message = lambda client, data, event: self.events.put(event)

    def subscribe(self, pattern: str, qos: int = 0, **options: Any) -> Any:
        self.client.subscribe(pattern, qos, **options)
        return self.granted.get(timeout=PATIENCE)

    def event(self) -> paho.MQTTMessage:
        return self.events.get(timeout=PATIENCE)


@contextmanager
def paho_client(
    port: int,
    name: str,
    version: str,
    transport: str = "tcp",
    connect: dict[str, Any] | None = None,
    **settings: Any,
) -> Iterator[Paho]:
    client = Paho(name, version, transport, **settings)
    client.client.connect("127.0.0.1", port, **(connect or {}))
    client.client.loop_start()
    try:
        reason, _ = client.connected.get(timeout=PATIENCE)
        assert not reason.is_failure
        yield client
    finally:
        client.client.disconnect()
        client.client.loop_stop()


@BOTH
@pytest.mark.parametrize("transport", ["tcp", "websockets"])
def test_paho_publishes_and_gets_events_of_every_quality(
    broker: ServedBroker, version: str, transport: str
) -> None:
    port = broker.ports["mqtt" if transport == "tcp" else "ws"]
    with paho_client(port, f"paho{version}{transport}", version, transport) as client:
        client.subscribe(f"paho/{version}/{transport}/#", 2)
        for qos in (0, 1, 2):
            sent = client.client.publish(f"paho/{version}/{transport}/{qos}", f"hällo {qos}", qos)
            sent.wait_for_publish(PATIENCE)
            event = client.event()
            assert (event.topic, event.payload.decode(), event.qos) == (
                f"paho/{version}/{transport}/{qos}",
                f"hällo {qos}",
                qos,
            )


def test_paho_subscribes_by_content_and_shares_in_mqtt_5(broker: ServedBroker) -> None:
    with paho_client(broker.port, "paho-where", "5") as client:
        wishes = Properties(PacketTypes.SUBSCRIBE)  # type: ignore[no-untyped-call]
        wishes.UserProperty = [("where", "price >= 2.5")]
        wishes.SubscriptionIdentifier = 12
        client.subscribe("odds/+", 1, properties=wishes)
        for price in (2.4, 2.5):
            client.client.publish("odds/7", f'{{"price": {price}}}', 1)
        event = client.event()
        assert event.payload == b'{"price": 2.5}'
        shown: Any = event.properties
        assert shown.SubscriptionIdentifier == [12]
        assert not client.subscribe("$share/g/jobs/#", options=SubscribeOptions(1))[0].is_failure
        client.client.publish("jobs/a", b"x", 1)
        assert client.event().topic == "jobs/a"


def test_paho_comes_back_to_its_session(broker: ServedBroker) -> None:
    with paho_client(broker.port, "paho-back", "3.1.1", clean_session=False) as client:
        client.subscribe("back/#", 1)
    with paho_client(broker.port, "paho-other", "5") as other:
        for number in range(20):
            other.client.publish("back/a", str(number), 1).wait_for_publish(PATIENCE)
    with paho_client(broker.port, "paho-back", "3.1.1", clean_session=False) as client:
        assert [client.event().payload for _ in range(20)] == [b"%d" % number for number in range(20)]


@BOTH
def test_a_will_of_paho_reaches_others(broker: ServedBroker, version: str) -> None:
    with paho_client(broker.port, "paho-heir", version) as heir:
        heir.subscribe(f"will/{version}")
        lost = Paho("paho-lost", version)
        lost.client.will_set(f"will/{version}", b"bye", 1)
        lost.client.connect("127.0.0.1", broker.port)
        lost.client.loop_start()
        lost.connected.get(timeout=PATIENCE)
        lost.client.loop_stop()
        lost.client.socket().close()  # type: ignore[union-attr]
        assert heir.event().payload == b"bye"
        lost.client._sock = None


# ── aiomqtt ───────────────────────────────────────────────────────────────────────────────


def test_aiomqtt_publishes_and_gets_events(broker: ServedBroker) -> None:
    async def run() -> list[tuple[str, Any]]:
        seen = []
        async with aiomqtt.Client("127.0.0.1", broker.port, protocol=aiomqtt.ProtocolVersion.V5) as client:
            await client.subscribe("aio/#", qos=2)
            for qos in (0, 1, 2):
                await client.publish(f"aio/{qos}", payload=f"{qos}", qos=qos)
            async for event in client.messages:
                seen.append((str(event.topic), event.payload))
                if len(seen) == 3:
                    return seen
        return seen

    seen = asyncio.run(asyncio.wait_for(run(), PATIENCE))
    assert sorted(seen) == [("aio/0", b"0"), ("aio/1", b"1"), ("aio/2", b"2")]


# ── mosquitto's clients ───────────────────────────────────────────────────────────────────


def mosquitto_pub(broker: ServedBroker, *options: str) -> None:
    command = ["mosquitto_pub", "-h", "127.0.0.1", "-p", str(broker.port), *options]
    subprocess.run(command, check=True, timeout=PATIENCE)


def mosquitto_sub(broker: ServedBroker, *options: str) -> str:
    command = ["mosquitto_sub", "-h", "127.0.0.1", "-p", str(broker.port), "-W", "20", *options]
    return subprocess.run(command, check=True, timeout=PATIENCE + 5, stdout=subprocess.PIPE, text=True).stdout


@pytest.mark.parametrize("version", ["mqttv311", "mqttv5"])
def test_mosquittos_clients_leave_and_find_retained_events(broker: ServedBroker, version: str) -> None:
    for qos in "012":
        mosquitto_pub(broker, "-V", version, "-t", f"mosq/{version}/{qos}", "-m", f"m{qos}", "-q", qos, "-r")
    shown = mosquitto_sub(
        broker, "-V", version, "-t", f"mosq/{version}/#", "-C", "3", "-q", "2", "-F", "%t %p %q %r"
    )
    assert sorted(shown.splitlines()) == [f"mosq/{version}/{qos} m{qos} {qos} 1" for qos in "012"]


def test_mosquitto_sub_asks_by_content(broker: ServedBroker) -> None:
    for celsius in (70, 90):
        mosquitto_pub(
            broker, "-t", f"plant/{celsius}/temp", "-m", f'{{"celsius": {celsius}}}', "-r", "-q", "1"
        )
    by_property = (
        "-V",
        "mqttv5",
        "-t",
        "plant/+/temp",
        "-D",
        "subscribe",
        "user-property",
        "where",
        "celsius > 80",
    )
    by_topic = ("-V", "mqttv311", "-t", '$ramify/{"where": "celsius > 80"}/plant/+/temp')
    for options in (by_property, by_topic):
        assert mosquitto_sub(broker, *options, "-C", "1", "-F", "%t %p") == 'plant/90/temp {"celsius": 90}\n'
