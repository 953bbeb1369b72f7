"""Real programs understand us: Mosquitto takes our client's packets, and its clients our server's."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ramify.mqtt import (
    Closed,
    Connection,
    Decoder,
    Input,
    Limits,
    Packet,
    PublishTemplate,
    Reason,
    Version,
    encode,
)
from ramify.mqtt.packets import (
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
from ramify.mqtt.properties import ConnectProperties, PublishProperties, SubscribeProperties
from tests.services import PATIENCE, mosquitto

BOTH = pytest.mark.parametrize("version", list(Version))
EXTRA = PublishProperties(
    payload_format=1,
    response_topic="re/ply",
    correlation_data=b"\x00\xff",
    user_properties=(("a", "1"), ("a", "2")),
    content_type="text/plain",
)


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with mosquitto(tmp_path_factory.mktemp("mosquitto")) as url:
        yield int(url.rpartition(":")[2])


class Client:
    """A client of a real server, made of the codec and a socket."""

    def __init__(self, port: int, version: Version) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self._decoder, self._version = Decoder(version=version), version
        self._heard: list[Packet] = []

    def say(self, packet: Packet) -> None:
        self._socket.sendall(encode(packet, self._version))

    def hear(self) -> Packet:
        while not self._heard:
            data = self._socket.recv(65_536)
            assert data, "the server has hung up"
            self._heard += self._decoder.feed(data)
            assert self._decoder.error is None
        return self._heard.pop(0)

    def close(self) -> None:
        self._socket.close()


@BOTH
def test_mosquitto_takes_what_we_say(broker: int, version: Version) -> None:
    is_5 = version is Version.V5
    client = Client(broker, version)
    wishes = ConnectProperties(session_expiry=5, receive_maximum=7) if is_5 else ConnectProperties()
    client.say(Connect("c", version, True, 30, will=Will("gone", b"x", 1), properties=wishes))
    answer = client.hear()
    assert isinstance(answer, ConnAck)
    assert answer.reason is Reason.SUCCESS
    wanted = SubscribeProperties(subscription_id=300) if is_5 else SubscribeProperties()
    client.say(Subscribe(1, (SubscribeRequest("a/+", 2), SubscribeRequest("é/#", 1)), wanted))
    assert client.hear() == SubAck(1, (Reason.GRANTED_QOS_2, Reason.GRANTED_QOS_1))
    extra = EXTRA if is_5 else PublishProperties()
    for qos in (0, 1, 2):
        exchange(client, Publish("a/b", b"hello", qos, packet_id=10 if qos else 0, properties=extra))
    client.say(Unsubscribe(2, ("a/+",)))
    assert client.hear() == UnsubAck(2, (Reason.SUCCESS,) if is_5 else ())
    client.say(PingReq())
    assert client.hear() == PingResp()
    client.say(Disconnect())
    client.close()


def exchange(client: Client, publish: Publish) -> None:
    """Publish a message and get it back, in whatever order the server does it."""
    client.say(publish)
    done = {0: {"back"}, 1: {"back", "sent"}, 2: {"back", "sent"}}[publish.qos]
    while done:
        match client.hear():
            case Publish() as back:
                assert (back.topic, back.payload, back.qos) == (publish.topic, publish.payload, publish.qos)
                assert back.properties.user_properties == publish.properties.user_properties
                assert back.properties.correlation_data == publish.properties.correlation_data
                if back.qos < 2:
                    done.discard("back")
                if back.qos:
                    client.say(PubAck(back.packet_id) if back.qos == 1 else PubRec(back.packet_id))
            case PubRel(packet_id):
                client.say(PubComp(packet_id))
                done.discard("back")
            case PubRec(packet_id):
                client.say(PubRel(packet_id))
            case PubAck() | PubComp():
                done.discard("sent")
            case other:
                raise AssertionError(f"unexpected {other}")


class Server:
    """A server of one real client, made of a connection and a socket."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._listening.settimeout(PATIENCE)
        self.port = str(self._listening.getsockname()[1])
        self.connection = Connection(Limits(), now=0.0)

    def take(self, delivered: Publish | None = None) -> list[Input]:
        """Serve the client until it is gone; give it a message once it has subscribed."""
        peer, _ = self._listening.accept()
        peer.settimeout(PATIENCE)
        inputs: list[Input] = []
        with peer, self._listening:
            while not self.connection.is_closed:
                data = peer.recv(65_536)
                if not data:
                    break
                for said in self.connection.receive(data, 1.0):
                    inputs.append(said)
                    inputs += self._answered(said, delivered)
                peer.sendall(self.connection.take_output())
        return inputs

    def _answered(self, said: Input, delivered: Publish | None) -> list[Input]:
        match said:
            case Connect():
                return self.connection.accept(1.0, session_present=False)
            case Publish(qos=1):
                self.connection.send(PubAck(said.packet_id))
            case Publish(qos=2):
                self.connection.send(PubRec(said.packet_id))
            case PubRel():
                self.connection.send(PubComp(said.packet_id))
            case PubRec():
                self.connection.send(PubRel(said.packet_id))
            case Subscribe() if delivered is not None and self.connection.version is not None:
                self.connection.send(
                    SubAck(said.packet_id, tuple(Reason(each.qos) for each in said.requests))
                )
                self.connection.deliver(PublishTemplate(delivered, self.connection.version), 77)
            case _:
                pass
        return []


NAMES = {Version.V311: "mqttv311", Version.V5: "mqttv5"}


@BOTH
def test_mosquitto_pub_is_understood_and_understands(version: Version, tmp_path: Path) -> None:
    server = Server()
    command = ["mosquitto_pub", "-h", "127.0.0.1", "-p", server.port, "-V", NAMES[version], "-i", "me"]
    command += ["-t", "a/b", "-m", "hällo", "-q", "2", "-r", "--will-topic", "gone", "--will-payload", "x"]
    if version is Version.V5:
        command += ["-D", "publish", "user-property", "k", "v", "-D", "publish", "content-type", "text/plain"]
    with subprocess.Popen(command) as publisher:
        inputs = server.take()
        assert publisher.wait(PATIENCE) == 0
    connect, publish, release, closed = inputs
    assert isinstance(connect, Connect)
    assert (connect.client_id, connect.version, connect.will) == ("me", version, Will("gone", b"x"))
    assert isinstance(publish, Publish)
    assert (publish.topic, publish.payload.decode(), publish.qos, publish.retain) == ("a/b", "hällo", 2, True)
    assert publish.properties.user_properties == ((("k", "v"),) if version is Version.V5 else ())
    assert release == PubRel(publish.packet_id)
    assert closed == Closed(Reason.NORMAL_DISCONNECTION, publishes_will=False)


@BOTH
def test_mosquitto_sub_is_understood_and_understands(version: Version) -> None:
    server = Server()
    command = ["mosquitto_sub", "-h", "127.0.0.1", "-p", server.port, "-V", NAMES[version]]
    command += ["-t", "a/+", "-t", "b/#", "-q", "1", "-C", "1", "-F", "%t %p"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as subscriber:
        inputs = server.take(Publish("a/é", b"hello", 1, properties=EXTRA))
        output, _ = subscriber.communicate(timeout=PATIENCE)
        assert (output, subscriber.returncode) == ("a/é hello\n", 0)
    (subscribe,) = [said for said in inputs if isinstance(said, Subscribe)]
    assert [(request.filter, request.qos) for request in subscribe.requests] == [("a/+", 1), ("b/#", 1)]
    assert PubAck(77) in inputs
    assert inputs[-1] == Closed(Reason.NORMAL_DISCONNECTION, publishes_will=False)
