"""Publishes rows to an MQTT broker, and waits until it has taken them.

The body is the payload, or else the content as JSON text. All other columns that are texts, numbers or
times go along as user properties: `delivery_id`, `event_id`, `subscriber` and the rest.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pyarrow as pa
from paho.mqtt.client import Client
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from ramify.connectors.addresses import Address
from ramify.connectors.entries import TOPIC_LONGEST
from ramify.connectors.mqtt_recorder import PATIENCE, client_of
from ramify.connectors.source_options import SinkOptions
from ramify.connectors.templates import as_bytes
from ramify.errors import InvalidEndpoint, RamifyError, Unanswered
from ramify.pipeline.schema import FIELDS, TOPIC

PAYLOAD = "payload"
WINDOW = 1_000
"""So many messages wait for their acknowledgement, if the broker allows as many."""


def publish(options: SinkOptions, batches: Iterator[pa.RecordBatch]) -> tuple[int, Counter[str]]:
    """Publish rows; says how many, and what was left out."""
    rows, left_out = 0, Counter[str]()
    with closing(Publisher(options.address)) as publisher:
        for batch in batches:
            for topic, body, said in _messages(options, batch):
                flaw = _flaw_of(topic)
                if topic is None or flaw is not None:
                    left_out[f"a topic {flaw}"] += 1
                    continue
                publisher.send(topic, body, said, options.qos)
                rows += 1
        publisher.settle()
    return rows, left_out


def _messages(
    options: SinkOptions, batch: pa.RecordBatch
) -> Iterator[tuple[str | None, bytes, list[tuple[str, str]]]]:
    columns = dict(zip(batch.schema.names, map(as_bytes, batch.columns), strict=True))
    nothing = [None] * batch.num_rows
    bodies = zip(columns.pop(PAYLOAD, nothing), columns.pop(FIELDS, nothing), strict=True)
    columns.pop(TOPIC, None)
    rows = zip(*columns.values(), strict=True) if columns else iter([()] * batch.num_rows)
    for topic, (payload, fields), row in zip(options.name.filled(batch), bodies, rows, strict=True):
        said = [
            (name, value.decode(errors="replace"))
            for name, value in zip(columns, row, strict=True)
            if value is not None and len(value) <= TOPIC_LONGEST
        ]
        yield topic, fields or b"" if payload is None else payload, said


def _flaw_of(topic: str | None) -> str | None:
    """Why a broker would not take this topic. It would close the connection, and not say why."""
    if not topic:
        return "is missing"
    if any(sign in topic for sign in "+#\0"):
        return "holds a wildcard or a NUL"
    return "is too long" if len(topic.encode()) > TOPIC_LONGEST else None


class Publisher:
    """A connection that keeps as many messages on their way as the broker allows."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._failure: RamifyError | None = None
        self._moved = threading.Condition()
        self._on_their_way, self._window = 0, 0
        self._client = client_of(address, "")
        self._client.max_inflight_messages = 0
        self._client.on_connect, self._client.on_publish = self._connected, self._taken
        self._client.connect_async(address.host, address.port)
        self._client.loop_start()
        self._wait(lambda: self._window > 0, "no MQTT broker answers")

    def send(self, topic: str, body: bytes, said: list[tuple[str, str]], qos: int) -> None:
        """Publish, as soon as there is room."""
        with self._moved:
            if self._on_their_way >= self._window:
                # For half of them at once: to change threads for each one costs more than to send it.
                enough = self._window // 2
                self._wait(lambda: self._on_their_way <= enough, "the broker does not acknowledge")
            self._on_their_way += 1
        properties: Any = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
        if said:
            properties.UserProperty = said
        self._client.publish(topic, body, qos, properties=properties)

    def settle(self) -> None:
        """Wait until all is acknowledged."""
        self._wait(lambda: self._on_their_way == 0, "the broker does not acknowledge")

    def close(self) -> None:
        """Disconnect."""
        self._client.disconnect()
        self._client.loop_stop()

    def _wait(self, is_so: Any, otherwise: str) -> None:
        """Wait for something to be so; the broker has its time anew whenever it acknowledges."""
        with self._moved:
            while not is_so() and self._failure is None:
                if not self._moved.wait(PATIENCE):
                    self.close()
                    raise Unanswered(str(self._address), f"{otherwise} within {PATIENCE:g} s")
            if self._failure is not None:
                raise self._failure

    # ── in paho's thread ──────────────────────────────────────────────────────────────────

    def _connected(self, client: Client, _: Any, flags: Any, reason: Any, properties: Any) -> None:
        with self._moved:
            if reason.is_failure:
                said = f"the broker does not let us in: {reason}"
                self._failure = InvalidEndpoint(str(self._address), said)
            self._window = min(WINDOW, getattr(properties, "ReceiveMaximum", WINDOW))
            self._moved.notify_all()

    def _taken(self, client: Client, _: Any, mid: int, reason: Any, properties: Any) -> None:
        with self._moved:
            if reason.is_failure:
                said = f"the broker refuses an event: {reason}"
                self._failure = InvalidEndpoint(str(self._address), said)
            self._on_their_way -= 1
            if self._failure is not None or self._on_their_way in (0, self._window // 2):
                self._moved.notify_all()
