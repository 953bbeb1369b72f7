"""A broker is killed with `kill -9` again and again, while real clients with lasting sessions are at work."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion

from tests.services import free_port

KILLS = 6
IN_FLIGHT = 40
PATIENCE = 30.0


class Load:
    """One who publishes numbers, by turns in quality 1 and 2, and one who hears them."""

    def __init__(self, port: int) -> None:
        self.sent = 0
        self.acknowledged: set[int] = set()
        self.heard: Counter[int] = Counter()
        self._changed = threading.Condition()
        self._port = port
        self.subscriber = _client("subscriber")
        self.subscriber.on_subscribe = self._subscribed
        self.subscriber.on_message = self._heard
        self.publisher = _client("publisher")
        self.publisher.on_publish = self._acknowledged
        self._is_subscribed = False

    def connect(self) -> None:
        """Come, or come back; what is subscribed at first the session must remember."""
        if not self._is_subscribed:
            self.subscriber.on_connect = lambda client, *_: client.subscribe("load/#", qos=2)
        for client in (self.subscriber, self.publisher):
            client.loop_stop()
            client.connect("127.0.0.1", self._port)
            client.loop_start()
        self.wait(lambda: self._is_subscribed, "the subscription")
        self.subscriber.on_connect = None

    def publish(self, count: int) -> None:
        """Publish so many, never more in flight than a few."""
        for _ in range(count):
            self.wait(lambda: self.sent - len(self.acknowledged) < IN_FLIGHT, "an acknowledgement")
            self.sent += 1
            info = self.publisher.publish("load/x", str(self.sent), qos=1 + self.sent % 2)
            assert info.mid == self.sent, "the client counts as we do"

    def wait(self, holds: Callable[[], bool], what: str) -> None:
        with self._changed:
            assert self._changed.wait_for(holds, PATIENCE), f"{what} never came"

    def end(self) -> None:
        for client in (self.publisher, self.subscriber):
            client.disconnect()
            client.loop_stop()

    def _subscribed(self, *_: Any) -> None:
        with self._changed:
            self._is_subscribed = True
            self._changed.notify_all()

    def _heard(self, client: Client, data: Any, message: MQTTMessage) -> None:
        with self._changed:
            self.heard[int(message.payload)] += 1
            self._changed.notify_all()

    def _acknowledged(self, client: Client, data: Any, mid: int, *_: Any) -> None:
        with self._changed:
            self.acknowledged.add(mid)
            self._changed.notify_all()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_nothing_acknowledged_is_lost_and_nothing_of_quality_2_comes_twice(tmp_path: Path) -> None:
    seed, port = 5, free_port()
    random, load = Random(seed), Load(port)
    for _ in range(KILLS):
        with _killed(tmp_path, port):
            load.connect()
            load.publish(random.randint(20, 300))
    with _killed(tmp_path, port):
        load.connect()
        load.wait(lambda: len(load.acknowledged) == load.sent, "every acknowledgement")
        load.wait(lambda: load.heard.keys() >= load.acknowledged, "something that was acknowledged")
        load.end()
    gc.collect()  # Paho leaves sockets of its own behind: they shall trouble no other test.
    twice = [number for number, times in load.heard.items() if times > 1 and number % 2 == 1]
    assert not twice, f"of quality 2, and heard more than once (seed {seed}): {twice}"
    assert load.sent > 300


@contextmanager
def _killed(folder: Path, port: int) -> Iterator[None]:
    """A broker from when it listens until it is killed, at the end of the block."""
    options = ["--port", str(port), "--store", str(folder / "store.db"), "--log-level", "warning"]
    command = [sys.executable, "-m", "ramify", "serve", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stderr is not None
            if not process.stdout.readline():
                pytest.fail(process.stderr.read())
            yield
        finally:
            process.kill()
            said = process.stderr.read() if process.stderr is not None else ""
    assert "Traceback" not in said, said


def _client(name: str) -> Client:
    # It must not try to come back by itself: after two attempts in vain, paho publishes again what it
    # has released already, which is another event by the standard.
    client = Client(
        CallbackAPIVersion.VERSION2,
        name,
        clean_session=False,
        protocol=MQTTProtocolVersion.MQTTv311,
        reconnect_on_failure=False,
    )
    client.max_inflight_messages_set(IN_FLIGHT)
    return client
