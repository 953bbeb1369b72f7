"""Group commit: what many ask for at once is one transaction, and whoever asked goes on when it is done."""

from __future__ import annotations

import asyncio
import resource
import sqlite3
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from ramify.broker.changes import DeliveryKept, SessionSaved, TicketNoted
from ramify.broker.values import Event
from ramify.errors import StoreFailed
from ramify.store import Durability, SqliteStore
from ramify.store import store as store_module


def play(path: Path, part: Callable[[SqliteStore], Awaitable[None]], durability: str = "process") -> None:
    """Open a store, play a part with it, close it."""

    async def all_of_it() -> None:
        store = SqliteStore(path, durability=durability)
        try:
            await part(store)
        finally:
            await store.close()

    asyncio.run(all_of_it())


def session(number: int) -> SessionSaved:
    return SessionSaved(f"client-{number}", None, 60.0, None)


def test_what_is_asked_for_while_a_transaction_runs_is_one_transaction(tmp_path: Path) -> None:
    async def part(store: SqliteStore) -> None:
        await asyncio.gather(*[store.commit([session(number)]) for number in range(500)])
        assert store.commits == 500
        assert store.transactions == 2, "the first for whoever came first, one for all the others"
        assert len(list(store.load())) == 500

    play(tmp_path / "store.db", part, "full")


def test_many_who_wait_by_turns_share_transactions(tmp_path: Path) -> None:
    async def part(store: SqliteStore) -> None:
        async def client(name: int) -> None:
            for number in range(20):
                await store.commit([TicketNoted(f"client-{name}", number)])
                acknowledged.add((f"client-{name}", number))

        acknowledged: set[tuple[str, int]] = set()
        await asyncio.gather(*map(client, range(50)))
        assert {
            (row.client, row.ticket) for row in store.load() if isinstance(row, TicketNoted)
        } == acknowledged
        assert len(acknowledged) == 1_000
        assert store.transactions <= 60

    play(tmp_path / "store.db", part)


def test_a_commit_returns_when_its_changes_are_there_and_not_before(tmp_path: Path) -> None:
    async def part(store: SqliteStore) -> None:
        may_write = threading.Event()
        store._thread.submit(may_write.wait)
        commit = asyncio.create_task(store.commit([session(1)]))
        for _ in range(10):
            await asyncio.sleep(0)
        assert not commit.done()
        assert list(store.load()) == []
        may_write.set()
        await commit
        assert list(store.load()) == [session(1)]

    play(tmp_path / "store.db", part)


def test_whoever_is_cancelled_holds_nobody_up(tmp_path: Path) -> None:
    async def part(store: SqliteStore) -> None:
        commits = [asyncio.create_task(store.commit([session(number)])) for number in range(3)]
        await asyncio.sleep(0)
        commits[1].cancel()
        done = await asyncio.gather(*commits, return_exceptions=True)
        assert [type(each) for each in done] == [type(None), asyncio.CancelledError, type(None)]
        assert len(list(store.load())) == 3, "what was begun is written"

    play(tmp_path / "store.db", part)


def test_closing_writes_what_waits(tmp_path: Path) -> None:
    async def part(store: SqliteStore) -> None:
        commits = [asyncio.create_task(store.commit([session(number)])) for number in range(9)]
        await asyncio.sleep(0)
        await store.close()
        await asyncio.gather(*commits)
        with pytest.raises(StoreFailed, match="is closed"):
            await store.commit([])

    async def after(store: SqliteStore) -> None:
        assert len(list(store.load())) == 9

    play(tmp_path / "store.db", part)
    play(tmp_path / "store.db", after)


def test_rows_are_read_as_they_are_asked_for(tmp_path: Path) -> None:
    async def part(store: SqliteStore) -> None:
        await store.commit([session(number) for number in range(10)])
        rows = store.load()
        first = next(rows)
        # A transaction may run meanwhile; the rows are those of when the reading began.
        await store.commit([session(number) for number in range(10, 20)])
        assert len({first, *rows}) == 10
        assert len(list(store.load())) == 20

    play(tmp_path / "store.db", part)


def test_a_transaction_that_fails_leaves_nothing_and_fails_all_of_its_group(tmp_path: Path) -> None:
    async def part(store: SqliteStore) -> None:
        await store.commit([session(0)])
        pages = _pragma(store, "page_count")
        _pragma(store, f"max_page_count = {pages + 4}")
        large = DeliveryKept("ann", 1, 1, Event("t", b"x" * 100_000), 1)
        answers = await asyncio.gather(
            store.commit([session(1)]),
            store.commit([session(2), large]),
            store.commit([session(3)]),
            return_exceptions=True,
        )
        assert answers[0] is None
        for answer in answers[1:]:
            assert isinstance(answer, StoreFailed)
            reason = "could not be written: database or disk is full (SQLITE_FULL)"
            assert str(answer) == f"{tmp_path / 'store.db'}: {reason}"
        assert set(store.load()) == {session(0), session(1)}
        _pragma(store, "max_page_count = 1000000")
        await store.commit([session(2), large])
        assert set(store.load()) == {session(0), session(1), session(2), large}

    play(tmp_path / "store.db", part)


def test_it_goes_on_when_the_kernel_takes_more_again(tmp_path: Path) -> None:
    async def part(store: SqliteStore) -> None:
        await store.commit([session(0)])
        large = DeliveryKept("ann", 1, 1, Event("t", b"x" * 500_000), 1)
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
        try:
            for _ in range(2):
                with pytest.raises(StoreFailed, match="could not be written: disk I/O error"):
                    await store.commit([session(1), large])
            await store.commit([session(2)])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert set(store.load()) == {session(0), session(2)}
        await store.commit([session(1), large])

    async def after(store: SqliteStore) -> None:
        assert len(list(store.load())) == 4

    play(tmp_path / "store.db", part)
    play(tmp_path / "store.db", after)


def test_nothing_follows_a_flush_that_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def part(store: SqliteStore) -> None:
        pages = _pragma(store, "page_count")
        _pragma(store, f"max_page_count = {pages}")
        # No disk fails to order: the error of a full one is taken for that of a failed flush.
        monkeypatch.setattr(store_module, "FATAL", frozenset({"SQLITE_FULL"}))
        large = DeliveryKept("ann", 1, 1, Event("t", b"x" * 100_000), 1)
        with pytest.raises(StoreFailed, match="not known until it is opened anew"):
            await store.commit([large])
        _pragma(store, "max_page_count = 1000000")
        with pytest.raises(StoreFailed, match="not known until it is opened anew"):
            await store.commit([session(1)])

    play(tmp_path / "store.db", part)


@pytest.mark.parametrize(("durability", "synchronous"), [(Durability.FULL, 2), (Durability.PROCESS, 1)])
def test_durability_says_whether_a_commit_waits_for_the_disk(
    tmp_path: Path, durability: Durability, synchronous: int
) -> None:
    async def part(store: SqliteStore) -> None:
        assert _pragma(store, "synchronous") == synchronous
        assert _pragma(store, "journal_mode") == "wal"

    play(tmp_path / "store.db", part, durability)


def test_an_unknown_durability_is_refused_before_anything_is_opened(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'half' is not a valid Durability"):
        SqliteStore(tmp_path / "store.db", durability="half")
    assert list(tmp_path.iterdir()) == []


def _pragma(store: SqliteStore, text: str) -> Any:
    connection: sqlite3.Connection = store._connection
    return connection.execute(f"PRAGMA {text}").fetchone()[0]
