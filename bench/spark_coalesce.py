"""How fast does Spark coalesce a table: beside a `lead` window and `session_window`, which do less?

Both peers know `quiet` alone and nothing of `max_wait`; the window keeps the last row, and
`session_window` its time and number.

python -m bench spark_coalesce [--quick]
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from bench.contenders import Run
from bench.data import SEED
from bench.report import Report
from bench.timing import Duel
from ramify import pipeline

QUIET = "30s"
SECONDS = 3600


def main(quick: bool = False) -> None:
    report = Report("spark_coalesce", SEED, quick)
    rows, keys, repeats = (400_000, 20_000, 2) if quick else (5_000_000, 100_000, 3)
    spark = pipeline.session(name="ramify bench", settings={"spark.driver.memory": "4g"})
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), rows, keys)
        table = spark.read.parquet(folder)
        compare(report, table, rows, repeats)
    spark.stop()
    report.finish()


def compare(report: Report, table: DataFrame, rows: int, repeats: int) -> None:
    jobs = {
        "quiet": pipeline.coalesce(table, key="subscriber", quiet=QUIET),
        "quiet and max_wait": pipeline.coalesce(table, key="subscriber", quiet=QUIET, max_wait="5m"),
        "both edges": pipeline.coalesce(table, key="subscriber", quiet=QUIET, max_wait="5m", edge="both"),
        "lead": by_lead(table),
        "session_window": by_session_window(table),
    }
    runs: dict[str, list[Run]] = {name: [] for name in jobs}
    for turn in range(repeats + 1):  # the first warms up
        for name, job in jobs.items():
            run = timed(job, rows)
            if turn:
                runs[name].append(run)
    found = {name: jobs[name].count() for name in ("quiet", "lead", "session_window")}
    report.figure(
        "bursts found by quiet, lead and session_window", " ".join(f"{n:,}" for n in found.values())
    )
    for name in ("quiet", "quiet and max_wait", "both edges"):
        for peer in ("lead", "session_window"):
            report.compare(f"{rows:,} rows: {name}", Duel(runs[name], runs[peer]), peer)


def by_lead(table: DataFrame) -> DataFrame:
    """What people write: the last row before every gap."""
    following = F.lead("ts").over(Window.partitionBy("subscriber").orderBy("ts"))
    gap = F.col("following").isNull() | (
        F.col("following") >= F.col("ts") + F.expr(f"interval {QUIET[:-1]} seconds")
    )
    return table.withColumn("following", following).where(gap).drop("following")


def by_session_window(table: DataFrame) -> DataFrame:
    """Catalyst's own; it keeps no row."""
    window = F.session_window("ts", f"{QUIET[:-1]} seconds")
    return table.groupBy("subscriber", window).agg(F.max("ts").alias("ts"), F.count(F.lit(1)).alias("merged"))


def timed(job: DataFrame, rows: int) -> Run:
    """One run, the answer written to nowhere."""
    start, spent = perf_counter(), processor_time()
    job.write.format("noop").mode("overwrite").save()
    return Run(perf_counter() - start, processor_time() - spent, rows, 0)


def processor_time() -> float:
    """Seconds that this process and all that it started have spent: Java and its workers do the work."""
    parents, spent = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has just ended
        number = int(folder.name)
        parents[number], spent[number] = int(fields[1]), sum(int(each) for each in fields[11:15])
    ours = {os.getpid()}
    while more := {child for child, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return sum(spent.get(each, 0) for each in ours) / os.sysconf("SC_CLK_TCK")


def write(folder: Path, rows: int, keys: int) -> None:
    """Deliveries of an hour; each key comes in bursts."""
    random, parts = np.random.default_rng(SEED), 8
    for part in range(parts):
        size = rows // parts
        subscriber = random.integers(0, keys, size)
        numbers = subscriber.tolist()
        minute = random.integers(0, SECONDS // 300, size) * 300
        micros = ((minute + random.random(size) * 60) * 1e6).astype(np.int64) + 1_700_000_000_000_000
        table = pa.table(
            {
                "ts": pa.array(micros, pa.timestamp("us", "UTC")),
                "topic": pa.array([f"plant/{each % 97}/line/{each % 13}/temp" for each in numbers]),
                "subscription_id": pa.array([f"s{each}" for each in numbers]),
                "subscriber": pa.array([f"client-{each}" for each in numbers]),
                "event_id": pa.array(random.integers(0, 1 << 62, size)),
            }
        )
        pq.write_table(table, folder / f"{part}.parquet")
