"""How many events a second does a stream route and coalesce, beside `session_window`, and how late is it?

Throughput: files of events that are all there are read one at a time, as fast as it goes; the first
micro-batches warm up. Latency: events are written at a steady rate, and a fired row is visible when
the sink has it.

python -m bench spark_stream [--quick]
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from threading import Event, Thread
from time import perf_counter, time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from bench.contenders import Run
from bench.data import SEED
from bench.report import Report
from bench.spark_coalesce import processor_time
from bench.timing import Duel
from ramify import pipeline

TARGET = 30_000
QUIET, LATENESS = 30, 10
SCHEMA = "event_id long, topic string, ts timestamp, subscriber string"
START = 1_700_000_000_000_000
WARM_UP = 4
DEADLINE = 120.0


@dataclass(frozen=True, slots=True)
class Size:
    """How much of everything."""

    keys: int
    files: int
    rows: int
    """In one file."""
    seconds: int
    """Of steady load."""


FULL, QUICK = Size(100_000, 16, 100_000, 40), Size(100_000, 8, 50_000, 12)


def main(quick: bool = False) -> None:
    size = QUICK if quick else FULL
    report = Report("spark_stream", SEED, quick)
    settings = {"spark.driver.memory": "4g", "spark.sql.shuffle.partitions": "2"}
    spark = pipeline.session(name="ramify bench", settings=settings)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_events(folder / "events", size)
        subscriptions = spark.read.parquet(write_subscriptions(folder, size.keys))
        throughput(report, spark, folder, subscriptions, size, 1 if quick else 2)
        latency(report, spark, folder, size)
    spark.stop()
    report.finish()


# ── throughput ────────────────────────────────────────────────────────────────────────────


def throughput(
    report: Report, spark: SparkSession, folder: Path, subscriptions: DataFrame, size: Size, repeats: int
) -> None:
    def events() -> DataFrame:
        stream = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        return stream.parquet(f"{folder}/events")

    jobs: dict[str, Callable[[], DataFrame]] = {
        "coalesce": lambda: coalesced(events(), "subscriber"),
        "route and coalesce": lambda: coalesced(routed(events(), subscriptions), "subscription_id"),
        "session_window": lambda: by_session_window(events()),
    }
    runs: dict[str, list[Run]] = {name: [] for name in jobs}
    for turn in range(repeats):
        for name, job in jobs.items():
            runs[name].append(measured(job(), folder / f"{name} {turn}"))
    what = f"{size.keys:,} keys, {size.rows:,} events a micro-batch"
    report.compare(f"{what}: coalesce", Duel(runs["coalesce"], runs["session_window"]), "session_window")
    pair = Duel(runs["route and coalesce"], runs["session_window"])
    report.compare(f"{what}: route and coalesce", pair, "session_window")
    report.alone(f"{what}: route and coalesce, sustained", runs["route and coalesce"], target=TARGET)


def coalesced(stream: DataFrame, key: str) -> DataFrame:
    return pipeline.coalesce(stream, key=key, quiet=QUIET, max_wait="5m", lateness=LATENESS)


def routed(stream: DataFrame, subscriptions: DataFrame) -> DataFrame:
    """The subscriber is what is asked for, so events come without one."""
    return pipeline.route(stream.drop("subscriber"), subscriptions, strategy="broadcast")


def by_session_window(stream: DataFrame) -> DataFrame:
    """Catalyst's own; it keeps no row and knows no `max_wait`."""
    window = F.session_window("ts", f"{QUIET} seconds")
    rows = stream.withWatermark("ts", f"{LATENESS} seconds").groupBy("subscriber", window)
    return rows.agg(F.max("ts").alias("ts"), F.count(F.lit(1)).alias("merged"))


def measured(job: DataFrame, folder: Path) -> Run:
    """All files through a query; what its first micro-batches took is not counted."""
    marks: list[tuple[float, float]] = []

    def sink(batch: DataFrame, number: int) -> None:
        batch.write.format("noop").mode("overwrite").save()
        marks.append((perf_counter(), processor_time()))

    query = job.writeStream.foreachBatch(sink).option("checkpointLocation", str(folder)).start()
    query.processAllAvailable()
    query.stop()
    counts = [each["numInputRows"] for each in (json.loads(p.json) for p in query.recentProgress)]
    rows = sum(sorted(counts)[:-WARM_UP])
    (start, spent), (end, spent_then) = marks[WARM_UP - 1], marks[-1]
    return Run(end - start, spent_then - spent, rows, 0)


