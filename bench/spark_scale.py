"""What does routing cost at a hundred times as many patterns, where an event finds the same matches?

python -m bench spark_scale [--quick]
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from random import Random
from time import perf_counter

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

from bench.data import SEED, mqtt_patterns, mqtt_topics
from bench.report import Report
from bench.spark_timing import in_turns, tell, tell_memory
from ramify import pipeline

AT_MOST = 1.5
ELSEWHERE = "elsewhere-"


def main(quick: bool = False) -> None:
    report = Report("spark_scale", SEED, quick)
    events, few, many, repeats = (200_000, 1_000, 20_000, 1) if quick else (3_000_000, 10_000, 1_000_000, 3)
    spark = pipeline.session(name="ramify bench", settings={"spark.driver.memory": "4g"})
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), events, few, many)
        table = spark.read.parquet(f"{folder}/events")
        jobs = {
            f"{count:,} patterns": prepared(report, table, f"{folder}/{count}.parquet")
            for count in (few, many)
        }
        for name, job in jobs.items():
            report.figure(f"{name}: matches an event", f"{job.count() / events:.2f}")
        runs = in_turns(jobs, events, repeats)
        for name, each in runs.items():
            tell(report, f"{events:,} events, {name}", each)
        fewer, more = runs.values()
        ratios = [each.seconds / other.seconds for each, other in zip(more, fewer, strict=True)]
        report.cost(f"cost at {many:,} patterns beside {few:,}", ratios, "", at_most=AT_MOST)
        by_cpu = [each.cost / other.cost for each, other in zip(more, fewer, strict=True)]
        report.cost("the same, by the processor's time", by_cpu, "", at_most=AT_MOST)
        tell_memory(report)
    spark.stop()
    report.finish()


def prepared(report: Report, events: DataFrame, path: str) -> DataFrame:
    """The events routed to the subscriptions of a file, which takes the time that is told."""
    subscriptions = events.sparkSession.read.parquet(path)
    count = subscriptions.count()
    start = perf_counter()
    deliveries = pipeline.route(events, subscriptions, strategy="broadcast")
    report.figure(f"{count:,} patterns: reading and preparing them", f"{perf_counter() - start:.1f} s")
    return deliveries


def write(folder: Path, events: int, few: int, many: int) -> None:
    """Events on topics that the first few patterns match; all further patterns are of another place."""
    random = Random(SEED)
    near = mqtt_patterns(random, few)
    far = [ELSEWHERE + text.lstrip("+#/") for text in mqtt_patterns(random, many - few)]
    topics = pa.array(mqtt_topics(random, near, 200_000))
    (folder / "events").mkdir()
    parts = 8
    for part in range(parts):
        size = events // parts
        chosen = pa.array([random.randrange(len(topics)) for _ in range(size)])
        ids = pa.array(range(part * size, (part + 1) * size))
        rows = pa.table({"event_id": ids, "topic": topics.take(chosen)})
        pq.write_table(rows, folder / "events" / f"{part}.parquet")
    for patterns in (near, near + far):
        columns = {
            "subscription_id": [f"s{at}" for at in range(len(patterns))],
            "subscriber": [f"client-{at % 997}" for at in range(len(patterns))],
            "pattern": patterns,
        }
        pq.write_table(pa.table(columns), folder / f"{len(patterns)}.parquet")
