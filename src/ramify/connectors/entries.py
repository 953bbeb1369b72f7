"""Events as entries of a Redis Stream and as MQTT messages, and back: one row for each of them.

An entry holds texts under the names of the columns; those that it lacks are null, and its time
is the one in its id. Of a message the topic is the topic; its body is the content if it is a JSON
object and the payload if not; all else stands in its user properties. One that cannot be read is a
row all the same: without a topic, so that it is set aside, with the reason in its content.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import pyarrow as pa
from msgspec.json import encode

TOPIC_LONGEST = 65_535
"""Bytes of a topic: what MQTT can say."""
SHOWN = 4_096
"""So many bytes of what cannot be read are kept."""

SCHEMA = (
    "topic string, ts timestamp, fields string, payload binary, "
    "event_id string, publisher string, realm string"
)
ARROW = pa.schema(
    [
        ("topic", pa.string()),
        ("ts", pa.timestamp("us", "UTC")),
        ("fields", pa.string()),
        ("payload", pa.binary()),
        ("event_id", pa.string()),
        ("publisher", pa.string()),
        ("realm", pa.string()),
    ]
)
NAMES = frozenset(ARROW.names)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class EventRow(NamedTuple):
    """One event, in the order of the columns."""

    topic: str | None
    ts: int
    """In microseconds since 1970."""
    fields: str | None
    payload: bytes | None
    event_id: str
    publisher: str | None
    realm: str | None


class Flaw(Exception):
    """Why an entry cannot be read."""


def batch_of(rows: Sequence[EventRow]) -> pa.RecordBatch:
    """The rows as columns."""
    columns = zip(*rows, strict=True) if rows else [[] for _ in ARROW]
    arrays = [pa.array(column, kind.type) for column, kind in zip(columns, ARROW, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=ARROW)


# ── from a Redis Stream ───────────────────────────────────────────────────────────────────


def event_of_entry(stream: str, entry_id: str, said: Mapping[Any, Any], max_bytes: int) -> EventRow:
    """The event that an entry holds; names and values are texts, or bytes that should be."""
    identity, ts = f"{stream}/{entry_id}", int(entry_id.partition("-")[0]) * 1_000
    try:
        size = sum(map(len, said.values()))
        if size > max_bytes:
            raise Flaw(f"the entry is {size:,} long, and {max_bytes:,} are allowed")
        texts = _texts(said)
        if "ts" in texts:
            ts = microseconds_of(texts["ts"])
        payload = texts.get("payload")
        return EventRow(
            _topic(texts.get("topic")),
            ts,
            texts.get("fields"),
            payload.encode() if isinstance(payload, str) else payload,
            texts.get("event_id") or identity,
            texts.get("publisher"),
            texts.get("realm"),
        )
    except Flaw as flaw:
        return flawed(str(flaw), identity, ts, encode(_shown(said)))


def _texts(said: Mapping[Any, Any]) -> Mapping[str, Any]:
    """Texts where there are bytes, except for the payload."""
    if not said or isinstance(next(iter(said)), str):
        return said
    named = {name.decode(errors="replace"): value for name, value in said.items()}
    return {
        name: value if name == "payload" else _text(name, value)
        for name, value in named.items()
        if name in NAMES
    }


def _text(name: str, value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise Flaw(f"{name!r} is not UTF-8") from None


def _shown(said: Mapping[Any, Any]) -> dict[str, str]:
    def text(value: Any) -> str:
        return value[:SHOWN] if isinstance(value, str) else value[:SHOWN].decode(errors="backslashreplace")

    return {text(name): text(value) for name, value in list(said.items())[:32]}


# ── from MQTT ─────────────────────────────────────────────────────────────────────────────


class Message(NamedTuple):
    """What a broker said, as it is kept on disk until Spark has taken it."""

    topic: bytes
    body: bytes
    received: int
    """In microseconds since 1970."""
    properties: list[tuple[str, str]]


def event_of_message(identity: str, message: Message) -> EventRow:
    """The event that a message holds; `identity` names it if it does not say."""
    said = {name: value for name, value in message.properties if name in NAMES}
    ts = message.received
    try:
        if "ts" in said:
            ts = microseconds_of(said["ts"])
        fields, payload = _content(message.body)
        topic = _topic(_text("topic", message.topic))
        event_id = said.get("event_id") or identity
        return EventRow(topic, ts, fields, payload, event_id, said.get("publisher"), said.get("realm"))
    except Flaw as flaw:
        return flawed(str(flaw), identity, ts, message.body[:SHOWN])


def _content(body: bytes) -> tuple[str | None, bytes | None]:
    if body.lstrip()[:1] == b"{":
        try:
            return body.decode(), None
        except UnicodeDecodeError:
            pass
    return None, body


# ── parts of both ─────────────────────────────────────────────────────────────────────────


def flawed(reason: str, identity: str, ts: int, payload: bytes) -> EventRow:
    """The row for what cannot be read: it has no topic, and says why."""
    return EventRow(None, ts, encode({"flaw": reason}).decode(), payload, identity, None, None)


def microseconds_of(text: str) -> int:
    """A time, written as ISO 8601 (without a zone it is UTC) or as seconds since 1970."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return _from_seconds(text)
    since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - EPOCH
    return since.days * 86_400_000_000 + since.seconds * 1_000_000 + since.microseconds


def _from_seconds(text: str) -> int:
    try:
        return (EPOCH + timedelta(seconds=float(text)) - EPOCH) // timedelta(microseconds=1)
    except (ValueError, OverflowError):
        raise Flaw(f"{text[:80]!r} is not a time") from None


def _topic(topic: str | None) -> str:
    if topic is None:
        raise Flaw("there is no topic")
    if len(topic) > TOPIC_LONGEST // 4 and len(topic.encode()) > TOPIC_LONGEST:
        raise Flaw(f"the topic is longer than {TOPIC_LONGEST:,} bytes")
    return topic
