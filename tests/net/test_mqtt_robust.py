"""Clients that misbehave: whatever they do, those who behave are served as if nothing were."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from random import Random

import pytest

from ramify.mqtt import Reason, Version, encode
from ramify.mqtt.packets import ConnAck, Connect, Disconnect, PubAck, Publish, Subscribe, SubscribeRequest
from ramify.mqtt.properties import ConnectProperties
from tests.net.mqtt_served import PATIENCE, ServedBroker, Talker, eventually, served_broker, talker


@pytest.fixture(scope="module")
def broker() -> Iterator[ServedBroker]:
    with served_broker("--connect-timeout", "1", "--max-packet", "100000", "--max-queued", "200") as broker:
        yield broker


@pytest.fixture
def neighbour(broker: ServedBroker) -> Iterator[Talker]:
    """A client that is served before and after."""
    with talker(broker.port, "neighbour") as client:
        client.subscribe("near")
        yield client
        client.say(Publish("near", b"still here"))
        assert client.hear_event() == ("near", b"still here")


def test_one_byte_at_a_time_is_understood(broker: ServedBroker, neighbour: Talker) -> None:
    client = Talker(broker.port)
    client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    packets = Connect("slowly"), Subscribe(1, (SubscribeRequest("slow/+"),)), Publish("slow/a", b"x" * 20)
    for byte in b"".join(encode(packet, Version.V5) for packet in packets):
        client.socket.sendall(bytes([byte]))
    client.hear_a(ConnAck)
    client.hear()
    assert client.hear_event() == ("slow/a", b"x" * 20)
    client.close()


def test_garbage_ends_its_own_connection_only(broker: ServedBroker, neighbour: Talker) -> None:
    seed = Random().randrange(1 << 32)
    print("seed", seed)
    random = Random(seed)
    greeting = encode(Connect("garbage", keep_alive=1), Version.V5)
    for _ in range(150):
        with socket.create_connection(("127.0.0.1", broker.port), timeout=PATIENCE) as client:
            if random.random() < 0.5:
                client.sendall(greeting)
            client.sendall(random.randbytes(random.randrange(1, 200)))
            client.shutdown(socket.SHUT_WR)
            while _read(client):
                pass


def _read(client: socket.socket) -> bytes:
    try:
        return client.recv(65_536)
    except ConnectionResetError:
        return b""


def test_a_packet_that_is_too_large_is_told(broker: ServedBroker, neighbour: Talker) -> None:
    with talker(broker.port, "large") as client:
        client.socket.sendall(b"\x30\xff\xff\x7f" + bytes(1000))
        assert client.hear_a(Disconnect).reason is Reason.PACKET_TOO_LARGE
        client.hear_end()


def test_silent_and_half_open_connections_time_out(broker: ServedBroker, neighbour: Talker) -> None:
    silent = [socket.create_connection(("127.0.0.1", broker.port), timeout=PATIENCE) for _ in range(20)]
    for client in silent[::2]:
        client.sendall(b"\x10")
    for client in silent:
        assert client.recv(1) == b""
        client.close()


def test_whoever_does_not_hang_up_is_cut_off(broker: ServedBroker, neighbour: Talker) -> None:
    with talker(broker.port, "clinging") as client:
        client.say(Disconnect())
        client.hear_end()
        # The server has said its last; some seconds later the socket is gone for good.
        client.socket.settimeout(None)
        eventually(lambda: _is_cut_off(client.socket))


def _is_cut_off(client: socket.socket) -> bool:
    try:
        client.send(b"\xc0\x00")
    except (BrokenPipeError, ConnectionResetError):
        return True
    return False


def test_a_flood_of_connections_leaves_others_served(broker: ServedBroker, neighbour: Talker) -> None:
    for _ in range(10):
        flood = [socket.create_connection(("127.0.0.1", broker.port), timeout=PATIENCE) for _ in range(50)]
        neighbour.say(Publish("near", b"x"))
        assert neighbour.hear_event() == ("near", b"x")
        for client in flood:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.close()


def test_who_comes_too_often_is_refused() -> None:
    with served_broker("--connect-rate", "2") as broker:
        clients = [Talker(broker.port) for _ in range(4)]
        reasons = []
        for number, client in enumerate(clients):
            client.say(Connect(f"often{number}"))
            reasons.append(client.hear_a(ConnAck).reason)
            client.close()
        assert reasons[:2] == [Reason.SUCCESS] * 2
        assert Reason.CONNECTION_RATE_EXCEEDED in reasons


def test_more_connections_than_there_is_room_for_are_closed() -> None:
    with served_broker("--max-connections", "2") as broker:
        with talker(broker.port, "one"), talker(broker.port, "two"):
            late = socket.create_connection(("127.0.0.1", broker.port), timeout=PATIENCE)
            assert _read(late) == b""
            late.close()

        def is_room() -> bool:
            client = Talker(broker.port)
            try:
                client.connect("three")
            except (AssertionError, ConnectionError):
                return False
            finally:
                client.close()
            return True

        eventually(is_room)


def test_a_client_that_does_not_read_costs_its_neighbours_nothing_in_quality_0(
    broker: ServedBroker, neighbour: Talker
) -> None:
    with talker(broker.port, "sleeper") as sleeper, talker(broker.port, "talkative") as client:
        sleeper.subscribe("stream/#")
        client.subscribe("stream/#")
        size, count = 50_000, 600
        for number in range(count):
            client.say(Publish("stream/a", b"%6d" % number + bytes(size)))
            assert client.hear_a(Publish).payload[:6] == b"%6d" % number
        first = sleeper.hear_a(Publish)
        assert first.payload[:6] == b"%6d" % 0
        numbers = [int(first.payload[:6])]
        while numbers[-1] < count - 1:
            numbers.append(int(sleeper.hear_a(Publish).payload[:6]))
        assert numbers == sorted(numbers)  # some were dropped, none came in disorder
        assert len(numbers) < count


def test_whoever_publishes_in_quality_1_to_a_client_that_does_not_read_waits(broker: ServedBroker) -> None:
    window = ConnectProperties(receive_maximum=1)
    with talker(broker.port, "lazy", properties=window) as lazy, talker(broker.port, "eager1") as eager:
        lazy.subscribe("work/#", qos=1)
        count = 1000
        said = b"".join(
            encode(Publish("work/a", b"%d" % number, 1, packet_id=number), Version.V5)
            for number in range(1, count + 1)
        )
        eager.socket.sendall(said[: len(said) // 4])
        heard: list[bytes] = []
        eager.socket.settimeout(PATIENCE)
        eager.socket.sendall(said[len(said) // 4 :])
        while len(heard) < count:
            event = lazy.hear_a(Publish)
            heard.append(event.payload)
            lazy.say(PubAck(event.packet_id))
        assert heard == sorted(heard, key=int)
        assert heard[-1] == b"%d" % count
