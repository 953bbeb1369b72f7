"""A store of plain dicts: what any store must make of the broker's changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from ramify.broker import changes as c


class DictStore:
    """Rows by table and key."""

    def __init__(self) -> None:
        self.tables: dict[type, dict[Any, Any]] = {kind: {} for kind in KEYS}

    def apply(self, changes: Iterable[c.Change]) -> None:
        for change in changes:
            if type(change) in KEYS:
                self.tables[type(change)][KEYS[type(change)](change)] = change
            else:
                APPLIERS[type(change)](self, change)

    def rows(self) -> list[c.Row]:
        return [row for table in self.tables.values() for row in table.values()]

    def drop_session(self, change: c.SessionDropped) -> None:
        for kind in (c.SessionSaved, c.SubscriptionSaved, c.DeliveryKept, c.TicketNoted, c.WillSet):
            table = self.tables[kind]
            for key in [key for key, row in table.items() if row.client == change.client]:
                del table[key]

    def amend(self, change: Any, **changed: Any) -> None:
        table = self.tables[c.DeliveryKept]
        key = change.client, change.number
        if key in table:
            table[key] = replace(table[key], **changed)

    def remove(self, kind: type, key: Any) -> None:
        self.tables[kind].pop(key, None)


KEYS: dict[type, Callable[[Any], Any]] = {
    c.SessionSaved: lambda row: row.client,
    c.SubscriptionSaved: lambda row: (row.client, row.wish.identity),
    c.DeliveryKept: lambda row: (row.client, row.number),
    c.TicketNoted: lambda row: (row.client, row.ticket),
    c.WillSet: lambda row: row.client,
    c.RetainedSet: lambda row: row.event.topic,
    c.ItemKept: lambda row: row.key,
}

APPLIERS: dict[type, Callable[[DictStore, Any], None]] = {
    c.SessionDropped: DictStore.drop_session,
    c.SubscriptionDropped: lambda store, it: store.remove(c.SubscriptionSaved, (it.client, it.identity)),
    c.DeliverySent: lambda store, it: store.amend(it, ticket=it.ticket),
    c.DeliveryReceived: lambda store, it: store.amend(it, is_received=True),
    c.DeliveryDone: lambda store, it: store.remove(c.DeliveryKept, (it.client, it.number)),
    c.TicketReleased: lambda store, it: store.remove(c.TicketNoted, (it.client, it.ticket)),
    c.WillCleared: lambda store, it: store.remove(c.WillSet, it.client),
    c.RetainedCleared: lambda store, it: store.remove(c.RetainedSet, it.topic),
    c.ItemDropped: lambda store, it: store.remove(c.ItemKept, it.key),
}
