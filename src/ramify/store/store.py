"""SqliteStore: the broker's changes on disk, many commits in one transaction.

    commit ──→ waiting ──all that waits, in one transaction──→ everyone who waited goes on

One transaction is under way at a time, in a thread; commits that come meanwhile are the next one.
So one flush of the disk is shared by as many as ask for it, and nobody waits for a timer.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import msgspec

from ramify.broker.changes import Change, Row
from ramify.errors import StoreFailed
from ramify.store.lock import Lock
from ramify.store.opening import Durability, connect, misread, open_for_writing
from ramify.store.reading import read_rows
from ramify.store.writing import Batch, batch_of

FATAL = frozenset({"SQLITE_IOERR_FSYNC", "SQLITE_IOERR_DIR_FSYNC"})
"""After a failed flush nobody knows what is on the disk, so nothing may follow it."""

Group = list[tuple[Batch, asyncio.Future[None]]]


class SqliteStore:
    """Keeps rows in a file that one process has open."""

    def __init__(self, path: str | Path, *, durability: Durability | str = Durability.FULL) -> None:
        self._path = Path(path).resolve()
        self.durability = Durability(durability)
        self._lock = _locked(self._path)
        try:
            self._connection = open_for_writing(self._path, self.durability)
        except OSError as error:
            self._lock.release()
            raise StoreFailed(str(self._path), f"cannot be opened: {error}") from error
        except BaseException:
            self._lock.release()
            raise
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ramify-store")
        self._waiting: Group = []
        self._writing: asyncio.Future[None] | None = None
        self._failure = ""
        self._is_closed = False
        self.commits = 0
        """How many commits were asked for."""
        self.transactions = 0
        """How many transactions they became."""

    def load(self) -> Iterator[Row]:
        """Every row that was kept, read as they are asked for."""
        connection = connect(self._path)
        try:
            yield from read_rows(connection)
        except (sqlite3.DatabaseError, msgspec.MsgspecError) as error:
            raise misread(self._path, error) from error
        finally:
            connection.close()

    async def commit(self, changes: Sequence[Change]) -> None:
        """Make changes durable, all or none; they are safe when this returns.

        After `StoreFailed` nothing of them is kept. A later commit may succeed, if the disk has room again.
        """
        if self._is_closed or self._failure:
            raise StoreFailed(str(self._path), self._failure or "is closed")
        done = asyncio.get_running_loop().create_future()
        self._waiting.append((batch_of(changes), done))
        self.commits += 1
        if self._writing is None:
            self._begin()
        await done

    async def close(self) -> None:
        """Write what waits, and let go of the file."""
        if self._is_closed:
            return
        self._is_closed = True
        while self._writing is not None:
            await asyncio.wait([self._writing])
        try:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._connection.close)
        finally:
            self._thread.shutdown(wait=False)
            self._lock.release()

    # ── group commit ──────────────────────────────────────────────────────────────────────

    def _begin(self) -> None:
        group, self._waiting = self._waiting, []
        batches = [batch for batch, _ in group]
        self._writing = asyncio.get_running_loop().run_in_executor(self._thread, self._write, batches)
        self._writing.add_done_callback(partial(self._end, group))

    def _end(self, group: Group, writing: asyncio.Future[None]) -> None:
        self._writing = None
        failure = writing.exception()
        for _, done in group:
            if done.done():  # Whoever waited for it was cancelled.
                continue
            if failure is None:
                done.set_result(None)
            else:
                done.set_exception(failure)
        if self._waiting:
            self._begin()

    # ── in the thread ─────────────────────────────────────────────────────────────────────

    def _write(self, batches: list[Batch]) -> None:
        if self._failure:
            raise StoreFailed(str(self._path), self._failure)
        try:
            self._transact(batches)
        except sqlite3.Error as error:
            reason = f"could not be written: {error} ({error.sqlite_errorname})"
            if error.sqlite_errorname in FATAL:
                self._failure = f"{reason}; what is on the disk is not known until it is opened anew"
            raise StoreFailed(str(self._path), self._failure or reason) from error

    def _transact(self, batches: list[Batch]) -> None:
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            for batch in batches:
                for statement, rows in batch:
                    connection.executemany(statement, rows)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:  # SQLite may have ended it by itself.
                connection.execute("ROLLBACK")
            raise
        self.transactions += 1


def _locked(path: Path) -> Lock:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return Lock(path)
    except OSError as error:
        raise StoreFailed(str(path), f"cannot be opened: {error}") from error
