"""Writes tables, and refuses before any work where something is already.

A format that cannot hold a column gets it as JSON: structs in CSV. Content that is JSON text is
written into JSON Lines as the object that it is.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, DataFrameWriter, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, MapType, StringType, StructType, VariantType

from ramify.connectors.format import NAME
from ramify.errors import CallerError, InvalidFile
from ramify.jobs.description import Sink, Source
from ramify.jobs.faults import told_plainly
from ramify.jobs.formats import SERVED, check_available, format_of_sink, local_path, placed
from ramify.pipeline.delivery_ids import with_delivery_id
from ramify.pipeline.schema import SUBSCRIBER, SUBSCRIPTION_ID, quoted

WITHOUT_PATH = (*SERVED, "kafka")
NESTED = (StructType, MapType, ArrayType, VariantType)


def check_sink(sink: Sink, sources: tuple[Source, ...] = ()) -> None:
    """Refuse an output that is there already, or that is one of the inputs; Spark is not needed."""
    if sink.path is None:
        if format_of_sink(sink) not in WITHOUT_PATH:
            raise CallerError(f"an output has a path; only those of {', '.join(WITHOUT_PATH)} have none")
        return
    if any(source.path is not None and _overlap(sink.path, source.path) for source in sources):
        raise InvalidFile(sink.path, "is read from as well; write elsewhere")
    path = local_path(sink.path)
    if path is None or format_of_sink(sink) == "iceberg" or sink.overwrite:
        return
    if path.is_file() or (path.is_dir() and any(path.iterdir())):
        raise InvalidFile(
            sink.path, "is there already; --overwrite, or overwrite = true in a pipeline file, replaces it"
        )


def check_writable(spark: SparkSession, sink: Sink) -> None:
    """Refuse a format that this Spark does not know."""
    check_available(spark, format_of_sink(sink))


def write(rows: DataFrame, sink: Sink, content: str | None = None) -> None:
    """Write rows; `content` names the column whose JSON text is an object."""
    format = format_of_sink(sink)
    with told_plainly(sink.path or format):
        writer = shaped(rows, format, content).write.options(**_DEFAULTS.get(format, {}) | sink.options)
        if sink.partition_by:
            writer = writer.partitionBy(*sink.partition_by)
        _save(writer, sink, "json" if format == "jsonl" else format)


_DEFAULTS: dict[str, dict[str, str]] = {"csv": {"header": "true", "escape": '"'}}


def _save(writer: DataFrameWriter, sink: Sink, format: str) -> None:
    if format == "iceberg":
        writer.format(format).mode("overwrite" if sink.overwrite else "errorifexists").saveAsTable(
            sink.path or ""
        )
    elif format in WITHOUT_PATH:
        # What is appended can be written twice by a task that is tried again; `delivery_id` tells.
        writer.format(NAME if format in SERVED else format).mode("append").save()
    else:
        # An empty folder, such as an interrupted job leaves, is nobody's data.
        mode = "overwrite" if sink.overwrite or _is_empty_folder(sink.path or "") else "errorifexists"
        writer.format(format).mode(mode).save(placed(sink.path or ""))


def _is_empty_folder(place: str) -> bool:
    path = local_path(place)
    return path is not None and path.is_dir() and not any(path.iterdir())


def shaped(rows: DataFrame, format: str, content: str | None) -> DataFrame:
    """The rows as a format can hold them."""
    if format in WITHOUT_PATH and SUBSCRIPTION_ID in rows.columns:
        rows = with_delivery_id(rows)
    if format == "kafka":
        key = F.col(SUBSCRIBER) if SUBSCRIBER in rows.columns else F.lit(None)
        value = F.to_json(F.struct(*(quoted(name) for name in rows.columns)))
        return rows.select(key.cast("string").alias("key"), value.alias("value"))
    if format not in ("csv", "jsonl"):
        return rows
    shape = _flat if format == "csv" else _object
    return rows.select(
        *(
            shape(F.col(quoted(field.name)), field.dataType, field.name == content).alias(field.name)
            for field in rows.schema
        )
    )


def _flat(column: Column, kind: DataType, is_content: bool) -> Column:
    return F.to_json(column) if isinstance(kind, NESTED) else column


def _object(column: Column, kind: DataType, is_content: bool) -> Column:
    if not is_content or not isinstance(kind, StringType):
        return column
    # Text that is no JSON stays the text that it is.
    return F.coalesce(F.try_parse_json(column), column.cast("variant"))


def _overlap(one: str, other: str) -> bool:
    """Whether one place is the other, or lies in it."""
    first, second = (place.removeprefix("file://").rstrip("/") + "/" for place in (one, other))
    return first.startswith(second) or second.startswith(first)
