"""Does a join route to more subscriptions than one machine would gather, and at what cost?

python -m bench spark_join, or python -m bench.spark_join EVENTS SUBSCRIPTIONS for other sizes.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from threading import Event, Thread
from time import perf_counter

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from bench.report import Report
from ramify import pipeline

SEED = 3
SITES, LINES, DEVICES, CUSTOMERS = 2_000, 20, 1_000, 100_000
MEASURES = ("temp", "power", "noise", "speed", "level", "flow", "load", "state", "count", "alarm")

KINDS = (
    # how many of a thousand, and the pattern
    (300, "{site}/{line}/{device}/{measure}"),
    (300, "{site}/+/{device}/{measure}"),
    (200, "{site}/+/{device}/#"),
    (99, "{site}/{line}/{device}/+"),
    (100, "{site}/{line}/#"),
    (1, "{site}/#"),
)
WITH_CRITERIA = 4
"""The kind that asks for one customer as well."""


def main(quick: bool = False, events: int | None = None, subscriptions: int | None = None) -> None:
    report = Report("spark_join", SEED, quick or events is not None)
    events = events or (100_000 if quick else 5_000_000)
    subscriptions = subscriptions or (200_000 if quick else 10_000_000)
    settings = {"spark.driver.memory": "5g", "spark.sql.shuffle.partitions": "32"}
    spark = pipeline.session(name="ramify bench", settings=settings)
    with tempfile.TemporaryDirectory() as folder:
        write(spark, Path(folder), events, subscriptions)
        table, subscribed = (spark.read.parquet(f"{folder}/{name}") for name in ("events", "subscriptions"))
        with Memory() as memory:
            measure(report, table, subscribed, events, subscriptions)
        for what, peak in memory.peaks.items():
            report.figure(f"peak memory, {what}", f"{peak / 2**20:,.0f} MB")
    spark.stop()
    report.finish()


def measure(report: Report, table: DataFrame, subscribed: DataFrame, events: int, subscriptions: int) -> None:
    size = f"{subscriptions:,} subscriptions"
    start = perf_counter()
    deliveries = pipeline.route(table, subscribed, strategy="join")
    report.figure(f"{size}: surveying them", f"{perf_counter() - start:.1f} s")
    found = deliveries.select(F.count(F.lit(1)).alias("count"), F.max("subscription_id"), F.max("topic"))
    start = perf_counter()
    count = found.collect()[0]["count"]
    seconds = perf_counter() - start
    report.figure(f"{size}, {events:,} events: routing all, {count:,} matches", f"{seconds:.1f} s")
    report.figure(f"{size}: events routed", f"{events / seconds:,.0f}/s")
    report.figure(f"{size}: matches made", f"{count / seconds:,.0f}/s")


# ── the tables, made by Spark itself ──────────────────────────────────────────────────────


def write(spark: SparkSession, folder: Path, events: int, subscriptions: int) -> None:
    topic, customer = _filled("{site}/{line}/{device}/{measure}"), _drawn("customer", CUSTOMERS)
    made = spark.range(events).select(
        F.col("id").alias("event_id"),
        topic.alias("topic"),
        F.struct(customer.alias("customer")).alias("fields"),
    )
    made.write.parquet(f"{folder}/events")
    kind = _drawn("kind", sum(share for share, _ in KINDS))
    asks = kind.between(*_bounds(WITH_CRITERIA))
    spark.range(subscriptions).select(
        F.concat(F.lit("s"), "id").alias("subscription_id"),
        F.concat(F.lit("client-"), F.col("id") % 997).alias("subscriber"),
        _pattern(kind).alias("pattern"),
        F.when(asks, F.concat(F.lit("customer = "), customer)).alias("where"),
    ).write.parquet(f"{folder}/subscriptions")


def _pattern(kind: Column) -> Column:
    chosen = F.lit(None).cast("string")
    for at, (_, text) in enumerate(KINDS):
        chosen = F.when(kind.between(*_bounds(at)), _filled(text)).otherwise(chosen)
    return chosen


def _bounds(at: int) -> tuple[int, int]:
    """The first and last of a thousand that are of a kind."""
    before = sum(share for share, _ in KINDS[:at])
    return before, before + KINDS[at][0] - 1


def _filled(text: str) -> Column:
    words = {
        "{site}": F.concat(F.lit("site"), _drawn("site", SITES)),
        "{line}": F.concat(F.lit("line"), _drawn("line", LINES)),
        "{device}": F.concat(F.lit("device"), _drawn("device", DEVICES)),
        "{measure}": F.element_at(
            F.array(*map(F.lit, MEASURES)), _drawn("measure", len(MEASURES)).cast("int") + 1
        ),
    }
    return F.concat_ws("/", *(words.get(word, F.lit(word)) for word in text.split("/")))


def _drawn(what: str, among: int) -> Column:
    """A number below `among` that looks random and depends on the row alone."""
    return F.pmod(F.xxhash64(F.col("id"), F.lit(what), F.lit(SEED)), F.lit(among))


# ── memory ────────────────────────────────────────────────────────────────────────────────


class Memory:
    """Watches how much memory Java and the Python workers of this process hold, at most."""

    def __init__(self) -> None:
        self.peaks = {"Java": 0, "one Python worker": 0, "all Python workers": 0}
        self._ended = Event()
        self._watcher = Thread(target=self._watch)

    def __enter__(self) -> Memory:
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._watcher.join()

    def _watch(self) -> None:
        while not self._ended.wait(0.5):
            held = list(_below(os.getpid()))
            workers = [size for name, size in held if name.startswith("python")]
            java = sum(size for name, size in held if name == "java")
            for what, size in zip(self.peaks, (java, max(workers, default=0), sum(workers)), strict=True):
                self.peaks[what] = max(self.peaks[what], size)


def _below(process: int) -> list[tuple[str, int]]:
    """The names and resident sizes of all processes that descend from one."""
    parents: dict[int, list[tuple[int, str, int]]] = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            number, _, rest = file.read_text().partition(" (")
        except OSError:
            continue  # it has ended
        name, _, fields = rest.rpartition(") ")
        parent, size = int(fields.split()[1]), int(fields.split()[21]) * os.sysconf("SC_PAGE_SIZE")
        parents.setdefault(parent, []).append((int(number), name, size))
    found, asked = [], [process]
    while asked:
        for child, name, size in parents.get(asked.pop(), ()):
            found.append((name, size))
            asked.append(child)
    return found


if __name__ == "__main__":
    main(events=int(sys.argv[1]), subscriptions=int(sys.argv[2]))
