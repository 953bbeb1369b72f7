"""`make demo`: everything that works, on made-up plants, customers and alert rules."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import pyarrow as pa
from rich.console import Console
from rich.table import Table

from ramify import Router, Subscription
from ramify.deferred import DeferredQueue, Policy

SEED = 7
SITES = ("berlin", "rome", "osaka", "quito")
METRICS = ("temp", "flow", "power", "vibration")
CUSTOMERS = 50_000
EVENTS = 20_000

console = Console()


def main() -> None:
    dice = random.Random(SEED)
    router = Router(realm="demo")
    console.rule("[bold]1 · Who asked for what")
    seconds = timed(lambda: subscribe_everyone(router, dice))
    console.print(f"{len(router):,} subscriptions in five dialects, {len(router) / seconds:,.0f} a second")
    examples = list(router)[: len(TEAMS)]
    console.print(subscriptions_table(examples))

    console.rule("[bold]2 · Who gets what, event by event")
    events = list(make_events(dice))
    received: Counter[str] = Counter()
    seconds = timed(lambda: deliver(router, events, received))
    console.print(
        f"{len(events):,} events made {received.total():,} deliveries, "
        f"{len(events) / seconds:,.0f} events a second"
    )
    console.print(receivers_table(received))

    console.rule("[bold]3 · Why, and where it is filed")
    topic, fields = "plant/berlin/temp", {"value": 84.5, "unit": "C"}
    for subscription in examples[:5]:
        console.print(f"[cyan]{subscription.subscriber}[/]  {router.explain(topic, fields, subscription.id)}")
    console.print(f"\n[dim]plan of {examples[1].subscriber}:[/] {router.plan(examples[1])}")

    console.rule("[bold]4 · The same, a whole batch at once")
    frozen = router.freeze(seed=SEED)
    topics, contents = pa.array([topic for topic, _ in events]), pa.array([fields for _, fields in events])
    matches: list[pa.RecordBatch] = []
    seconds = timed(lambda: matches.append(frozen.match_batch(topics, contents)))
    # The live router gives one member of a share group each event; a batch shows all of them.
    everyone = sum(len(router.match(topic, fields, collapse_groups=False)) for topic, fields in events)
    agrees = "the same matches" if matches[0].num_rows == everyone else "[red]other matches[/]"
    console.print(
        f"{len(events) / seconds:,.0f} events a second, "
        f"{matches[0].num_rows:,} matches: {agrees} as one by one"
    )

    console.rule("[bold]5 · Push often, act once")
    queue = DeferredQueue(Policy(quiet=30.0, max_wait=300.0))
    fired = []
    for second in range(700):
        if second < 600:
            queue.push(f"plant/{SITES[second % 3]}", f"reading {second}", now=float(second))
        fired += queue.drain(float(second))
    console.print("600 readings of three plants; a plant is acted on after 30 quiet seconds, 300 at the most")
    for item in fired:
        console.print(f"  at {item.deadline:3.0f} s  [cyan]{item.key}[/]: {item.data}")


TEAMS: list[dict[str, Any]] = [
    {"subscriber": "operations", "pattern": "plant/#", "where": "level = 'critical'"},
    {"subscriber": "heat watch", "pattern": "plant/+/temp", "where": "value > 80 or value < -20"},
    {"subscriber": "berlin", "pattern": "plant/berlin/+", "where": "not exists(ack) and value >= 90"},
    {"subscriber": "billing", "pattern": "order.*.paid", "dialect": "nats"},
    {"subscriber": "audit", "pattern": "*/power", "dialect": "glob", "where": "value between 50 and 51"},
    {"subscriber": "fraud", "pattern": "order._.paid", "dialect": "wamp", "where": "amount > 9900"},
    {"subscriber": "osaka floor", "pattern": "plant/osaka/*", "dialect": "path"},
    {"subscriber": "worker 1", "pattern": "$share/workers/plant/+/vibration"},
    {"subscriber": "worker 2", "pattern": "$share/workers/plant/+/vibration"},
]


def subscribe_everyone(router: Router, dice: random.Random) -> None:
    for team in TEAMS:
        router.subscribe(**team)
    for customer in range(CUSTOMERS):
        low = dice.uniform(0, 9_000)
        where = f"customer = {customer} and amount > {low:.2f} and amount < {low + 1_000:.2f}"
        router.subscribe("order.*.*", f"customer {customer}", dialect="nats", where=where)


def make_events(dice: random.Random) -> Iterator[tuple[str, dict[str, Any]]]:
    for number in range(EVENTS):
        if number % 2:
            amount = round(dice.uniform(1, 10_000), 2)
            yield f"order.{number}.paid", {"customer": dice.randrange(CUSTOMERS), "amount": amount}
        else:
            level = "critical" if dice.random() < 0.01 else "info"
            topic = f"plant/{dice.choice(SITES)}/{dice.choice(METRICS)}"
            yield topic, {"value": round(dice.gauss(50, 20), 1), "level": level}


def deliver(router: Router, events: list[tuple[str, dict[str, Any]]], received: Counter[str]) -> None:
    for topic, fields in events:
        received.update(match.subscription.subscriber for match in router.match(topic, fields))


def subscriptions_table(subscriptions: list[Subscription]) -> Table:
    table = Table("subscriber", "dialect", "pattern", "where", title="The teams", title_justify="left")
    for each in subscriptions:
        table.add_row(each.subscriber, each.pattern.dialect, each.pattern.text, each.criteria.text)
    table.add_row("customer 0 …", "nats", "order.*.*", f"one for each of {CUSTOMERS:,} customers")
    return table


def receivers_table(received: Counter[str]) -> Table:
    table = Table("subscriber", title="Who got what", title_justify="left")
    table.add_column("events", justify="right")
    teams = [team["subscriber"] for team in TEAMS]
    for team in teams:
        table.add_row(team, f"{received[team]:,}")
    others = {who: count for who, count in received.items() if who not in teams}
    table.add_row(f"{len(others):,} customers", f"{sum(others.values()):,}")
    return table


def timed(work: Callable[[], Any]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


if __name__ == "__main__":
    main()
