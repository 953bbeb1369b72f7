"""Reads tables: events, deliveries and subscriptions, from files or from what the user's Spark knows.

Content in JSON Lines and CSV stays the text that it is, because Spark's guesses about types would
coerce it; times become timestamps, and a line that is not a row is set aside with the reason.
What is read is counted on the way, by an observation, not by reading it again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, DataFrameReader, Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from ramify.connectors.format import NAME
from ramify.errors import CallerError, InvalidFile
from ramify.jobs.description import Source
from ramify.jobs.faults import told_plainly
from ramify.jobs.formats import SERVED, check_available, format_of_source, local_path, placed
from ramify.jobs.lines import BAD, LINE, subscription_lines
from ramify.pipeline.rejects import rejected
from ramify.pipeline.schema import (
    EVENT_ID,
    FIELDS,
    OURS,
    REALM,
    SUBSCRIPTION_TEXTS,
    SUBSCRIPTION_TIMES,
    TOPIC,
    TS,
    quoted,
)

BROKEN = OURS + "broken"
ROWS, SUSPECT = "rows", "suspect"
_REASON = OURS + "reason"
NUMBER = r"^-?\d{1,11}(\.\d{1,9})?$"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows that were read, those that could not be, and how many there were once a job has read them."""

    rows: DataFrame
    rejects: DataFrame | None
    observation: Observation | None
    uncounted: DataFrame
    """The same rows, to be counted where a job found out that it need not read them."""

    def count(self) -> int:
        """How many rows there were, bad ones included."""
        found = observed(self.observation)
        return self.uncounted.count() if found is None else found[ROWS]

    def is_suspect(self) -> bool:
        """Whether a row is broken or lacks a topic or a time; if nobody knows, it may be."""
        found = observed(self.observation)
        return found is None or found[SUSPECT] > 0


def observed(observation: Observation | None) -> dict[str, int] | None:
    """What was counted while a job ran; nothing, if Spark saw that it need not run that part."""
    if observation is None:
        return None
    try:
        return observation.get or None
    except (PySparkException, Py4JError):
        return None


def read_events(spark: SparkSession, source: Source, fields: str | None = None) -> Table:
    """A table of events or of deliveries."""
    place = _checked(spark, source)
    with told_plainly(place):
        rows = _READERS[format_of_source(source)](spark, source, fields or FIELDS)
        return _events(rows, _NO_ROW.get(format_of_source(source), ""))


def read_subscriptions(spark: SparkSession, source: Source) -> Table:
    """A table of subscriptions; JSON Lines and CSV are those that `ramify subscriptions` speaks of."""
    place = _checked(spark, source)
    with told_plainly(place):
        return _subscriptions(_SUBSCRIPTION_READERS[format_of_source(source)](spark, source))


def read_plain(spark: SparkSession, source: Source) -> DataFrame:
    """Any other table, such as one of statistics."""
    with told_plainly(_checked(spark, source)):
        format = format_of_source(source)
        reader = _reader(spark, source)
        if format == "csv":
            return reader.options(header=True, inferSchema=True, escape='"').csv(_path(source))
        return reader.format("json" if format == "jsonl" else format).load(_path(source))


def _checked(spark: SparkSession, source: Source) -> str:
    """The place to name in errors, once it is known to be one."""
    check_there(source)
    check_available(spark, format_of_source(source))
    return source.path or format_of_source(source)


def check_there(source: Source) -> None:
    """Refuse a path on this machine that leads nowhere; what is elsewhere only Spark can tell."""
    if source.path is None:
        if source.format not in (*SERVED, "kafka"):
            raise CallerError("a source has a path; only those of Kafka and Redis have none")
        return
    path = local_path(source.path)
    if path is not None and source.format != "iceberg" and not _leads_somewhere(str(path)):
        raise InvalidFile(source.path, "there is nothing at this path")


def _leads_somewhere(path: str) -> bool:
    # Spark's globs know {a,b}, Python's do not; what stands before the first brace must be there.
    before, brace, _ = path.partition("{")
    below, wanted = Path(path).anchor or ".", before + "*" if brace else path
    return Path(path).exists() or any(True for _ in Path(below).glob(wanted.lstrip("/")))


