"""How fast does Spark route to a million subscriptions on one topic that differ in one equality?

python -m bench spark_content [--quick]
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import functions as F

from bench.data import SEED
from bench.report import Report
from bench.spark_timing import identity, in_turns, tell, tell_memory
from ramify import pipeline

TARGET = 300_000
TOPIC = "orders/created"
FLOOR = "the floor, an identity mapInArrow of the struct's columns"


def main(quick: bool = False) -> None:
    report = Report("spark_content", SEED, quick)
    events, customers, repeats = (200_000, 20_000, 1) if quick else (3_000_000, 1_000_000, 3)
    spark = pipeline.session(name="ramify bench", settings={"spark.driver.memory": "4g"})
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), events, customers)
        structs = spark.read.parquet(f"{folder}/events").select(
            "event_id", "topic", F.struct("customer_id", "price", "side").alias("fields")
        )
        texts = structs.withColumn("fields", F.to_json("fields"))
        subscriptions = spark.read.parquet(f"{folder}/subscriptions.parquet")
        jobs = {FLOOR: structs.mapInArrow(identity, structs.schema)}
        for name, table in (("struct", structs), ("JSON text", texts)):
            start = perf_counter()
            jobs[name] = pipeline.route(table, subscriptions, strategy="broadcast")
            seconds = perf_counter() - start
            report.figure(f"{customers:,} subscriptions on one topic: preparing them", f"{seconds:.1f} s")
        report.figure("matches an event", f"{jobs['struct'].count() / events:.2f}")
        for name, each in in_turns(jobs, events, repeats).items():
            tell(report, f"{events:,} events, {name}", each, None if name == FLOOR else TARGET)
        tell_memory(report)
    spark.stop()
    report.finish()


def write(folder: Path, events: int, customers: int) -> None:
    """Orders of customers, each as likely as any other, and a subscription for each customer."""
    dice = np.random.default_rng(SEED)
    (folder / "events").mkdir()
    parts = 8
    for part in range(parts):
        size = events // parts
        rows = pa.table(
            {
                "event_id": np.arange(part * size, (part + 1) * size),
                "topic": [TOPIC] * size,
                "customer_id": dice.integers(0, customers, size),
                "price": dice.random(size),
                "side": np.where(dice.random(size) < 0.5, "back", "lay"),
            }
        )
        pq.write_table(rows, folder / "events" / f"{part}.parquet")
    columns = {
        "subscription_id": [f"s{at}" for at in range(customers)],
        "subscriber": [f"client-{at}" for at in range(customers)],
        "pattern": [TOPIC] * customers,
        "where": [f"customer_id = {at}" for at in range(customers)],
    }
    pq.write_table(pa.table(columns), folder / "subscriptions.parquet")
