"""Reads MQTT as a stream: offsets are positions in the log of what was received.

The log lies on the driver. What a micro-batch is to read travels within its partitions, so the
executors need neither the broker nor the folder.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)

from ramify.connectors.entries import batch_of, event_of_message
from ramify.connectors.mqtt_log import MessageLog, unframed
from ramify.connectors.mqtt_recorder import Recorder
from ramify.connectors.source_options import SourceOptions
from ramify.errors import InvalidFile, JournalInUse

POSITION = "position"
BATCH_BYTES = 32 << 20
ROWS_A_PARTITION = 10_000
LOCK_PATIENCE = 20.0
"""Seconds to wait for an earlier run, that is just ending, to let go of its log."""
LONGEST_SETTLING = 30.0


@dataclass(frozen=True, slots=True)
class MessagePartition(InputPartition):
    """Messages that one task reads: they are in here."""

    client: str
    first: int
    frames: tuple[bytes, ...]


class MqttStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Plans micro-batches over the log, and fills the log meanwhile."""

    def __init__(self, options: SourceOptions) -> None:
        self._options = options
        self._opened: tuple[MessageLog, Recorder] | None = None
        self._target: int | None = None

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        """Begin with the first message in the log."""
        return {POSITION: self._log().begin}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """As many rows as the options say."""
        return ReadMaxRows(self._options.max_rows)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Wait until the broker has sent what it kept for us, and read up to there."""
        log, recorder = self._open()
        recorder.settle(self._options.settle, LONGEST_SETTLING)
        self._target = log.end

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        """The position up to which the next micro-batch reads."""
        log, recorder = self._open()
        recorder.check()
        begin = start[POSITION]
        if not log.begin <= begin <= log.end:
            raise InvalidFile(
                str(self._options.log),
                f"holds positions {log.begin} to {log.end}, and the checkpoint goes on from {begin}: "
                "log and checkpoint are not of one stream",
            )
        rows = limit.max_rows if isinstance(limit, ReadMaxRows) else None
        end = log.bounded(begin, rows, BATCH_BYTES)
        return {POSITION: end if self._target is None else max(begin, min(end, self._target))}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        """The messages between two positions, cut into parts."""
        log = self._log()
        places = range(start[POSITION], end[POSITION], ROWS_A_PARTITION)
        return [
            MessagePartition(
                log.client, first, tuple(log.frames(first, min(first + ROWS_A_PARTITION, end[POSITION])))
            )
            for first in places
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The events of one part, in the order in which they came."""
        assert isinstance(partition, MessagePartition)
        yield batch_of(
            [
                event_of_message(f"{partition.client}/{position}", unframed(frame))
                for position, frame in enumerate(partition.frames, partition.first)
            ]
        )

    def commit(self, end: dict[str, int]) -> None:
        """Forget what will not be asked for again."""
        self._log().trim(end[POSITION])

    def stop(self) -> None:
        """Disconnect; the broker keeps what comes in the meantime."""
        if self._opened is not None:
            log, recorder = self._opened
            self._opened = None
            recorder.stop()
            log.close()

    def _log(self) -> MessageLog:
        return self._open()[0]

    def _open(self) -> tuple[MessageLog, Recorder]:
        if self._opened is None:
            options = self._options
            log = _opened(options.log)
            recorder = Recorder(options.address, options.topic, log, options.client_id)
            self._opened = log, recorder
            recorder.start()
        return self._opened

    def __getstate__(self) -> dict[str, Any]:
        """What travels to the tasks: they need nothing but what is in their partitions."""
        return {"_options": self._options, "_opened": None, "_target": None}


def _opened(folder: Path) -> MessageLog:
    deadline = time.monotonic() + LOCK_PATIENCE
    while time.monotonic() < deadline:
        with suppress(JournalInUse):
            return MessageLog(folder)
        time.sleep(0.1)
    return MessageLog(folder)
