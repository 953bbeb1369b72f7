"""Opens the file of a store: makes a new one, or makes sure that it is whole and ours.

A file that is not is left as it is, with an error that says what is wrong: what is in it may be
all that somebody has.
"""

from __future__ import annotations

import os
import sqlite3
from enum import StrEnum
from pathlib import Path

from ramify.errors import NotInstalled, StoreFailed, StoreUnreadable
from ramify.store import schema

OLDEST_SQLITE = (3, 24)
PATIENCE = 5.0
"""Seconds to wait for another program that has locked the file, say to look into it."""
LOG_PAGES = 4_000
"""Pages that the write-ahead log takes before they go to their places; more means less often."""
LOG_BYTES = 64 << 20
"""What the log is cut back to after it has grown beyond."""


class Durability(StrEnum):
    """What a commit survives."""

    FULL = "full"
    """The end of the process and a power cut: a commit waits for the disk."""
    PROCESS = "process"
    """The end of the process, however it ends; a power cut may take back the last commits, whole ones."""


SYNCHRONOUS = {Durability.FULL: "FULL", Durability.PROCESS: "NORMAL"}
"""SQLite's word. Both sync the log before its pages go to their places, so that neither can tear the file."""


def open_for_writing(path: Path, durability: Durability) -> sqlite3.Connection:
    """Open a store that nobody else has open; make it if there is none."""
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        raise NotInstalled(str(path), f"needs SQLite 3.24, and Python has {sqlite3.sqlite_version}")
    _make_file(path)
    connection = connect(path)
    try:
        _check(path, connection)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {SYNCHRONOUS[durability]}")
        connection.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES}")
        connection.execute(f"PRAGMA journal_size_limit = {LOG_BYTES}")
        _bring_up_to_date(connection)
    except sqlite3.DatabaseError as error:
        connection.close()
        raise misread(path, error) from error
    except BaseException:
        connection.close()
        raise
    return connection


def connect(path: Path) -> sqlite3.Connection:
    """Open the file; transactions are begun and ended by hand, in whatever thread."""
    try:
        return sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
    except sqlite3.OperationalError as error:
        raise StoreFailed(str(path), f"cannot be opened: {error}") from error


def misread(path: Path, error: Exception) -> StoreUnreadable | StoreFailed:
    """Say whether it is the file that is wrong, or what the machine can do with it at the moment."""
    if isinstance(error, sqlite3.OperationalError):
        return StoreFailed(str(path), f"cannot be read: {error}")
    return StoreUnreadable(str(path), f"is not a store of ramify, or is damaged: {error}")


def _make_file(path: Path) -> None:
    if path.is_dir():
        raise StoreUnreadable(str(path), "is a folder; a store is a file")
    log = Path(f"{path}-wal")
    is_empty = not path.exists() or path.stat().st_size == 0
    if is_empty and log.exists() and log.stat().st_size:
        # SQLite would take the file for a new one, and throw the log away.
        raise StoreUnreadable(str(path), f"is missing or empty, but its log {log.name} is not")
    # Events may be private. SQLite gives the files beside it the same rights.
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # Without this the new name may not survive a power cut.
    finally:
        os.close(folder)


def _check(path: Path, connection: sqlite3.Connection) -> None:
    """Read only, so that a file of others stays as it is."""
    application, version = _number(connection, "application_id"), _number(connection, "user_version")
    if application != schema.APPLICATION and not _is_blank(connection):
        raise StoreUnreadable(str(path), "is an SQLite database of another program, not a store of ramify")
    if version > schema.VERSION:
        reason = f"is of version {version}, and this ramify knows versions up to {schema.VERSION}"
        raise StoreUnreadable(str(path), reason)
    found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        raise StoreUnreadable(str(path), f"is damaged: {found.splitlines()[-1]}")


def _bring_up_to_date(connection: sqlite3.Connection) -> None:
    if _is_blank(connection):
        schema.create(connection)
    elif (version := _number(connection, "user_version")) < schema.VERSION:
        schema.migrate(connection, version, schema.STEPS, schema.VERSION)


def _is_blank(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])
