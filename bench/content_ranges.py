"""How many events a second pass 100,000 subscriptions with ranges on one topic?"""

from __future__ import annotations

from random import Random

from bench.contenders import ramify
from bench.data import SEED, orders, price_ranges
from bench.report import Report
from bench.timing import fill, match_runs

TOPIC = "orders/created"
LEAST = 20_000
REPEATS = 7


def main(quick: bool = False) -> None:
    size, events = (10_000, 5_000) if quick else (100_000, 35_000)
    report = Report("content_ranges", SEED, quick)
    for customers in (2, 1_000, size):
        random = Random(SEED)
        ranges = price_ranges(random, size, widest=5)
        if customers == size:  # a range that one customer asks for must be wide to be met at all
            ranges = price_ranges(random, size, widest=20_000)
        criteria = [f"customer_id = {at % customers} and {text}" for at, text in enumerate(ranges)]
        measure(report, f"a range and one of {customers:,} customers", criteria, customers, events)
    measure(report, "a range alone", price_ranges(Random(SEED), size, widest=1), 2, events)
    one_sided(report, size, events)
    report.finish()


def measure(report: Report, what: str, criteria: list[str], customers: int, events: int) -> None:
    with ramify(dialect="mqtt") as us:
        inserts = fill(us, [TOPIC] * len(criteria), criteria)
        runs = match_runs(us, [TOPIC] * events, orders(Random(SEED + 1), customers, events), REPEATS)
    report.alone(f"{len(criteria):,} × {what}", runs, target=LEAST)
    report.alone(f"{len(criteria):,} × {what}: inserts", [inserts])


def one_sided(report: Report, size: int, events: int) -> None:
    """Alarms: `price > bound`, with events so low that about five of the bounds are passed."""
    random = Random(SEED)
    criteria = [f"price > {random.uniform(1_000, 11_000):.4f}" for _ in range(size)]
    low = [{"price": 1_000 + random.random() * 100_000 / size} for _ in range(events)]
    with ramify(dialect="mqtt") as us:
        inserts = fill(us, [TOPIC] * size, criteria)
        runs = match_runs(us, [TOPIC] * events, low, REPEATS)
    report.alone(f"{size:,} × one bound alone", runs, target=LEAST)
    report.alone(f"{size:,} × one bound alone: inserts", [inserts])
