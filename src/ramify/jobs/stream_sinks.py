"""Writes a stream: to files exactly once, to Redis Streams, MQTT and Kafka at least once.

Files are written by Spark's own sink, whose log says which of them count: a micro-batch that is
run again after a crash does not add a row. Elsewhere it is written again, and each delivery has a
`delivery_id` to know it by.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from ramify.connectors.format import NAME, register
from ramify.connectors.source_options import sink_options
from ramify.errors import CallerError
from ramify.jobs.description import Sink, Stream
from ramify.jobs.faults import told_plainly
from ramify.jobs.formats import IN_FILES, check_available, format_of_sink
from ramify.jobs.places import shown
from ramify.jobs.writing import shaped
from ramify.pipeline.delivery_ids import with_delivery_id
from ramify.pipeline.durations import microseconds

TOPIC_OF_EVENT = "{topic}"


@dataclass(frozen=True, slots=True)
class Output:
    """A stream on its way into a sink."""

    rows: DataFrame
    sink: Sink
    content: str
    """The column whose JSON text is an object."""
    identity: Sequence[str] | None = None


def start_query(output: Output, name: str, checkpoint: str, stream: Stream) -> StreamingQuery:
    """Begin to write a stream into a sink."""
    sink = output.sink
    format = format_of_sink(sink)
    writer_of = _WRITERS.get(format)
    if writer_of is None:
        raise CallerError(f"{format} cannot be written as a stream; there are {', '.join(_WRITERS)}")
    with told_plainly(shown(sink)):
        writer = (
            writer_of(output).option("checkpointLocation", checkpoint).queryName(name).outputMode("append")
        )
        if sink.partition_by:
            writer = writer.partitionBy(*sink.partition_by)
        writer = _triggered(writer, stream)
        return writer.toTable(sink.path or "") if format == "iceberg" else writer.start(sink.path)


def _triggered(writer: DataStreamWriter, stream: Stream) -> DataStreamWriter:
    if stream.until_caught_up:
        return writer.trigger(availableNow=True)
    if stream.trigger is None:
        return writer
    return writer.trigger(processingTime=f"{microseconds(stream.trigger) // 1_000} milliseconds")


def _files(output: Output) -> DataStreamWriter:
    format = format_of_sink(output.sink)
    rows = shaped(output.rows, format, output.content)
    usual = {"header": "true", "escape": '"'} if format == "csv" else {}
    name = "json" if format == "jsonl" else format
    return rows.writeStream.format(name).options(**usual | output.sink.options)


def _tables(output: Output) -> DataStreamWriter:
    format = format_of_sink(output.sink)
    check_available(output.rows.sparkSession, format)
    return output.rows.writeStream.format(format).options(**output.sink.options)


def _kafka(output: Output) -> DataStreamWriter:
    check_available(output.rows.sparkSession, "kafka")
    rows = shaped(with_delivery_id(output.rows, output.identity), "kafka", output.content)
    return rows.writeStream.format("kafka").options(**output.sink.options)


def _servers(output: Output) -> DataStreamWriter:
    register(output.rows.sparkSession)
    rows = with_delivery_id(output.rows, output.identity)
    options = dict(output.sink.options)
    if format_of_sink(output.sink) == "mqtt":
        options.setdefault("topic", TOPIC_OF_EVENT)
    sink_options(options, rows.columns)  # refused here, it is not refused by the first micro-batch
    return rows.writeStream.format(NAME).options(**options)


_WRITERS: dict[str, Callable[[Output], DataStreamWriter]] = {
    **dict.fromkeys(IN_FILES, _files),
    "delta": _tables,
    "iceberg": _tables,
    "kafka": _kafka,
    "redis": _servers,
    "mqtt": _servers,
}
