"""From tables to the rows that a broker takes back, one after the other as they are asked for."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from ramify.broker.changes import (
    DeliveryKept,
    ItemKept,
    RetainedSet,
    Row,
    SessionSaved,
    SubscriptionSaved,
    TicketNoted,
    WillSet,
)
from ramify.broker.values import Event

_event = msgspec.msgpack.Decoder(Event).decode
_identifiers = msgspec.msgpack.Decoder(tuple[int, ...]).decode

Reader = Callable[[Iterator[Any]], Iterator[Row]]


def read_rows(connection: sqlite3.Connection) -> Iterator[Row]:
    """Every row of every table."""
    for query, reader in READERS:
        yield from reader(connection.execute(query))


def _whole(kind: type[Row]) -> Reader:
    decode = msgspec.msgpack.Decoder(kind).decode
    return lambda found: (decode(content) for (content,) in found)


def _deliveries(found: Iterator[Any]) -> Iterator[Row]:
    """Deliveries by event: those of one event share it, as they did before."""
    last, event = None, None
    for sequence, content, client, number, quality, is_retained, identifiers, ticket, is_received in found:
        if event is None or sequence != last:
            last, event = sequence, _event(content)
        yield DeliveryKept(
            client,
            number,
            sequence,
            event,
            quality,
            bool(is_retained),
            () if identifiers is None else _identifiers(identifiers),
            ticket,
            bool(is_received),
        )


READERS: list[tuple[str, Reader]] = [
    ("SELECT row FROM sessions", _whole(SessionSaved)),
    ("SELECT row FROM subscriptions", _whole(SubscriptionSaved)),
    (
        "SELECT sequence, event, client, number, quality, is_retained, identifiers, ticket, is_received"
        " FROM events JOIN deliveries USING (sequence) ORDER BY sequence",
        _deliveries,
    ),
    ("SELECT client, ticket FROM tickets", lambda found: (TicketNoted(*each) for each in found)),
    ("SELECT row FROM wills", _whole(WillSet)),
    ("SELECT row FROM retained", _whole(RetainedSet)),
    ("SELECT row FROM waiting", _whole(ItemKept)),
]