# ── by format ─────────────────────────────────────────────────────────────────────────────


def _json_lines(spark: SparkSession, source: Source, fields: str) -> DataFrame:
    reader = _reader(spark, source).option("columnNameOfCorruptRecord", BROKEN)
    schema = _told(source) or reader.json(_path(source)).schema
    texts = {TOPIC, TS, REALM, *SUBSCRIPTION_TIMES, fields}
    kept = [_as_text(field) if field.name in texts else field for field in schema if field.name != BROKEN]
    rows = _with_broken(reader.schema(StructType([*kept, _BROKEN])).json(_path(source)))
    return _with_times(rows, (TS, *SUBSCRIPTION_TIMES))


def _comma_separated(spark: SparkSession, source: Source, fields: str) -> DataFrame:
    return _with_times(_cells(spark, source), (TS, *SUBSCRIPTION_TIMES))


def _cells(spark: SparkSession, source: Source) -> DataFrame:
    reader = _reader(spark, source).options(
        header=True, escape='"', enforceSchema=False, columnNameOfCorruptRecord=BROKEN
    )
    schema = _told(source) or reader.csv(_path(source)).schema
    return _with_broken(reader.schema(StructType([*schema, _BROKEN])).csv(_path(source)))


def _by_name(spark: SparkSession, source: Source, fields: str) -> DataFrame:
    return _reader(spark, source).format(format_of_source(source)).load(_path(source))


def _served(spark: SparkSession, source: Source, fields: str) -> DataFrame:
    return _reader(spark, source).format(NAME).load()


def _kafka(spark: SparkSession, source: Source, fields: str) -> DataFrame:
    """Records whose value is an event as JSON: `{"topic": …, "fields": {…}, "ts": …}`."""
    columns = (
        f"{quoted(TOPIC)} string, {quoted(fields)} string, {TS} string, {REALM} string, {EVENT_ID} string"
    )
    event = F.from_json(F.col("value").cast("string"), columns)
    read = (
        spark.read.format("kafka").options(**source.options).load().select(event.alias("event"), "timestamp")
    )
    rows = _with_times(read.select("event.*", F.col("timestamp").alias(OURS + TS)), (TS,))
    return rows.withColumn(TS, F.coalesce(TS, OURS + TS)).drop(OURS + TS)


_READERS: dict[str, Callable[[SparkSession, Source, str], DataFrame]] = {
    "parquet": _by_name,
    "jsonl": _json_lines,
    "csv": _comma_separated,
    "delta": _by_name,
    "iceberg": _by_name,
    "kafka": _kafka,
    "redis": _served,
    "mqtt": _served,
}


def _subscription_lines(spark: SparkSession, source: Source) -> DataFrame:
    lines = _reader(spark, source).text(_path(source))
    # A table with times is one whose events must have them, too.
    named = [F.max(F.contains("value", F.lit(f'"{name}"'))) for name in SUBSCRIPTION_TIMES]
    is_named = lines.agg(*named).collect()[0]
    absent = [name for name, found in zip(SUBSCRIPTION_TIMES, is_named, strict=True) if not found]
    return _with_times(subscription_lines(lines).drop(*absent), SUBSCRIPTION_TIMES)


def _subscription_cells(spark: SparkSession, source: Source) -> DataFrame:
    return _as_subscriptions(_cells(spark, source))


def _subscriptions_as_they_are(spark: SparkSession, source: Source) -> DataFrame:
    return _by_name(spark, source, "")


_SUBSCRIPTION_READERS: dict[str, Callable[[SparkSession, Source], DataFrame]] = {
    "parquet": _subscriptions_as_they_are,
    "jsonl": _subscription_lines,
    "csv": _subscription_cells,
    "delta": _subscriptions_as_they_are,
    "iceberg": _subscriptions_as_they_are,
}

# ── parts ─────────────────────────────────────────────────────────────────────────────────

