"""From changes to statements: what each change does to the tables, in one table of its own.

Neighbours of one kind become one statement with many rows. Everything is encoded here, before a
transaction begins, so that a value that cannot be encoded fails whoever brought it and nobody else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any

import msgspec

from ramify.broker import changes as c

encode = msgspec.msgpack.Encoder().encode

Parameters = tuple[Any, ...]
Batch = list[tuple[str, list[Parameters]]]
"""Statements, each with the rows that it is for."""
Statement = tuple[str, Callable[[Sequence[Any]], list[Parameters]]]


def batch_of(changes: Iterable[c.Change]) -> Batch:
    """Everything to be executed for these changes, in their order."""
    return [
        (statement, parameters(run))
        for kind, neighbours in groupby(changes, type)
        for run in [list(neighbours)]
        for statement, parameters in STATEMENTS[kind]
    ]


def _each(parameters: Callable[[Any], Parameters]) -> Callable[[Sequence[Any]], list[Parameters]]:
    return lambda run: [parameters(change) for change in run]


def _events(run: Sequence[c.DeliveryKept]) -> list[Parameters]:
    """Each event once, however many are owed it; not those whose delivery is replaced in the same run."""
    kept = {(it.client, it.number): it for it in run}
    events = {it.sequence: it.event for it in kept.values()}
    return [(sequence, encode(event)) for sequence, event in events.items()]


def _deliveries(run: Sequence[c.DeliveryKept]) -> list[Parameters]:
    return [
        (
            it.client,
            it.number,
            it.sequence,
            it.quality,
            it.is_retained,
            encode(it.identifiers) if it.identifiers else None,
            it.ticket,
            it.is_received,
        )
        for it in run
    ]


_CLIENT = _each(lambda it: (it.client,))
_NUMBER = _each(lambda it: (it.client, it.number))
_TICKET = _each(lambda it: (it.client, it.ticket))
_TABLES_OF_A_CLIENT = ("sessions", "subscriptions", "deliveries", "tickets", "wills")

STATEMENTS: dict[type, list[Statement]] = {
    c.SessionSaved: [("REPLACE INTO sessions VALUES (?, ?)", _each(lambda it: (it.client, encode(it))))],
    c.SessionDropped: [(f"DELETE FROM {table} WHERE client = ?", _CLIENT) for table in _TABLES_OF_A_CLIENT],
    c.SubscriptionSaved: [
        (
            "REPLACE INTO subscriptions VALUES (?, ?, ?)",
            _each(lambda it: (it.client, encode(it.wish.identity), encode(it))),
        )
    ],
    c.SubscriptionDropped: [
        (
            "DELETE FROM subscriptions WHERE client = ? AND identity = ?",
            _each(lambda it: (it.client, encode(it.identity))),
        )
    ],
    c.DeliveryKept: [
        # Not REPLACE: it would pass by the trigger that drops an event of which nothing is left.
        (
            "INSERT INTO deliveries VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (client, number) DO UPDATE SET sequence = excluded.sequence,"
            " quality = excluded.quality, is_retained = excluded.is_retained,"
            " identifiers = excluded.identifiers, ticket = excluded.ticket,"
            " is_received = excluded.is_received",
            _deliveries,
        ),
        # Last, because a delivery that is replaced may drop an event that another of the run is of.
        ("INSERT INTO events VALUES (?, ?) ON CONFLICT DO NOTHING", _events),
    ],
    c.DeliverySent: [
        (
            "UPDATE deliveries SET ticket = ? WHERE client = ? AND number = ?",
            _each(lambda it: (it.ticket, it.client, it.number)),
        )
    ],
    c.DeliveryReceived: [
        ("UPDATE deliveries SET is_received = 1 WHERE client = ? AND number = ?", _NUMBER),
    ],
    c.DeliveryDone: [("DELETE FROM deliveries WHERE client = ? AND number = ?", _NUMBER)],
    c.TicketNoted: [("REPLACE INTO tickets VALUES (?, ?)", _TICKET)],
    c.TicketReleased: [("DELETE FROM tickets WHERE client = ? AND ticket = ?", _TICKET)],
    c.WillSet: [("REPLACE INTO wills VALUES (?, ?)", _each(lambda it: (it.client, encode(it))))],
    c.WillCleared: [("DELETE FROM wills WHERE client = ?", _CLIENT)],
    c.RetainedSet: [("REPLACE INTO retained VALUES (?, ?)", _each(lambda it: (it.event.topic, encode(it))))],
    c.RetainedCleared: [("DELETE FROM retained WHERE topic = ?", _each(lambda it: (it.topic,)))],
    c.ItemKept: [("REPLACE INTO waiting VALUES (?, ?)", _each(lambda it: (it.key, encode(it))))],
    c.ItemDropped: [("DELETE FROM waiting WHERE key = ?", _each(lambda it: (it.key,)))],
}
