"""Writes rows to Redis Streams and MQTT: at least once, pipelined, each row under its own names.

A task that fails is tried again by Spark, and a micro-batch that is replayed is written again; so
readers know a delivery that comes twice by its `delivery_id`. A row that has nowhere to go (no
topic, or one that cannot be published to) is counted and left out; it does not stop the others.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)

from ramify.connectors.addresses import MQTT
from ramify.connectors.redis_streams import RedisStreams, packed
from ramify.connectors.source_options import SinkOptions
from ramify.connectors.templates import as_bytes

PIPELINED = 1_000
"""So many commands are sent before their answers are read."""

_log = logging.getLogger("ramify.pipeline")


@dataclass(frozen=True, slots=True)
class Written(WriterCommitMessage):
    """What one task has done."""

    rows: int
    left_out: Counter[str]


class SinkWriter(DataSourceArrowWriter, DataSourceStreamArrowWriter):
    """Writes the rows of a task, for a batch and for a stream alike."""

    def __init__(self, options: SinkOptions) -> None:
        self._options = options

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Written:
        """Write all rows; when this returns, the server has them."""
        if self._options.address.kind == MQTT:
            from ramify.connectors.mqtt_sink import publish

            return Written(*publish(self._options, iterator))
        return Written(*append(self._options, iterator))

    def commit(self, messages: Sequence[WriterCommitMessage | None], batchId: int = 0) -> None:  # noqa: N803
        """Say what was left out; the rest is where it should be."""
        total: Counter[str] = Counter()
        for message in messages:
            if isinstance(message, Written):
                total += message.left_out
        for reason, count in total.items():
            _log.warning("%s: %d deliveries were left out: %s", self._options.address, count, reason)

    def abort(self, messages: Sequence[WriterCommitMessage | None], batchId: int = 0) -> None:  # noqa: N803
        """Nothing can be taken back: what was written comes again, with the same ids."""


def append(options: SinkOptions, batches: Iterator[pa.RecordBatch]) -> tuple[int, Counter[str]]:
    """Append rows to Redis Streams; says how many, and what was left out."""
    rows, left_out = 0, Counter[str]()
    with closing(RedisStreams(options.address)) as streams:
        for batch in batches:
            commands = list(_commands(options, batch))
            for first in range(0, len(commands), PIPELINED):
                streams.append(commands[first : first + PIPELINED])
            rows += len(commands)
            if len(commands) < batch.num_rows:
                left_out[f"{options.name.text!r} names no stream"] += batch.num_rows - len(commands)
    return rows, left_out


def _commands(options: SinkOptions, batch: pa.RecordBatch) -> Iterator[bytes]:
    bound = [] if options.maxlen is None else [b"MAXLEN", b"~", b"%d" % options.maxlen]
    names = [name.encode() for name in batch.schema.names]
    columns = [as_bytes(column) for column in batch.columns]
    for stream, row in zip(options.name.filled(batch), zip(*columns, strict=True), strict=True):
        said = [
            part
            for name, value in zip(names, row, strict=True)
            if value is not None
            for part in (name, value)
        ]
        if stream and said:
            yield packed([b"XADD", stream.encode(), *bound, b"*", *said])
