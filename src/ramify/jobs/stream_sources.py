"""Reads events as a stream: files of a folder as they come, Kafka, a Redis Stream, MQTT.

Files are read once each, in the order of their times; they must come into the folder whole, by being
renamed. The columns of the first run hold for all later ones. As in a batch, content in JSON Lines and
CSV stays text, and a line that is not a row is set aside.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamReader
from pyspark.sql.types import StringType, StructField, StructType

from ramify.connectors.format import NAME, register
from ramify.errors import CallerError, InvalidFile
from ramify.jobs.checkpoints import Checkpoint
from ramify.jobs.description import Source
from ramify.jobs.faults import told_plainly
from ramify.jobs.formats import check_available, format_of_source, local_path
from ramify.jobs.places import shown
from ramify.jobs.reading import BROKEN, ROWS, SUSPECT, check_there, moment
from ramify.pipeline.rejects import rejected
from ramify.pipeline.schema import (
    EVENT_ID,
    FIELDS,
    REALM,
    SUBSCRIPTION_TIMES,
    TOPIC,
    TS,
    quoted,
)

EVENTS = "events"
LINE = "line"
FILES = {"maxFilesPerTrigger": "1000"}
_BROKEN = StructField(BROKEN, StringType())


@dataclass(frozen=True, slots=True)
class Events:
    """A stream of events, and those lines of it that are none."""

    rows: DataFrame
    broken: DataFrame | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be read, for which query."""

    spark: SparkSession
    source: Source
    fields: str
    checkpoint: Checkpoint
    query: str
    """The name of the query; each has its own log of MQTT messages."""


def stream_events(
    spark: SparkSession, source: Source, fields: str | None, checkpoint: Checkpoint, query: str
) -> Events:
    """The events of a source as a stream, counted under the name `events`."""
    format = format_of_source(source)
    reader = _READERS.get(format)
    if reader is None:
        raise CallerError(f"{format} cannot be read as a stream; there are {', '.join(_READERS)}")
    with told_plainly(shown(source)):
        found = reader(Asked(spark, source, fields or FIELDS, checkpoint, query))
        return Events(_counted(found.rows), found.broken)


def _counted(rows: DataFrame) -> DataFrame:
    is_bad = F.col(BROKEN).isNotNull() if BROKEN in rows.columns else F.lit(False)
    if TOPIC in rows.columns:
        is_bad = is_bad | F.col(TOPIC).isNull()
    counts = F.count(F.lit(1)).alias(ROWS), F.count_if(is_bad).alias(SUSPECT)
    counted = rows.observe(EVENTS, *counts)
    return counted.where(F.col(BROKEN).isNull()).drop(BROKEN) if BROKEN in rows.columns else counted


# ── files ─────────────────────────────────────────────────────────────────────────────────


def _parquet(asked: Asked) -> Events:
    schema = _schema(asked, lambda: asked.spark.read.parquet(_path(asked.source)).schema)
    return Events(_files(asked).schema(schema).parquet(_path(asked.source)))


def _json_lines(asked: Asked) -> Events:
    options = {"columnNameOfCorruptRecord": BROKEN}

    def found() -> StructType:
        return asked.spark.read.options(**options, **asked.source.options).json(_path(asked.source)).schema

    texts = {TOPIC, TS, REALM, *SUBSCRIPTION_TIMES, asked.fields}
    kept = [_as_text(each) if each.name in texts else each for each in _schema(asked, found)]
    reader = _files(asked).options(**options)
    return _lines(reader.schema(StructType([*kept, _BROKEN])).json(_path(asked.source)))


def _comma_separated(asked: Asked) -> Events:
    options = {"header": "true", "escape": '"', "enforceSchema": "false", "columnNameOfCorruptRecord": BROKEN}

    def found() -> StructType:
        return asked.spark.read.options(**options, **asked.source.options).csv(_path(asked.source)).schema

    reader = _files(asked).options(**options)
    return _lines(reader.schema(StructType([*_schema(asked, found), _BROKEN])).csv(_path(asked.source)))


