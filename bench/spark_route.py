"""How fast does Spark route a table: beside a scan, the floor of going through Python, and `rlike`?

python -m bench spark_route [--quick]
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from bench.data import SEED, mqtt_patterns, mqtt_topics
from bench.report import Report
from bench.spark_timing import identity, in_turns, tell, tell_memory, timed, verdict
from ramify import pipeline

FLOOR = "the floor, an identity mapInArrow"
OF_THE_FLOOR = 0.5
TIMES_RLIKE = 1_000
RLIKE_PATTERNS = 1_000
"""What a nested loop is given; its rate at more of them is scaled from this: its cost is their product."""


def main(quick: bool = False) -> None:
    report = Report("spark_route", SEED, quick)
    events, patterns, repeats = (200_000, 5_000, 1) if quick else (5_000_000, 100_000, 3)
    spark = pipeline.session(name="ramify bench", settings={"spark.driver.memory": "4g"})
    with tempfile.TemporaryDirectory() as folder:
        texts = write(Path(folder), events, patterns)
        table = spark.read.parquet(f"{folder}/events")
        subscriptions = spark.read.parquet(f"{folder}/subscriptions.parquet")
        compare(report, table, subscriptions, texts, events, repeats)
    spark.stop()
    report.finish()


def compare(
    report: Report, table: DataFrame, subscriptions: DataFrame, texts: list[str], events: int, repeats: int
) -> None:
    narrow = table.select("event_id", "topic")
    jobs = {"a scan of two columns": narrow, FLOOR: narrow.mapInArrow(identity, narrow.schema)}
    narrow.limit(1).count()  # Spark's first job is slow
    for strategy in ("broadcast", "join"):
        start = perf_counter()
        jobs[strategy] = pipeline.route(narrow, subscriptions, strategy=strategy)
        seconds = perf_counter() - start
        report.figure(f"{len(texts):,} patterns, {strategy}: reading and preparing them", f"{seconds:.1f} s")
    report.figure("matches an event", f"{jobs['broadcast'].count() / events:.2f}")
    runs = in_turns(jobs, events, repeats)
    for name, each in runs.items():
        tell(report, f"{events:,} events, {len(texts):,} patterns: {name}", each)
    pairs = list(zip(runs["broadcast"], runs[FLOOR], strict=True))
    verdict(
        report,
        "broadcast beside the floor",
        median(ours.rate / floor.rate for ours, floor in pairs),
        OF_THE_FLOOR,
    )
    by_cpu = median(floor.cost / ours.cost for ours, floor in pairs)
    report.figure("broadcast beside the floor, by the processor's time", f"{by_cpu:.2f}×")
    tell_memory(report)
    scaled = by_rlike(report, narrow, texts)
    what = f"broadcast beside rlike at {len(texts):,} patterns, scaled"
    verdict(report, what, median(run.rate for run in runs["broadcast"]) / scaled, TIMES_RLIKE)


def by_rlike(report: Report, events: DataFrame, texts: list[str]) -> float:
    """What people write first: a nested loop over every event and pattern, here on samples of both."""
    spark, sample, some = events.sparkSession, 2_000, texts[:RLIKE_PATTERNS]
    few = spark.createDataFrame(events.limit(sample).collect(), events.schema).repartition(2).cache()
    few.count()
    regexes = spark.createDataFrame([(as_regex(text),) for text in some], "regex string")
    joined = few.join(F.broadcast(regexes), F.expr("topic rlike regex"))
    measured = timed(joined, sample).rate
    scaled = measured * len(some) / len(texts)
    report.figure(
        f"nested loop with rlike, {sample:,} events and {len(some):,} patterns", f"{measured:,.0f}/s"
    )
    report.figure(f"the same scaled to {len(texts):,} patterns, not measured", f"{scaled:,.1f}/s")
    return scaled


def as_regex(pattern: str) -> str:
    """`a/+/#` as a regular expression."""
    return "^" + pattern.replace("/#", "(/.*)?").replace("+", "[^/]*") + "$"


def write(folder: Path, events: int, patterns: int) -> list[str]:
    """Events on topics that are met, over and over, and the patterns; answers the patterns."""
    random = Random(SEED)
    texts = mqtt_patterns(random, patterns)
    topics = pa.array(mqtt_topics(random, texts, min(events, 200_000)))
    (folder / "events").mkdir()
    parts = 8
    for part in range(parts):
        size = events // parts
        chosen = pa.array([random.randrange(len(topics)) for _ in range(size)])
        ids = pa.array(range(part * size, (part + 1) * size))
        pq.write_table(
            pa.table({"event_id": ids, "topic": topics.take(chosen)}), folder / "events" / f"{part}.parquet"
        )
    ids = [f"s{at}" for at in range(patterns)]
    columns = {
        "subscription_id": ids,
        "subscriber": [f"client-{at % 997}" for at in range(patterns)],
        "pattern": texts,
    }
    pq.write_table(pa.table(columns), folder / "subscriptions.parquet")
    return texts