_BROKEN = StructField(BROKEN, StringType())


def _reader(spark: SparkSession, source: Source) -> DataFrameReader:
    return spark.read.options(**source.options)


def _path(source: Source) -> str:
    if source.path is None:
        raise CallerError(f"a {source.format} source has a path")
    return source.path if source.format == "iceberg" else placed(source.path)


def _told(source: Source) -> StructType | None:
    if source.schema is None:
        return None
    told = StructType.fromDDL(source.schema)
    return told if isinstance(told, StructType) else StructType([StructField("value", told)])


def _as_text(field: StructField) -> StructField:
    return StructField(field.name, StringType())


def _with_times(rows: DataFrame, names: tuple[str, ...]) -> DataFrame:
    """Times that are written as ISO 8601, or as seconds since 1970; what is neither is null."""
    there = [
        name for name in names if name in rows.columns and isinstance(rows.schema[name].dataType, StringType)
    ]
    return rows.withColumns({name: moment(F.col(quoted(name))) for name in there})


def moment(text: Column) -> Column:
    """A text as a timestamp."""
    seconds = F.when(text.rlike(NUMBER), text.try_cast("decimal(21, 9)"))
    return F.coalesce(F.timestamp_micros((seconds * 1_000_000).cast("long")), F.try_to_timestamp(text))


def _as_subscriptions(rows: DataFrame) -> DataFrame:
    """What CSV cannot tell apart, and a time that is none: it must not pass for an open end."""
    there = [name for name in SUBSCRIPTION_TEXTS if name in rows.columns]
    rows = rows.withColumns({name: F.nullif(F.col(quoted(name)), F.lit("")) for name in there})
    reason = F.when(F.col(BROKEN).isNotNull(), _NO_ROW["csv"])
    for name in (name for name in SUBSCRIPTION_TIMES if name in rows.columns):
        text = F.col(quoted(name))
        reason = reason.when(text.isNotNull() & moment(text).isNull(), f"{name} is not a time")
    return _with_times(rows.withColumn(BAD, reason), SUBSCRIPTION_TIMES)


def _with_broken(rows: DataFrame) -> DataFrame:
    """The rows, with the text of each line that is none.

    Spark refuses to look at that alone, and of CSV it only looks at the cells that a plan needs. So
    each text goes along with none of its letters.
    """
    texts = [field.name for field in rows.schema if isinstance(field.dataType, StringType)]
    nothing = [F.substring(F.col(quoted(name)), 1, 0) for name in texts if name != BROKEN]
    return rows.withColumn(BROKEN, F.nullif(F.concat_ws("", F.col(BROKEN), *nothing), F.lit("")))


_NO_ROW = {"jsonl": "the line is not a JSON object", "csv": "the line has another number of cells"}


def _events(rows: DataFrame, reason: str) -> Table:
    """Cut off the lines that are no rows, and count both on the way."""
    is_bad = F.col(BROKEN).isNotNull() if BROKEN in rows.columns else F.lit(False)
    is_suspect = is_bad
    for name in (name for name in (TOPIC, TS) if name in rows.columns):
        is_suspect = is_suspect | F.col(name).isNull()
    observation = Observation()
    counted = rows.observe(observation, F.count(F.lit(1)).alias(ROWS), F.count_if(is_suspect).alias(SUSPECT))
    if BROKEN not in rows.columns:
        return Table(counted, None, observation, rows)
    lines = rows.withColumn(_REASON, F.when(is_bad, reason)).withColumnRenamed(BROKEN, LINE)
    bad = rejected("event", lines, F.col(_REASON), [LINE])
    return Table(counted.where(~is_bad).drop(BROKEN), bad, observation, rows)


def _subscriptions(rows: DataFrame) -> Table:
    if BAD not in rows.columns:
        return Table(rows, None, None, rows)
    names = [name for name in rows.columns if name not in (BAD, BROKEN)]
    bad = rejected("subscription", rows, F.col(BAD), names)
    return Table(rows.where(F.col(BAD).isNull()).drop(BAD, BROKEN, LINE), bad, None, rows)
