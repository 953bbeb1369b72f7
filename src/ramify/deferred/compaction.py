"""Compaction: writes a new base from files that are complete, beside a journal that goes on.

It reads and writes only files that nobody else touches, so it needs no lock. Nothing that it does
keeps the interpreter for long, so a push beside it waits for milliseconds. A crash at any point
leaves either the old files or the new base with its name: the base is flushed before it is renamed,
the name is flushed before anything is removed, and files that a base makes superfluous are passed
over at opening.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import merge
from threading import Thread

from ramify.deferred.files import Files
from ramify.deferred.journal import base_name
from ramify.deferred.records import MAGIC, Drop, Trace, frame_at, read_traces

CHUNK = 1 << 18
"""Bytes that are written at once."""
STEP = 512
"""Records that are read in one step."""
SHARDS = 256
"""Parts of the table of live states: one that grew to a million would stop everybody while it is copied."""

Live = list[dict[int, int]]
"""Where the record of each live state begins, counted over all sources; in order within each part."""


def compact(files: Files, sources: list[str], number: int, ended_before: float) -> Iterator[int]:
    """Write the base with this number from its sources, step by step.

    Holds that ended before the given time are left out. Each step is short; what the steps give
    adds up to the number of records that were dropped.
    """
    live: Live = [{} for _ in range(SHARDS)]
    records = start = 0
    for name in sources:
        content = files.read(name)
        for record, begin in read_traces(content).records():
            records += 1
            _settle(live, record, start + begin, ended_before)
            if records % STEP == 0:
                yield 0
        start += len(content)
    temporary = base_name(number) + ".tmp"
    base = files.create(temporary)
    chunk = bytearray(MAGIC)
    frames = _frames(files, sources, merge(*(part.values() for part in live)))
    for written, frame in enumerate(frames, 1):
        chunk += frame
        if len(chunk) >= CHUNK:
            base.write(bytes(chunk))
            chunk.clear()
        if written % STEP == 0:
            yield 0
    base.write(bytes(chunk))
    base.sync()
    base.close()
    yield 0
    files.rename(temporary, base_name(number))
    files.sync()
    for name in sources:
        files.remove(name)
    yield records
    while live:  # Letting go of all at once would take long.
        yield -len(live.pop())


def _frames(files: Files, sources: list[str], places: Iterable[int]) -> Iterator[memoryview]:
    """Read the frames that begin at these places, which are in order."""
    names, start = iter(sources), 0
    view = memoryview(b"")
    for place in places:
        while place >= start + len(view):
            start += len(view)
            view = memoryview(files.read(next(names)))
        yield frame_at(view, place - start)


def _settle(live: Live, record: Trace, place: int, ended_before: float) -> None:
    """Note what a record leaves alive."""
    number = record.number
    if isinstance(record, Drop):
        live[number % SHARDS].pop(number, None)
        return
    live[record.replaces % SHARDS].pop(record.replaces, None)
    if not (record.is_holding and record.deadline <= ended_before):
        live[number % SHARDS][number] = place


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
