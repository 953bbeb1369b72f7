"""A stream fires what a table of the same rows fires, and says what came too late."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random, randrange
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from ramify import pipeline
from ramify.errors import InvalidPolicy, InvalidSession, InvalidTable
from ramify.pipeline.streaming import LATE, PROVIDER

START = datetime(2026, 1, 1, tzinfo=UTC)
SCHEMA = "device string, ts timestamp, number long, content struct<a: bigint, b: array<string>>"
LATENESS = 20
MADE = 1_700_000_000
FLUSH = ("flush", 100_000, -1)
"""So late that whatever the others wait for has come before; it waits itself."""

Row = tuple[str | None, int, int]


def written(folder: Path, name: str, rows: list[Row]) -> None:
    """A file of rows; it has its name at once and whole."""
    folder.mkdir(exist_ok=True)
    lines = [
        {
            "device": device,
            "ts": (START + timedelta(seconds=at)).isoformat(),
            "number": number,
            # A number that no float holds, and one that is absent: both must come back as they were.
            "content": {"a": 2**62 + number, "b": None if number % 3 else [device, "ä"]},
        }
        for device, at, number in rows
    ]
    part = folder.parent / f"{name}.part"
    part.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    # Files are read by the time of their last change.
    os.utime(part, (MADE + int(name), MADE + int(name)))
    part.rename(folder / f"{name}.json")


def read(spark: SparkSession, folder: Path) -> DataFrame:
    return spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(str(folder))


class Run:
    """A query into a folder of Parquet files, which can be stopped and started again."""

    def __init__(self, folder: Path, **policy: Any) -> None:
        self.folder, self.policy = folder, policy
        self.progress: list[dict[str, Any]] = []

    def drained(self, spark: SparkSession, **more: Any) -> None:
        """Run until all files are read and the watermark has done its work."""
        stream = read(spark, self.folder / "in")
        fired = pipeline.coalesce(stream, key="device", order=["number"], **{**self.policy, **more})
        query = self._started(fired)
        try:
            query.processAllAvailable()
        finally:
            query.stop()
        self.progress += [json.loads(each.json) for each in query.recentProgress]

    def _started(self, fired: DataFrame) -> StreamingQuery:
        files = fired.writeStream.format("parquet").outputMode("append")
        return files.option("checkpointLocation", f"{self.folder}/checkpoint").start(f"{self.folder}/out")

    def fired(self, spark: SparkSession) -> list[Any]:
        return told(spark.read.parquet(f"{self.folder}/out"))

    def counted(self, name: str) -> int:
        return sum(each["observedMetrics"]["coalesce by device"][name] for each in self.progress)


def told(fired: DataFrame) -> list[Any]:
    shown = fired.where("device != 'flush'").selectExpr(
        "device", "number", "unix_micros(ts)", "to_json(content)", "unix_micros(fired_at)", "merged"
    )
    return sorted(tuple(row) for row in shown.collect())


def files_of(rows: list[Row], count: int, dice: Random) -> list[list[Row]]:
    """The rows in so many files, each shuffled, none more than the lateness behind an earlier one."""
    jittered = sorted(rows, key=lambda row: row[1] + dice.randrange(LATENESS))
    size = -(-len(jittered) // count)
    parts = [jittered[at : at + size] for at in range(0, len(jittered), size)]
    for part in parts:
        dice.shuffle(part)
    return parts


# The other ways of life are compared in test_buckets, which needs no Spark.
POLICIES = [
    {"quiet": "5s", "max_wait": "12s"},
    {"quiet": "7s", "max_wait": "15s", "max_count": 4, "edge": "both", "keep": "first"},
]


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_a_stream_fires_what_a_table_of_the_same_rows_fires(
    spark: SparkSession, tmp_path: Path, policy: dict[str, Any]
) -> None:
    seed = randrange(10**9)
    print(f"seed {seed}")
    dice = Random(seed)
    rows: list[Row] = [(f"d{dice.randrange(40)}", dice.randrange(200), number) for number in range(400)]
    run = Run(tmp_path, lateness=LATENESS, buckets=3, **policy)
    parts: list[list[Row]] = [*files_of(rows, 3, dice), [FLUSH]]
    for at, part in enumerate(parts[:2]):
        written(tmp_path / "in", str(at), part)
    run.drained(spark)
    for at, part in enumerate(parts[2:], 2):
        written(tmp_path / "in", str(at), part)
    run.drained(spark)  # from the checkpoint
    table = spark.read.schema(SCHEMA).json(f"{tmp_path}/in")
    assert run.fired(spark) == told(pipeline.coalesce(table, key="device", order=["number"], **policy))
    assert run.counted("late") == 0


def test_late_rows_are_told_apart_and_another_policy_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    written(tmp_path / "in", "0", [("a", 10, 1), ("b", 13, 2)])
    written(tmp_path / "in", "1", [("b", 60, 3)])
    written(tmp_path / "in", "2", [("a", 40, 4), ("a", 41, 5), (None, 70, 6), ("flush", 9_000, -1)])
    done = pipeline.coalesce_with_rejects(
        read(spark, tmp_path / "in"), key="device", quiet=5, lateness=LATENESS
    )
    assert done.tagged is not None
    files = done.tagged.writeStream.option("checkpointLocation", f"{tmp_path}/checkpoint")
    query = files.format("parquet").start(f"{tmp_path}/out")
    try:
        query.processAllAvailable()
    finally:
        query.stop()
    fired, rejects = pipeline.split_tagged(spark.read.parquet(f"{tmp_path}/out"))
    assert sorted(row.number for row in fired.collect()) == [1, 2, 3, 5]
    found = {json.loads(row.row)["number"]: row.reason for row in rejects.collect()}
    assert found == {4: LATE, 6: "the key column 'device' is null"}
    told_of = [json.loads(each.json)["observedMetrics"] for each in query.recentProgress]
    counted = [each["coalesce by device"] for each in told_of]
    totals = {name: sum(each[name] for each in counted) for name in ("fired", "merged", "late", "unkeyed")}
    assert totals == {"fired": 4, "merged": 4, "late": 1, "unkeyed": 1}
    written(tmp_path / "in", "3", [("flush", 9_001, -2)])
    with pytest.raises(StreamingQueryException, match=r"quiet=5000000.*quiet=6000000.*new checkpoint"):
        Run(tmp_path, quiet=6, lateness=LATENESS).drained(spark)


def test_what_a_stream_cannot_do_is_refused_before_it_starts(spark: SparkSession) -> None:
    rate = spark.readStream.format("rate").load()
    stream = rate.selectExpr("timestamp as ts", "value as device", "array(1) as many")
    for wrong in ({"buckets": 0}, {"bucket_rows": True}, {"lateness": -1}, {"lateness": "soon"}):
        with pytest.raises(InvalidPolicy):
            pipeline.coalesce(stream, key="device", quiet=1, **wrong)
    with pytest.raises(InvalidPolicy, match="has a watermark on ts already"):
        pipeline.coalesce(stream.withWatermark("ts", "1 second"), key="device", quiet=1, lateness=1)
    with pytest.raises(InvalidTable, match="'many' is array<int>, by which"):
        pipeline.coalesce(stream, key="device", quiet=1, order=["many"])


def test_a_session_without_rocksdb_is_told_what_to_set(spark: SparkSession, other_store: None) -> None:
    stream = spark.readStream.format("rate").load().selectExpr("timestamp as ts", "value as device")
    with pytest.raises(InvalidSession, match=rf"{PROVIDER}=.*HDFS.*; set it to .*RocksDBStateStoreProvider"):
        pipeline.coalesce(stream, key="device", quiet=1)


@pytest.fixture
def other_store(spark: SparkSession) -> Iterator[None]:
    usual = str(spark.conf.get(PROVIDER))
    spark.conf.set(PROVIDER, "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider")
    yield
    spark.conf.set(PROVIDER, usual)