# ── latency ───────────────────────────────────────────────────────────────────────────────


def latency(report: Report, spark: SparkSession, folder: Path, size: Size) -> None:
    """From the time that an event was written to the time that its burst was visible."""
    load = Load(folder / "load", keys=1_000, rate=5_000, every=0.5)
    (folder / "load").mkdir()
    stream = spark.readStream.schema(SCHEMA).parquet(f"{folder}/load")
    quiet, lateness = 1.0, 0.5
    fired = pipeline.coalesce(stream, key="subscriber", quiet=quiet, lateness=lateness, max_wait=2)
    waits: list[float] = []

    def sink(batch: DataFrame, number: int) -> None:
        rows = batch.select(F.unix_micros("ts").alias("ts")).toArrow()
        seen = time()
        waits.extend(seen - rows.column("ts").to_numpy() / 1e6)

    query = fired.writeStream.foreachBatch(sink).option("checkpointLocation", f"{folder}/load-state").start()
    with load:
        warm = waited(lambda: len(waits) > 0)
        del waits[:]
        waited(lambda: load.seconds > size.seconds + warm)
    query.stop()
    cuts = quantiles(waits, n=100)
    said = "  ".join(f"p{at} {cuts[at - 1]:.2f} s" for at in (50, 90, 99))
    what = f"{load.rate:,} events/s, quiet {quiet:g} s, lateness {lateness:g} s: written to visible"
    report.figure(what, said)
    said = "  ".join(f"p{at} {cuts[at - 1] - quiet - lateness:.2f} s" for at in (50, 90, 99))
    report.figure("the same without quiet and lateness, which it must wait for", said)


class Load:
    """A thread that writes a file of events every so often; their time is that of the writing."""

    def __init__(self, folder: Path, *, keys: int, rate: int, every: float) -> None:
        self.rate = rate
        self._folder, self._keys, self._every = folder, keys, every
        self._is_over, self._begun = Event(), perf_counter()
        self._thread = Thread(target=self._run)

    @property
    def seconds(self) -> float:
        """How long it has been there."""
        return perf_counter() - self._begun

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _run(self) -> None:
        random, number = np.random.default_rng(SEED), 0
        while not self._is_over.wait(self._every):
            count = int(self.rate * self._every)
            table = events_of(random.integers(0, self._keys, count), np.full(count, int(time() * 1e6)))
            pq.write_table(table, self._folder / f".{number}")
            (self._folder / f".{number}").rename(self._folder / f"{number}.parquet")
            number += 1


def waited(is_so: Callable[[], bool]) -> float:
    """Wait until it is so, and answer how long that took."""
    start, pause = perf_counter(), Event()
    while not is_so():
        if perf_counter() - start > DEADLINE:
            raise TimeoutError(f"the stream did nothing for {DEADLINE:g} s")
        pause.wait(0.05)
    return perf_counter() - start


# ── data ──────────────────────────────────────────────────────────────────────────────────


def write_events(folder: Path, size: Size) -> None:
    """Files in the order of time, each of ten seconds; a key is met about every second file."""
    folder.mkdir()
    random = np.random.default_rng(SEED)
    for number in range(size.files):
        at = START + number * 10_000_000 + random.integers(0, 10_000_000, size.rows)
        path = folder / f"{number:04}.parquet"
        pq.write_table(events_of(random.integers(0, size.keys, size.rows), at), path)
        os.utime(path, (number, number))


def events_of(keys: np.ndarray, at: np.ndarray) -> pa.Table:
    numbers = keys.tolist()
    return pa.table(
        {
            "event_id": pa.array(at + keys),
            "topic": pa.array([f"site/{each % 997}/device/{each}/temp" for each in numbers]),
            "ts": pa.array(at, pa.timestamp("us", "UTC")),
            "subscriber": pa.array([f"client-{each}" for each in numbers]),
        }
    )


def write_subscriptions(folder: Path, keys: int) -> str:
    """One subscription for each device, so that an event is one delivery."""
    columns = {
        "subscription_id": [f"s{each}" for each in range(keys)],
        "subscriber": [f"client-{each}" for each in range(keys)],
        "pattern": [f"site/{each % 997}/device/{each}/+" for each in range(keys)],
    }
    path = folder / "subscriptions.parquet"
    pq.write_table(pa.table(columns), path)
    return str(path)