def _files(asked: Asked) -> DataStreamReader:
    return asked.spark.readStream.options(**FILES | asked.source.options)


def _lines(rows: DataFrame) -> Events:
    # Spark refuses to read a broken line's text alone, so another column goes with it.
    lines = rows.select(F.col(BROKEN).alias(LINE), F.col(quoted(rows.columns[0])))
    reason = F.when(F.col(LINE).isNotNull(), "the line is not a row: broken JSON, or another number of cells")
    return Events(_with_time(rows), rejected("event", lines, reason))


def _with_time(rows: DataFrame) -> DataFrame:
    is_text = TS in rows.columns and isinstance(rows.schema[TS].dataType, StringType)
    return rows.withColumn(TS, moment(F.col(TS))) if is_text else rows


def _as_text(field: StructField) -> StructField:
    return StructField(field.name, StringType())


def _schema(asked: Asked, found: Callable[[], StructType]) -> StructType:
    """The columns that are told, that an earlier run has found, or that the files have now."""
    check_there(asked.source)
    if asked.source.schema is not None:
        return StructType.fromDDL(asked.source.schema)  # type: ignore[return-value]
    known = asked.checkpoint.schema
    if known is None:
        _check_not_empty(asked.source)
        known = StructType([field for field in found() if field.name != BROKEN])
        asked.checkpoint.remember(known)
    return known


def _check_not_empty(source: Source) -> None:
    folder = local_path(_path(source))
    if folder is not None and folder.is_dir() and not any(folder.iterdir()):
        reason = "is empty, so nothing tells its columns; give them: --schema 'topic string, ts timestamp, …'"
        raise InvalidFile(str(folder), reason)


def _path(source: Source) -> str:
    if source.path is None:
        raise CallerError(f"a {source.format} source has a path")
    return source.path


# ── servers ───────────────────────────────────────────────────────────────────────────────


def _kafka(asked: Asked) -> Events:
    """Records whose value is an event as JSON: `{"topic": …, "fields": {…}, "ts": …}`."""
    check_available(asked.spark, "kafka")
    names = (TOPIC, asked.fields, TS, REALM, EVENT_ID)
    event = F.from_json(F.col("value").cast("string"), ", ".join(f"{quoted(name)} string" for name in names))
    read = asked.spark.readStream.format("kafka").options(**asked.source.options).load()
    rows = _with_time(
        read.select(event.alias("event"), "timestamp", *_PLACE).select("event.*", "timestamp", *_PLACE)
    )
    named = F.coalesce(F.col(EVENT_ID), F.concat_ws("/", *(F.col(name) for name in _PLACE)))
    times = F.coalesce(F.col(TS), F.col("timestamp"))
    return Events(rows.withColumn(TS, times).withColumn(EVENT_ID, named).drop("timestamp", *_PLACE))


_PLACE = ("partition", "offset")


def _redis(asked: Asked) -> Events:
    return Events(_registered(asked).load())


def _mqtt(asked: Asked) -> Events:
    log = asked.checkpoint.of(f"mqtt/{asked.query}")
    if local_path(log) is None and "log" not in asked.source.options:
        raise CallerError("MQTT needs a folder of the driver's machine to receive into: give the option log")
    reader = _registered(asked)
    return Events((reader if "log" in asked.source.options else reader.option("log", log)).load())


def _registered(asked: Asked) -> DataStreamReader:
    register(asked.spark)
    return asked.spark.readStream.format(NAME).options(**asked.source.options)


_READERS: dict[str, Callable[[Asked], Events]] = {
    "parquet": _parquet,
    "jsonl": _json_lines,
    "csv": _comma_separated,
    "kafka": _kafka,
    "redis": _redis,
    "mqtt": _mqtt,
}
