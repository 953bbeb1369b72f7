"""Journal: records on disk, in order, with one fsync for many.

    00000007.base      all that was still to be done before log 7 began
    00000007.log       records since then; the log with the highest number is being written
    00000008.log
    *.tmp              a base that is not finished; removed at opening
    *.torn             what lay behind a damage, kept for whoever wants to look

Opening reads the highest base, then every log from its number on, and begins a new log.
A record counts as accepted once `commit()` has returned. A log is never changed, except that
a torn end is cut off at opening, after it was copied to a `.torn` file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from ramify.deferred.files import Appender, Files
from ramify.deferred.records import FORMAT, MAGIC, Put, Reader, Record, States, read_records
from ramify.errors import InvalidFile, JournalFailed, JournalInUse

Progress = Callable[[int, int], None]
"""Told how many bytes of how many have been read."""


@dataclass(frozen=True, slots=True)
class GroupCommit:
    """How much may wait for the next fsync: whichever bound is reached first ends the wait."""

    records: int = 10_000
    bytes: int = 4 << 20
    delay: float = 0.01
    """Since the first record that waits, in the unit of the clock that the caller passes."""


@dataclass(frozen=True, slots=True)
class Damage:
    """A place where a file could not be read on; everything before it was kept."""

    file: str
    offset: int
    lost: int
    """How many bytes lay behind; they are in the `.torn` file of the same name."""
    reason: str

    def __str__(self) -> str:
        return f"{self.file}: {self.reason} at byte {self.offset}; {self.lost} bytes were set aside"


@dataclass(slots=True)
class Commit:
    """Records on their way to the disk."""

    log: Appender
    content: bytes
    records: int
    appended: int
    """How many records were appended up to the last of these."""
    failure: str = ""

    def run(self) -> None:
        """Write and flush; this touches nothing but the log, so it may run in any thread."""
        try:
            self.log.write(self.content)
            self.log.sync()
        except OSError as error:
            # After a failed fsync nobody knows what is on the disk, so nothing may follow it.
            self.failure = f"cannot be written: {error}"


class Journal:
    """Appends records to a folder, and reads back what was appended."""

    def __init__(self, files: Files, group: GroupCommit, progress: Progress | None = None) -> None:
        self._files, self._delay = files, group.delay
        self._most_records, self._most_bytes = group.records, group.bytes
        self.damage: list[Damage] = []
        self._states = States()
        sources = self._tidied()
        self._read(sources, progress or (lambda done, total: None))
        self.number = 1 + max((_number_of(name) for name in sources), default=0)
        """The number of the log that is being written."""
        self.appended = self.committed = 0
        self.records = self._states.records
        """How many records the files hold, live or not."""
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._waiting_since: float | None = None
        self._failure = ""
        self._under_way: Commit | None = None
        self._log = self._begin(self.number)

    def take_states(self) -> dict[int, Put]:
        """Hand over what was still to be done at opening."""
        live, self._states = self._states.live, States()
        return live

    # ── writing ───────────────────────────────────────────────────────────────────────────

    def append(self, frame: bytes, now: float | None = None) -> None:
        """Take a record, and commit if this fills the group."""
        if self._failure:
            self._refuse()
        self._waiting.append(frame)
        self._waiting_bytes += len(frame)
        self.appended += 1
        if len(self._waiting) >= self._most_records or self._waiting_bytes >= self._most_bytes:
            self.commit()
        elif now is not None:
            self.commit_due(now)

    def commit(self) -> int:
        """Make all records durable that were appended, and say how many that makes so far."""
        if (commit := self.begin_commit()) is not None:
            commit.run()
            self.end_commit(commit)
        self.committed = self.appended
        return self.committed

    def begin_commit(self) -> Commit | None:
        """Take all records that wait, for a thread to write while others are appended.

        One commit is under way at a time; whoever began it tells `end_commit` when it has run.
        """
        if self._failure:
            self._refuse()
        if self._under_way is not None:
            raise JournalInUse(log_name(self.number), "a commit is under way")
        if not self._waiting:
            return None
        self._under_way = Commit(self._log, b"".join(self._waiting), len(self._waiting), self.appended)
        self._waiting, self._waiting_bytes, self._waiting_since = [], 0, None
        return self._under_way

    def end_commit(self, commit: Commit) -> None:
        """Count the records of a commit that has run as durable, or refuse everything from now on."""
        self._under_way = None
        if commit.failure:
            self._failure = commit.failure
            self._refuse()
        self.records += commit.records
        self.committed = commit.appended

    def commit_due(self, now: float) -> bool:
        """Commit if records have been waiting for as long as they may."""
        if not self._waiting:
            return False
        if self._waiting_since is None:
            self._waiting_since = now
        if now - self._waiting_since < self._delay:
            return False
        self.commit()
        return True

    @property
    def commit_at(self) -> float | None:
        """When `commit_due` will have something to do, if that is known."""
        return None if self._waiting_since is None else self._waiting_since + self._delay

    def rotate(self) -> list[str]:
        """Begin a new log, and name the files that are complete from now on."""
        self.commit()
        complete = self._sources()
        log, number = self._begin(self.number + 1), self.number + 1
        self._log.close()
        self._log, self.number = log, number
        return complete

    def close(self) -> None:
        """Commit and let go of the files."""
        try:
            if not self._failure:
                self.commit()
        finally:
            self._log.close()
            self._files.close()

    def check(self) -> None:
        """Refuse to go on after a failure."""
        if self._failure:
            self._refuse()

    def _refuse(self) -> NoReturn:
        raise JournalFailed(log_name(self.number), self._failure)

    def _begin(self, number: int) -> Appender:
        log = self._files.create(log_name(number))
        log.write(MAGIC)
        log.sync()
        # The name must be on the disk before the first record is accepted.
        self._files.sync()
        return log

    # ── reading ───────────────────────────────────────────────────────────────────────────

    def _sources(self) -> list[str]:
        """Name the highest base and the logs that follow it, in order."""
        names = [name for name in self._files.names() if name.endswith((".base", ".log"))]
        base = max((name for name in names if name.endswith(".base")), default=None)
        start = 0 if base is None else _number_of(base)
        logs = sorted(name for name in names if name.endswith(".log") and _number_of(name) >= start)
        return logs if base is None else [base, *logs]

    def _tidied(self) -> list[str]:
        """Remove what a crash left half done, and name what counts."""
        sources = self._sources()
        for name in self._files.names():
            if name.endswith((".tmp", ".base", ".log")) and name not in sources:
                self._files.remove(name)
        return sources

    def _read(self, sources: list[str], progress: Progress) -> None:
        total = sum(self._files.size(name) for name in sources)
        done = 0
        for name in sources:
            reader = read_records(self._files.read(name))
            self._states.read(reader, lambda offset, before=done: progress(before + offset, total))  # type: ignore[misc]
            if reader.damage:
                self._set_aside(name, reader)
            done += reader.offset + reader.lost
            progress(done, total)

    def _set_aside(self, name: str, reader: Reader[Record]) -> None:
        """Report a damage, copy what lies behind it, and cut it off."""
        content = self._files.read(name)
        torn = content[reader.offset :]
        # A log's beginning is synced before it takes a record: one that is torn has nothing behind it.
        if reader.offset == 0 and content.startswith(FORMAT) and len(content) > len(MAGIC):
            raise InvalidFile(name, f"is in another version of the format than {MAGIC.decode().strip()!r}")
        self.damage.append(Damage(name, reader.offset, len(torn), reader.damage))
        aside = self._files.create(name + ".torn")
        aside.write(torn)
        aside.sync()
        aside.close()
        self._files.truncate(name, reader.offset)
        self._files.sync()


def log_name(number: int) -> str:
    """Name the log with this number."""
    return f"{number:08}.log"


def base_name(number: int) -> str:
    """Name the base that holds what was to be done before the log with this number."""
    return f"{number:08}.base"


def _number_of(name: str) -> int:
    return int(name.partition(".")[0])
