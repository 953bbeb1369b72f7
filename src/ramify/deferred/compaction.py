"""Compaction: writes a new base from files that are complete, beside a journal that goes on.

It reads and writes only files that nobody else touches, so it needs no lock and makes nobody
wait. A crash at any point leaves either the old files or the new base with its name: the base
is flushed before it is renamed, the name is flushed before anything is removed, and files
that a base makes superfluous are passed over at opening.
"""

from __future__ import annotations

from collections.abc import Iterator
from threading import Thread

from ramify.deferred.files import Files
from ramify.deferred.journal import base_name
from ramify.deferred.records import MAGIC, Drop, Put, Reader, Record

CHUNK = 1 << 18
"""Bytes that are written at once."""


def compact(files: Files, sources: list[str], number: int, ended_before: float) -> Iterator[int]:
    """Write the base with this number from its sources, step by step.

    Holds that ended before the given time are left out. Each step is short; the last
    gives the number of records that were dropped.
    """
    live, records = set[int](), 0
    for record, _ in _frames(files, sources):
        records += 1
        if _settle(live, record, ended_before):
            yield 0
    temporary = base_name(number) + ".tmp"
    base = files.create(temporary)
    chunk = bytearray(MAGIC)
    for record, frame in _frames(files, sources):
        if type(record) is Put and record.number in live:
            chunk += frame
            if len(chunk) >= CHUNK:
                base.write(bytes(chunk))
                chunk.clear()
                yield 0
    base.write(bytes(chunk))
    base.sync()
    base.close()
    yield 0
    files.rename(temporary, base_name(number))
    files.sync()
    for name in sources:
        files.remove(name)
    yield records - len(live)


def _frames(files: Files, sources: list[str]) -> Iterator[tuple[Record, memoryview]]:
    for name in sources:
        content = files.read(name)
        view = memoryview(content)
        for record, begin, end in Reader(content).records():
            yield record, view[begin:end]


def _settle(live: set[int], record: Record, ended_before: float) -> bool:
    """Note what a record leaves alive, and say whether this was a good moment to pause."""
    if isinstance(record, Drop):
        live.discard(record.number)
    else:
        live.discard(record.replaces)
        if not (record.is_holding and record.deadline <= ended_before):
            live.add(record.number)
    return record.number % 1024 == 0


class Compaction:
    """A compaction that runs in a thread of its own."""

    def __init__(self, steps: Iterator[int]) -> None:
        self.dropped = 0
        """How many records the new base has fewer than its sources."""
        self.error: OSError | None = None
        """Why there is no new base; the old files still hold everything."""
        self._thread = Thread(target=self._run, args=(steps,), name="ramify-compaction")
        self._thread.start()

    @property
    def is_running(self) -> bool:
        """Whether there is more to come."""
        return self._thread.is_alive()

    def wait(self) -> None:
        """Return once it has ended."""
        self._thread.join()

    def _run(self, steps: Iterator[int]) -> None:
        try:
            self.dropped = sum(steps)
        except OSError as error:
            self.error = error
