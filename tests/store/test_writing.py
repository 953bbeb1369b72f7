"""The store makes of changes what the plain one of dicts makes of them, through any number of openings."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from ramify.broker import Broker, Delivery, Event, FanOut, Reply, Terms, Wish
from ramify.broker import changes as c
from ramify.store import SqliteStore
from ramify.store.writing import STATEMENTS
from tests.broker.store import DictStore
from tests.store import strategies
from tests.store.strategies import event_of


def test_every_kind_of_change_has_its_statements() -> None:
    assert set(STATEMENTS) == set(get_args(c.Change))


@settings(max_examples=40)
@given(st.lists(st.lists(st.lists(strategies.changes, max_size=25), max_size=3), max_size=3))
def test_it_keeps_what_the_plain_store_keeps(runs: list[list[list[c.Change]]]) -> None:
    plain = DictStore()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        for run in runs:
            asyncio.run(_commit_together(path, run))
            for batch in run:
                plain.apply(batch)
            assert Counter(_kept(path)) == Counter(plain.rows())
        if runs:
            assert _numbers_of_events(path) == {
                row.sequence for row in plain.rows() if isinstance(row, c.DeliveryKept)
            }


def test_the_payload_of_an_event_is_kept_once_for_all_who_are_owed_it(tmp_path: Path) -> None:
    event = Event("t", b"p" * 100_000, 1)
    owed = [c.DeliveryKept(f"client-{number}", 1, 7, event, 1) for number in range(200)]
    asyncio.run(_commit_together(tmp_path / "store.db", [owed]))
    assert (tmp_path / "store.db").stat().st_size < 300_000
    rows = [row for row in _kept(tmp_path / "store.db") if isinstance(row, c.DeliveryKept)]
    assert len({id(row.event) for row in rows}) == 1, "and it is one value again when it is read"


def test_an_event_is_dropped_with_the_last_delivery_of_it(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    owed = [c.DeliveryKept(client, 1, 7, event_of(7), 1) for client in ("ann", "bob", "eve")]
    steps: list[tuple[Sequence[c.Change], set[int]]] = [
        (owed, {7}),
        ([c.DeliveryDone("ann", 1)], {7}),
        ([c.SessionDropped("bob")], {7}),
        ([c.DeliveryDone("eve", 1)], set()),
    ]
    for changes, left in steps:
        asyncio.run(_commit_together(path, [changes]))
        assert _numbers_of_events(path) == left


def test_a_delivery_that_is_replaced_takes_its_event_along_but_not_that_of_others(tmp_path: Path) -> None:
    path = tmp_path / "store.db"

    def kept(client: str, sequence: int) -> c.DeliveryKept:
        return c.DeliveryKept(client, 1, sequence, event_of(sequence), 1)

    steps: list[tuple[list[c.Change], set[int]]] = [
        ([kept("ann", 5)], {5}),
        ([kept("ann", 6)], {6}),
        ([kept("ann", 7), kept("ann", 8)], {8}),
        ([kept("ann", 9), kept("bob", 8)], {8, 9}),
    ]
    for changes, left in steps:
        asyncio.run(_commit_together(path, [changes]))
        assert _numbers_of_events(path) == left


def test_a_broker_goes_on_from_it_where_it_was(tmp_path: Path) -> None:
    path, terms = tmp_path / "store.db", Terms("ann", is_clean_start=False, expiry=1_000)
    broker = Broker()
    replies: list[Reply[Any]] = [
        broker.connect(terms, 1.0, connection=1),
        broker.subscribe("ann", [Wish("a/#", quality=2)], 2.0),
        broker.announce(Event("a/b", b"hello", 2), 3.0),
        broker.lost("ann", 4.0, connection=1),
        broker.announce(Event("a/c", b"again", 1), 5.0),
    ]
    asyncio.run(_commit_together(path, [reply.changes for reply in replies]))

    broker = Broker()
    broker.restore(_kept(path), 6.0)
    back = broker.connect(terms, 7.0, connection=2)
    assert back.answer.is_session_present
    sent = [effect for effect in back.effects if isinstance(effect, FanOut)]
    assert [(each.event.payload, each.deliveries) for each in sent] == [
        (b"hello", (Delivery("ann", 2, 1, is_again=True),)),
        (b"again", (Delivery("ann", 1, 2),)),
    ]


def test_a_value_that_cannot_be_encoded_fails_nobody_else(tmp_path: Path) -> None:
    async def play() -> None:
        store = SqliteStore(tmp_path / "store.db", durability="process")
        wrong = c.SessionSaved("\ud800", None, 1.0, None)
        right = c.SessionSaved("ann", None, 1.0, None)
        first, second, third = await asyncio.gather(
            store.commit([right]), store.commit([wrong]), store.commit([]), return_exceptions=True
        )
        assert first is third is None
        assert isinstance(second, UnicodeEncodeError)
        assert list(store.load()) == [right]
        await store.close()

    asyncio.run(play())


async def _commit_together(path: Path, batches: Sequence[Sequence[c.Change]]) -> None:
    store = SqliteStore(path, durability="process")
    await asyncio.gather(*[store.commit(batch) for batch in batches])
    await store.close()


def _kept(path: Path) -> list[c.Row]:
    async def read() -> list[c.Row]:
        store = SqliteStore(path, durability="process")
        rows = list(store.load())
        await store.close()
        return rows

    return asyncio.run(read())


def _numbers_of_events(path: Path) -> set[int]:
    connection = sqlite3.connect(path)
    try:
        return {sequence for (sequence,) in connection.execute("SELECT sequence FROM events")}
    finally:
        connection.close()
