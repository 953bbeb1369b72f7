"""Takes back what a store kept, row by row, in whatever order the rows come.

Rows that make no sense any more (a delivery of a session that is gone) are passed over: a store
that lost one row must not keep a broker from starting with all the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

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
from ramify.broker.effects import Granted, Turn
from ramify.broker.lifecycle import Lifecycle
from ramify.broker.realm import Realm
from ramify.broker.timetable import Task
from ramify.broker.wishes import read_wish


def restore(realm: Realm, lifecycle: Lifecycle, rows: Iterable[Row], turn: Turn) -> None:
    """Be as before the crash, but for the connections."""
    ordered = sorted(rows, key=_place)
    for row in ordered:
        RESTORERS[type(row)](realm, row)
    for row in ordered:
        if isinstance(row, SessionSaved):
            lifecycle.resume_absence(realm.sessions[row.client], turn)


def _place(row: Row) -> tuple[int, int]:
    """Sessions before what hangs on them, and deliveries in the order of their numbers."""
    return list(RESTORERS).index(type(row)), row.number if isinstance(row, DeliveryKept) else 0


def _restore_session(realm: Realm, row: SessionSaved) -> None:
    session = realm.new_session(row.client, row.user)
    session.expiry, session.away_since = row.expiry, row.away_since
    session.outbox.is_durable = True


def _restore_subscription(realm: Realm, row: SubscriptionSaved) -> None:
    session = realm.sessions.get(row.client)
    meaning = read_wish(row.wish, realm.limits)
    if session is not None and not isinstance(meaning, Granted):
        realm.interests.add(session, row.wish, meaning)


def _restore_delivery(realm: Realm, row: DeliveryKept) -> None:
    realm.sequence = max(realm.sequence, row.sequence)
    session = realm.sessions.get(row.client)
    if session is not None:
        session.outbox.restore(row)


def _restore_ticket(realm: Realm, row: TicketNoted) -> None:
    session = realm.sessions.get(row.client)
    if session is not None:
        session.inbound.add(row.ticket)


def _restore_will(realm: Realm, row: WillSet) -> None:
    session = realm.sessions.get(row.client)
    if session is not None:
        session.will = row.will


def _restore_retained(realm: Realm, row: RetainedSet) -> None:
    realm.sequence = max(realm.sequence, row.sequence)
    realm.retained.keep(row.event, row.sequence)
    if row.event.expires_at is not None:
        realm.timetable.plan(Task.DROP_RETAINED, row.event.topic, row.event.expires_at)


def _restore_item(realm: Realm, row: ItemKept) -> None:
    realm.sequence = max([realm.sequence, *[sequence for _, sequence in row.events]])
    realm.coalescing.restore(row)
    session = realm.sessions.get(row.client)
    interest = None if session is None or row.identity is None else session.interests.get(row.identity)
    if interest is not None:
        interest.waiting.add(row.key)


RESTORERS: dict[type[Row], Callable[[Realm, Any], None]] = {
    SessionSaved: _restore_session,
    SubscriptionSaved: _restore_subscription,
    DeliveryKept: _restore_delivery,
    TicketNoted: _restore_ticket,
    WillSet: _restore_will,
    RetainedSet: _restore_retained,
    ItemKept: _restore_item,
}
