"""A store is opened by one process, and only if it is one; anything else stays as it is."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
from operator import methodcaller
from pathlib import Path

import pytest

from ramify.broker.changes import DeliveryKept, SessionSaved
from ramify.broker.values import Event
from ramify.errors import InfrastructureError, StoreFailed, StoreInUse, StoreUnreadable
from ramify.store import SqliteStore, schema

ANN = SessionSaved("ann", None, 60.0, None)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


def opened_and_closed(path: Path, *changes: SessionSaved | DeliveryKept) -> list[object]:
    async def play() -> list[object]:
        store = SqliteStore(path, durability="process")
        try:
            await store.commit(changes)
            return list(store.load())
        finally:
            await store.close()

    return asyncio.run(play())


def refusal(path: Path) -> str:
    """Why the store is not opened; the file must be the same afterwards."""
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(InfrastructureError) as caught:
        opened_and_closed(path)
    assert (path.read_bytes() if path.is_file() else None) == before
    assert caught.value.path == str(path)
    assert isinstance(caught.value, StoreUnreadable)
    return caught.value.reason


# ── one at a time ─────────────────────────────────────────────────────────────────────────


def test_a_second_one_is_told_which_process_has_the_store(path: Path) -> None:
    opened_and_closed(path)
    program = (
        "import sys; from ramify.store import SqliteStore\n"
        "store = SqliteStore(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", program, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"open\n"
        with pytest.raises(StoreInUse) as caught:
            SqliteStore(path)
        assert str(caught.value) == f"{path}: process {other.pid} has this store open"
        other.kill()
        other.wait()
        assert opened_and_closed(path) == [], "its lock has died with it"


def test_a_name_for_the_same_file_is_the_same_store(path: Path, tmp_path: Path) -> None:
    opened_and_closed(path)
    (tmp_path / "other.db").symlink_to(path)

    async def play() -> None:
        store = SqliteStore(path)
        with pytest.raises(StoreInUse, match=f"process {os.getpid()} has"):
            SqliteStore(tmp_path / "other.db")
        await store.close()

    asyncio.run(play())


def test_what_cannot_be_opened_is_not_left_locked(path: Path) -> None:
    path.write_bytes(b"no database" * 100)
    refusal(path)
    path.unlink()
    assert opened_and_closed(path) == []


# ── a file that is none ───────────────────────────────────────────────────────────────────


def test_a_file_that_is_no_database_is_refused(path: Path) -> None:
    path.write_bytes(b"[broker]\nport = 1883\n" * 100)
    assert refusal(path) == "is not a store of ramify, or is damaged: file is not a database"


def test_a_database_of_another_program_is_refused(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE sessions (mine)")
    connection.close()
    assert refusal(path) == "is an SQLite database of another program, not a store of ramify"


def test_a_folder_is_refused(path: Path) -> None:
    path.mkdir()
    assert refusal(path) == "is a folder; a store is a file"


def test_a_store_of_a_newer_version_is_refused(path: Path) -> None:
    opened_and_closed(path, ANN)
    _execute(path, "PRAGMA user_version = 99")
    assert refusal(path) == "is of version 99, and this ramify knows versions up to 1"


def test_an_emptied_file_beside_its_log_is_refused(path: Path) -> None:
    opened_and_closed(path, ANN)
    Path(f"{path}-wal").write_bytes(b"what was not in its place yet")
    path.write_bytes(b"")
    assert refusal(path) == "is missing or empty, but its log store.db-wal is not"
    path.unlink()
    assert refusal(path) == "is missing or empty, but its log store.db-wal is not"
    assert Path(f"{path}-wal").exists()


def test_damage_is_found_at_opening(path: Path) -> None:
    many = [DeliveryKept(f"client-{n}", n, n, Event("t", b"x" * 500), 1) for n in range(300)]
    opened_and_closed(path, *many)
    content = bytearray(path.read_bytes())
    assert len(content) > 40 * 4096
    content[10 * 4096 : 30 * 4096] = b"\xff" * (20 * 4096)
    path.write_bytes(content)
    assert "is damaged: " in refusal(path)


def test_a_torn_file_is_found_at_opening(path: Path) -> None:
    many = [DeliveryKept(f"client-{n}", n, n, Event("t", b"x" * 500), 1) for n in range(300)]
    opened_and_closed(path, *many)
    os.truncate(path, 20 * 4096)
    assert "damaged" in refusal(path)


def test_a_row_that_cannot_be_read_is_told_when_it_is_read(path: Path) -> None:
    opened_and_closed(path, ANN)
    _execute(path, "UPDATE sessions SET row = x'c1'")
    with pytest.raises(StoreUnreadable, match="is not a store of ramify, or is damaged: MessagePack"):
        opened_and_closed(path)


def test_a_place_where_no_file_can_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreFailed, match="cannot be opened") as caught:
        SqliteStore(tmp_path / "file" / "store.db")
    assert caught.value.path == str(tmp_path / "file" / "store.db")


# ── a new one ─────────────────────────────────────────────────────────────────────────────


def test_a_new_store_is_made_where_it_is_asked_for_and_for_nobody_else(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "store.db"

    async def play() -> None:
        store = SqliteStore(path)
        await store.commit([ANN])
        rights = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
        assert rights == dict.fromkeys(("store.db", "store.db-wal", "store.db-shm", "store.db.lock"), 0o600)
        await store.close()

    asyncio.run(play())
    assert sorted(file.name for file in path.parent.iterdir()) == ["store.db", "store.db.lock"]


def test_what_was_kept_is_there_at_the_next_opening(path: Path) -> None:
    opened_and_closed(path, ANN)
    assert opened_and_closed(path) == [ANN]


# ── an older one ──────────────────────────────────────────────────────────────────────────


def test_a_store_of_an_older_version_is_brought_up_to_date(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened_and_closed(path, ANN)
    for version, text in {1: "CREATE TABLE later (x)", 2: "INSERT INTO later VALUES (5)"}.items():
        monkeypatch.setitem(schema.STEPS, version, methodcaller("execute", text))
    monkeypatch.setattr(schema, "VERSION", 3)
    assert opened_and_closed(path) == [ANN]
    assert _execute(path, "SELECT x FROM later") == [(5,)]
    assert _execute(path, "PRAGMA user_version") == [(3,)]
    assert opened_and_closed(path) == [ANN], "a step is taken once"


def test_a_step_that_fails_leaves_the_store_as_it_was(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened_and_closed(path, ANN)

    def fails(connection: sqlite3.Connection) -> None:
        connection.execute("DROP TABLE sessions")
        connection.execute("DROP TABLE nowhere")

    monkeypatch.setitem(schema.STEPS, 1, fails)
    monkeypatch.setattr(schema, "VERSION", 2)
    with pytest.raises(StoreFailed, match="no such table: nowhere"):
        opened_and_closed(path)
    monkeypatch.undo()
    assert opened_and_closed(path) == [ANN]


def _execute(path: Path, statement: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        return connection.execute(statement).fetchall()
    finally:
        connection.close()
