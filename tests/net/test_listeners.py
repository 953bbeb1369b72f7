"""Where clients come in: TLS, WebSocket, and who is not let near."""

from __future__ import annotations

import datetime
import socket
import ssl
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from ramify.errors import InvalidEndpoint, InvalidFile
from ramify.mqtt import Decoder, Packet, Version, encode
from ramify.mqtt.packets import ConnAck, Connect, Disconnect, Publish, SubAck, Subscribe, SubscribeRequest
from ramify.net.listeners import Certificate, Listener, check_reach, tls_context
from tests.net.mqtt_served import PATIENCE, ServedBroker, Talker, served_broker

MQTT = [Subprotocol("mqtt")]


@dataclass(frozen=True)
class Papers:
    """A certificate and its key, in files."""

    certificate: Path
    key: Path


def issue(folder: Path, name: str) -> Papers:
    """A certificate that vouches for itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    papers = Papers(folder / f"{name}.pem", folder / f"{name}.key")
    papers.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    form = serialization.PrivateFormat.PKCS8
    papers.key.write_bytes(key.private_bytes(serialization.Encoding.PEM, form, plain))
    return papers


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Papers:
    return issue(tmp_path_factory.mktemp("server"), "server")


@pytest.fixture(scope="module")
def broker(server: Papers) -> Iterator[ServedBroker]:
    files = ("--tls-cert", str(server.certificate), "--tls-key", str(server.key))
    ports = ("--tls-port", "0", "--ws-port", "0", "--wss-port", "0", "--ws-origin", "https://good.example")
    with served_broker(*ports, *files) as broker:
        yield broker


def trusting(server: Papers) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(server.certificate))


class TlsTalker(Talker):
    def __init__(self, port: int, context: ssl.SSLContext) -> None:
        super().__init__(port)
        self.socket = context.wrap_socket(self.socket, server_hostname="localhost")


def connect_over_tls(port: int, context: ssl.SSLContext) -> None:
    client = Talker(port)
    try:
        client.socket = context.wrap_socket(client.socket, server_hostname="localhost")
        client.connect("stranger")
    finally:
        client.close()


# ── TLS ───────────────────────────────────────────────────────────────────────────────────


def test_a_client_is_served_over_tls(broker: ServedBroker, server: Papers) -> None:
    client = TlsTalker(broker.ports["mqtts"], trusting(server))
    client.connect("secret")
    client.subscribe("s/#")
    client.say(Publish("s/a", b"x" * 100_000), Publish("s/b", b"y"))
    assert client.hear_event() == ("s/a", b"x" * 100_000)
    assert client.hear_event() == ("s/b", b"y")
    client.say(Disconnect())
    client.hear_end()
    client.close()


def test_old_versions_of_tls_are_refused(server: Papers) -> None:
    context = tls_context(Certificate(str(server.certificate), str(server.key)))
    assert context.minimum_version is ssl.TLSVersion.TLSv1_2


def test_plain_bytes_at_the_tls_port_disturb_nobody(broker: ServedBroker, server: Papers) -> None:
    with socket.create_connection(("127.0.0.1", broker.ports["mqtts"]), timeout=PATIENCE) as stranger:
        stranger.sendall(encode(Connect("plain"), Version.V5))
        while stranger.recv(1000):
            pass
    test_a_client_is_served_over_tls(broker, server)


def test_clients_need_a_certificate_of_the_authority(server: Papers, tmp_path: Path) -> None:
    known, unknown = issue(tmp_path, "known"), issue(tmp_path, "unknown")
    files = ("--tls-cert", str(server.certificate), "--tls-key", str(server.key))
    with served_broker("--tls-port", "0", *files, "--tls-client-ca", str(known.certificate)) as broker:
        for papers in (None, unknown):
            context = trusting(server)
            if papers is not None:
                context.load_cert_chain(papers.certificate, papers.key)
            with pytest.raises((ssl.SSLError, AssertionError, ConnectionError)):
                connect_over_tls(broker.ports["mqtts"], context)
        context = trusting(server)
        context.load_cert_chain(known.certificate, known.key)
        client = TlsTalker(broker.ports["mqtts"], context)
        client.connect("friend")
        client.close()


@pytest.mark.parametrize("broken", ["certificate", "key"])
def test_a_file_that_is_no_certificate_is_named(server: Papers, tmp_path: Path, broken: str) -> None:
    (tmp_path / "x.pem").write_text("nonsense")
    files = {"certificate": str(server.certificate), "key": str(server.key), broken: str(tmp_path / "x.pem")}
    with pytest.raises(InvalidFile, match="cannot be used for TLS"):
        tls_context(Certificate(**files))


# ── WebSocket ─────────────────────────────────────────────────────────────────────────────


def hear(client: ClientConnection, decoder: Decoder, count: int) -> list[Packet]:
    packets: list[Packet] = []
    while len(packets) < count:
        data = client.recv(PATIENCE)
        assert isinstance(data, bytes)
        packets += decoder.feed(data)
    return packets


@pytest.mark.parametrize("scheme", ["ws", "wss"])
def test_a_client_is_served_over_websocket(broker: ServedBroker, server: Papers, scheme: str) -> None:
    url = f"{scheme}://localhost:{broker.ports[scheme]}/mqtt"
    context = trusting(server) if scheme == "wss" else None
    with connect(url, subprotocols=MQTT, ssl=context, compression=None) as client:
        assert client.subprotocol == "mqtt"
        decoder = Decoder(version=Version.V5)
        packets = Connect("web"), Subscribe(1, (SubscribeRequest("w/#"),)), Publish("w/a", b"x" * 70_000)
        said = b"".join(encode(packet, Version.V5) for packet in packets)
        # Packets need not keep to frames, nor frames to messages.
        client.send([said[:3], said[3:10]])
        client.send(said[10:])
        heard = hear(client, decoder, 3)
        assert [type(packet) for packet in heard] == [ConnAck, SubAck, Publish]
        client.send(encode(Disconnect(), Version.V5))
        with pytest.raises(ConnectionClosed):
            client.recv(PATIENCE)


@pytest.mark.parametrize(
    ("origin", "is_served"),
    [("http://localhost:3000", True), ("https://good.example", True), ("https://evil.example", False)],
)
def test_pages_of_other_sites_are_not_served_unless_named(
    broker: ServedBroker, origin: str, is_served: bool
) -> None:
    url = f"ws://localhost:{broker.ports['ws']}/mqtt"
    refusal = nullcontext() if is_served else pytest.raises(InvalidStatus)
    with refusal, connect(url, subprotocols=MQTT, origin=Origin(origin)) as client:
        assert client.subprotocol == "mqtt"


def test_text_frames_end_the_connection(broker: ServedBroker) -> None:
    with connect(f"ws://localhost:{broker.ports['ws']}/", subprotocols=MQTT) as client:
        client.send("text")
        with pytest.raises(ConnectionClosed):
            client.recv(PATIENCE)


def test_what_is_no_websocket_is_answered_and_closed(broker: ServedBroker) -> None:
    with socket.create_connection(("127.0.0.1", broker.ports["ws"]), timeout=PATIENCE) as stranger:
        stranger.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert stranger.recv(1000).startswith(b"HTTP/1.1 4")
        while stranger.recv(1000):
            pass


# ── reach ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_this_machine_is_served(host: str) -> None:
    check_reach(Listener("mqtt", host, 1883))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "example.org", ""])
def test_others_are_not_served_without_authentication(host: str) -> None:
    with pytest.raises(InvalidEndpoint, match="no authentication"):
        check_reach(Listener("mqtt", host, 1883))
    check_reach(Listener("mqtt", host, 1883), has_authentication=True)
