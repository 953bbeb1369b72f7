"""A real broker in a process of its own, and clients that say exactly what they are told to."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar
from urllib.parse import urlsplit

from ramify.mqtt import Decoder, Packet, Reason, Version, encode
from ramify.mqtt.packets import (
    ConnAck,
    Connect,
    PingReq,
    PingResp,
    Publish,
    SubAck,
    Subscribe,
    SubscribeRequest,
)
from ramify.mqtt.properties import SubscribeProperties

PATIENCE = 20.0
PacketT = TypeVar("PacketT")


class ServedBroker:
    """A broker that has said where it listens."""

    def __init__(self, *options: str) -> None:
        command = [sys.executable, "-m", "ramify", "serve", "--port", "0", *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.ports: dict[str, int] = {}
        assert self.process.stdout is not None
        wanted = 1 + sum(option in ("--tls-port", "--ws-port", "--wss-port") for option in options)
        while len(self.ports) < wanted:
            line = self.process.stdout.readline()
            assert line, self.process.communicate()[1]
            url = urlsplit(line.strip())
            self.ports[url.scheme] = url.port or 0

    @property
    def port(self) -> int:
        return self.ports["mqtt"]

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Ask it to end; gives its exit status and its log."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            _, log = self.process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise
        return self.process.returncode, log


@contextmanager
def served_broker(*options: str) -> Iterator[ServedBroker]:
    """A broker for the length of a block."""
    broker = ServedBroker(*options)
    try:
        yield broker
    finally:
        status, log = broker.stop()
        assert "Traceback" not in log, log
        assert "client.failed" not in log, log
        assert status == 0, log


class Talker:
    """A client of few words."""

    def __init__(self, port: int, version: Version = Version.V5) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self.version = version
        self._decoder = Decoder(version=version)
        self._heard: list[Packet] = []

    def say(self, *packets: Packet) -> None:
        self.socket.sendall(b"".join(encode(packet, self.version) for packet in packets))

    def hear(self) -> Packet:
        while not self._heard:
            data = self.socket.recv(65_536)
            assert data, "the server has hung up"
            self._heard += self._decoder.feed(data)
            assert self._decoder.error is None
        return self._heard.pop(0)

    def hear_a(self, kind: type[PacketT]) -> PacketT:
        packet = self.hear()
        assert isinstance(packet, kind), packet
        return packet

    def hear_end(self) -> None:
        """The server hangs up without another word."""
        assert not self._heard
        assert self.socket.recv(65_536) == b""

    def hear_nothing_before_a_ping(self) -> None:
        """Whatever was to come has come: an answer to what is asked now is the next."""
        self.say(PingReq())
        assert self.hear() == PingResp()

    def connect(self, name: str, **settings: Any) -> ConnAck:
        self.say(Connect(name, self.version, **settings))
        answer = self.hear_a(ConnAck)
        assert answer.reason is Reason.SUCCESS
        return answer

    def subscribe(self, *patterns: str, qos: Any = 0, user: tuple[tuple[str, str], ...] = ()) -> SubAck:
        requests = tuple(SubscribeRequest(pattern, qos) for pattern in patterns)
        self.say(Subscribe(7, requests, SubscribeProperties(user_properties=user)))
        return self.hear_a(SubAck)

    def hear_event(self) -> tuple[str, bytes]:
        packet = self.hear_a(Publish)
        return packet.topic, packet.payload

    def close(self) -> None:
        self.socket.close()


@contextmanager
def talker(port: int, name: str, version: Version = Version.V5, **settings: Any) -> Iterator[Talker]:
    """A client that is let in."""
    client = Talker(port, version)
    try:
        client.connect(name, **settings)
        yield client
    finally:
        client.close()


def eventually(holds: Callable[[], bool]) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, "it never came to be"
        time.sleep(0.01)
