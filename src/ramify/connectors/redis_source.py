"""Reads Redis Streams, whole or as a stream: offsets are ids of entries, one for each stream.

Ids only grow, so the entries between two of them are the same whenever they are asked for, unless
somebody deletes or trims them. A micro-batch is cut into ranges of ids that tasks read on their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)

from ramify.connectors.entries import batch_of, event_of_entry
from ramify.connectors.redis_streams import RedisStreams, Stretch
from ramify.connectors.source_options import BEGINNING, SourceOptions

FEWEST_ROWS = 5_000
"""A task is not worth its start for fewer."""

Offset = dict[str, str]


@dataclass(frozen=True, slots=True)
class EntryRange(InputPartition):
    """Entries that one task reads: behind one id, up to another and with it."""

    stream: str
    behind: str
    last: str


class RedisReader(DataSourceReader):
    """Reads what is there now."""

    def __init__(self, options: SourceOptions) -> None:
        self._options = options

    def partitions(self) -> Sequence[InputPartition]:
        """Ranges of ids from the start to the end, each for one task."""
        options = self._options
        with closing(RedisStreams(options.address)) as streams:
            found: list[InputPartition] = []
            for stream in options.streams:
                last = options.end or streams.last_id(stream)
                behind = options.start or last
                found += _ranges(stream, list(streams.stretches(stream, behind, last, None)), options)
            return found

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The events of one range."""
        return _read(self._options, partition)


class RedisStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Plans micro-batches along the streams."""

    def __init__(self, options: SourceOptions) -> None:
        self._options = options
        self._connected: RedisStreams | None = None
        self._targets: Offset | None = None
        self._walked: dict[tuple[str, str, str], list[Stretch]] = {}

    def initialOffset(self) -> Offset:  # noqa: N802
        """Where the options say."""
        return {name: self._options.start or self._streams.last_id(name) for name in self._options.streams}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """As many rows as the options say."""
        return ReadMaxRows(self._options.max_rows)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Read up to what is there now."""
        self._targets = self.reportLatestOffset()

    def reportLatestOffset(self) -> Offset:  # noqa: N802
        """How far one could read."""
        return {name: self._streams.last_id(name) for name in self._options.streams}

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:  # noqa: N802
        """The ids up to which the next micro-batch reads."""
        self._walked.clear()
        rows = limit.max_rows if isinstance(limit, ReadMaxRows) else None
        share = None if rows is None else max(1, rows // len(self._options.streams))
        ends = {name: self._end(name, start.get(name, BEGINNING), share) for name in self._options.streams}
        # A stream that is no longer read keeps its place, in case it comes back.
        return {**start, **ends}

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        """Ranges of ids between two offsets, each for one task."""
        found: list[InputPartition] = []
        for stream, last in end.items():
            behind = start.get(stream, BEGINNING)
            if behind != last:
                found += _ranges(stream, self._walk(stream, behind, last), self._options)
        return found

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The events of one range."""
        return _read(self._options, partition)

    def stop(self) -> None:
        """Let go of the server."""
        if self._connected is not None:
            self._connected.close()

    def _end(self, stream: str, behind: str, rows: int | None) -> str:
        target = None if self._targets is None else self._targets[stream]
        if target is not None and place(target) <= place(behind):
            return behind
        walked = list(self._streams.stretches(stream, behind, target or "+", rows))
        if not walked:
            return behind
        self._walked[stream, behind, walked[-1].last] = walked
        return walked[-1].last

    def _walk(self, stream: str, behind: str, last: str) -> list[Stretch]:
        """The stretches between two ids; after a restart they are not known yet."""
        known = self._walked.get((stream, behind, last))
        return list(self._streams.stretches(stream, behind, last, None)) if known is None else known

    @property
    def _streams(self) -> RedisStreams:
        if self._connected is None:
            self._connected = RedisStreams(self._options.address)
        return self._connected

    def __getstate__(self) -> dict[str, Any]:
        """What travels to the tasks: they connect on their own."""
        return {"_options": self._options, "_connected": None, "_targets": None, "_walked": {}}


def place(entry_id: str) -> tuple[int, int]:
    """An id as what orders it."""
    milliseconds, _, number = entry_id.partition("-")
    return int(milliseconds), int(number or 0)


def _ranges(stream: str, stretches: list[Stretch], options: SourceOptions) -> list[EntryRange]:
    """Stretches put together, to about as many ranges as there should be tasks."""
    total = sum(stretch.count for stretch in stretches)
    wanted = max(FEWEST_ROWS, -(-total // options.partitions))
    found: list[EntryRange] = []
    rows = wanted
    for stretch in stretches:
        if rows >= wanted:
            found.append(EntryRange(stream, stretch.behind, stretch.last))
            rows = 0
        found[-1] = EntryRange(stream, found[-1].behind, stretch.last)
        rows += stretch.count
    return found


def _read(options: SourceOptions, partition: InputPartition) -> Iterator[pa.RecordBatch]:
    assert isinstance(partition, EntryRange)
    with closing(RedisStreams(options.address)) as streams:
        for entries in streams.entries(partition.stream, partition.behind, partition.last):
            yield batch_of(
                [event_of_entry(partition.stream, at, said, options.max_bytes) for at, said in entries]
            )
