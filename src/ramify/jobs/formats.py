"""The formats of tables: which of them files have, and what the others ask of the user's Spark."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession, is_remote

from ramify.connectors.format import register
from ramify.errors import InvalidFile, NotInstalled
from ramify.jobs.description import SUFFIXES, Format, Sink, Source, format_by_suffix

IN_FILES: tuple[Format, ...] = ("parquet", "jsonl", "csv")
SERVED: tuple[Format, ...] = ("redis", "mqtt")
"""Servers that the format `ramify` speaks to."""

PACKAGES: dict[str, str] = {
    "delta": "io.delta:delta-spark_2.13:VERSION (and spark.sql.extensions, see Delta's quick start)",
    "iceberg": "org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:VERSION (and a catalog)",
    "kafka": "org.apache.spark:spark-sql-kafka-0-10_2.13:{spark}",
}
"""What a Spark lacks that does not know a format."""

_ABSENT = ("DATA_SOURCE_NOT_FOUND", "DATA_SOURCE_NOT_ENABLED")


def format_of_source(source: Source) -> Format:
    """The format that is named, or that the suffix says, or that a file in the folder has."""
    found = source.format or format_by_suffix(source.path) or _format_inside(source.path)
    if found is None:
        raise InvalidFile(
            source.path or "no path",
            f"the suffix says no format; name it, or end it in {', '.join(SUFFIXES)}",
        )
    return found


def format_of_sink(sink: Sink) -> Format:
    """The format that is named, or that the suffix says; otherwise Parquet."""
    return sink.format or format_by_suffix(sink.path) or "parquet"


def check_available(spark: SparkSession, format: Format) -> None:
    """Refuse a format that this Spark does not know, and name the package to add."""
    if format in SERVED:
        register(spark)
    if format in PACKAGES and not _is_known(spark, format):
        package = PACKAGES[format].format(spark=spark.version)
        raise NotInstalled(format, f"this Spark lacks it; add --settings spark.jars.packages={package}")


def local_path(path: str) -> Path | None:
    """The path on this machine, unless a scheme or Hadoop's settings lead elsewhere."""
    if path.startswith("file:"):
        return Path(path.removeprefix("file:").replace("//", "/", 1))
    return None if "://" in path or "HADOOP_CONF_DIR" in os.environ else Path(path)


def placed(path: str) -> str:
    """The path as Spark is to take it: its Java may have been started in another folder than ours."""
    local = None if is_remote() else local_path(path)
    return path if local is None else str(local.absolute())


def _format_inside(path: str | None) -> Format | None:
    """What the first file below a folder on this machine is; a glob may name several folders."""
    place = None if path is None else local_path(path)
    if place is None:
        return None
    folders = [place] if place.is_dir() else Path(place.anchor or ".").glob(str(place).lstrip("/"))
    files = (file for folder in folders for file in folder.rglob("*") if not file.name.startswith((".", "_")))
    return next((found for found in map(format_by_suffix, map(str, files)) if found is not None), None)


@lru_cache(maxsize=16)
def _is_known(spark: SparkSession, format: str) -> bool:
    """Ask for a table of that format without saying which: if it is known, the complaint is another."""
    try:
        _ = spark.read.format(format).load().schema
    except (PySparkException, Py4JError) as error:
        return not any(sign in str(error) for sign in _ABSENT)
    return True
