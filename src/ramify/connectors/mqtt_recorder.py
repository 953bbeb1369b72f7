"""Takes messages from an MQTT broker into a log, and acknowledges them once they are on the disk.

The session is persistent and the subscription has QoS 1: what is published with QoS 1 or 2 while we
are away or crashed is sent when we are back, as far as the broker keeps it. What was on the disk but
not yet acknowledged comes once more: at least once into the log.
"""

from __future__ import annotations

import threading
import time
from queue import Empty, SimpleQueue
from typing import Any

from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.subscribeoptions import SubscribeOptions

from ramify.connectors.addresses import Address
from ramify.connectors.entries import Message
from ramify.connectors.mqtt_log import MessageLog
from ramify.errors import InvalidEndpoint, RamifyError, Unanswered

PATIENCE = 20.0
"""Seconds without a connection until the stream gives up."""
WINDOW = 2_000
"""So many messages may be on their way or not yet on the disk."""
KEPT = 7 * 24 * 3600
"""Seconds that the broker keeps our session while we are away."""

Received = tuple[int, MQTTMessage, int]


def client_of(address: Address, name: str, **more: Any) -> Client:
    """A client of MQTT 5 that is not connected yet."""
    client = Client(CallbackAPIVersion.VERSION2, client_id=name, protocol=MQTTProtocolVersion.MQTTv5, **more)
    if address.username is not None or address.password is not None:
        client.username_pw_set(address.username or "", address.password)
    if address.is_secure:
        client.tls_set()
    client.connect_timeout = PATIENCE / 2
    client.reconnect_delay_set(1, 2)
    return client


class Recorder:
    """A subscription whose messages go into a log, from two threads of its own."""

    def __init__(self, address: Address, pattern: str, log: MessageLog, name: str | None = None) -> None:
        self._address, self._pattern, self._log = address, pattern, log
        self._received: SimpleQueue[Received | None] = SimpleQueue()
        self._connections = 0
        self._absent_since: float | None = time.monotonic()
        self._latest = time.monotonic()
        self._failure: RamifyError | None = None
        self._is_subscribed = threading.Event()
        self._client = client_of(address, name or log.client, manual_ack=True)
        self._client.on_connect, self._client.on_disconnect = self._connected, self._disconnected
        self._client.on_subscribe, self._client.on_message = self._subscribed, self._take
        self._writer = threading.Thread(target=self._write, name="ramify mqtt log", daemon=True)

    def start(self) -> None:
        """Connect and subscribe; raises if there is no answer in time."""
        properties: Any = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
        properties.SessionExpiryInterval, properties.ReceiveMaximum = KEPT, WINDOW
        self._client.connect_async(
            self._address.host, self._address.port, clean_start=False, properties=properties
        )
        self._writer.start()
        self._client.loop_start()
        deadline = time.monotonic() + PATIENCE
        while not self._is_subscribed.wait(0.05) and time.monotonic() < deadline:
            self.check()
        self.check()
        if not self._is_subscribed.is_set():
            raise Unanswered(str(self._address), f"no MQTT broker answers within {PATIENCE:g} s")

    def check(self) -> None:
        """Raise what has gone wrong in the meantime."""
        if self._failure is not None:
            raise self._failure
        since = self._absent_since
        if since is not None and time.monotonic() - since > PATIENCE:
            raise Unanswered(str(self._address), f"the MQTT broker has been away for {PATIENCE:g} s")

    def settle(self, quiet: float, longest: float) -> None:
        """Wait until the broker has sent all it kept: until nothing came for so many seconds."""
        begin = time.monotonic()
        while (now := time.monotonic()) - max(begin, self._latest) < quiet and now - begin < longest:
            self.check()
            time.sleep(0.02)

    def stop(self) -> None:
        """Finish writing, acknowledge, and disconnect; the broker keeps our session."""
        self._received.put(None)
        if self._writer.is_alive():
            self._writer.join()
        self._client.disconnect()
        self._client.loop_stop()

    # ── in paho's thread ──────────────────────────────────────────────────────────────────

    def _connected(self, client: Client, _: Any, flags: Any, reason: Any, properties: Any) -> None:
        if reason.is_failure:
            self._failure = InvalidEndpoint(str(self._address), f"the broker does not let us in: {reason}")
            return
        self._connections += 1
        self._absent_since = None
        options = SubscribeOptions(qos=1, retainHandling=SubscribeOptions.RETAIN_SEND_IF_NEW_SUB)
        client.subscribe(self._pattern, options=options)

    def _disconnected(self, *_: Any) -> None:
        self._absent_since = self._absent_since or time.monotonic()

    def _subscribed(self, client: Client, _: Any, mid: int, reasons: Any, properties: Any) -> None:
        refused = next((reason for reason in reasons if reason.is_failure), None)
        if refused is not None:
            reason = f"the broker refuses a subscription to {self._pattern!r}: {refused}"
            self._failure = InvalidEndpoint(str(self._address), reason)
        self._is_subscribed.set()

    def _take(self, client: Client, _: Any, message: MQTTMessage) -> None:
        self._received.put((self._connections, message, time.time_ns() // 1_000))

    # ── in our own ────────────────────────────────────────────────────────────────────────

    def _write(self) -> None:
        while (first := self._received.get()) is not None:
            group, is_last = self._group(first)
            try:
                self._log.append([_kept(message, at) for _, message, at in group])
            except OSError as error:
                self._failure = Unanswered(str(self._address), f"the log cannot be written: {error}")
                return
            self._latest = time.monotonic()
            self._acknowledge(group)
            if is_last:
                return

    def _group(self, first: Received) -> tuple[list[Received], bool]:
        """All that came while the disk was busy: one flush serves them all."""
        group = [first]
        try:
            while len(group) < WINDOW:
                received = self._received.get_nowait()
                if received is None:
                    return group, True
                group.append(received)
        except Empty:
            pass
        return group, False

    def _acknowledge(self, group: list[Received]) -> None:
        for connection, message, _ in group:
            # A number of an earlier connection may stand for another message by now.
            if message.qos and connection == self._connections:
                self._client.ack(message.mid, message.qos)


def _kept(message: MQTTMessage, at: int) -> Message:
    said = getattr(message.properties, "UserProperty", []) if message.properties else []
    return Message(message._topic, bytes(message.payload), at, said)
