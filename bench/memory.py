"""How many bytes does a subscription take, at a million of them?"""

from __future__ import annotations

from random import Random

from bench.contenders import ramify
from bench.data import SEED, devices, mqtt_patterns, price_ranges
from bench.report import Report
from bench.timing import fill

TOPIC = "orders/created"


def main(quick: bool = False) -> None:
    size = 100_000 if quick else 1_000_000
    report = Report("memory", SEED, quick)
    random = Random(SEED)
    measure(report, "mqtt patterns", "mqtt", mqtt_patterns(random, size), None)
    measure(report, "glob prefixes", "glob", [f"{place}/*" for place in devices(random, size)], None)
    equalities = [f"customer_id = {customer}" for customer in range(size)]
    measure(report, "customers on one topic", "mqtt", [TOPIC] * size, equalities)
    ranges = price_ranges(random, size, widest=5)
    both = [f"{equality} and {span}" for equality, span in zip(equalities, ranges, strict=True)]
    measure(report, "customers and ranges on one topic", "mqtt", [TOPIC] * size, both)
    report.finish()


def measure(report: Report, what: str, dialect: str, patterns: list[str], criteria: list[str] | None) -> None:
    """What a fresh process grows by, its texts, ids, subscribers and data included."""
    with ramify(dialect=dialect) as us:
        us.match(["warm/up"])
        before = us.settle()
        fill(us, patterns, criteria)
        after = us.settle()
    each = (after - before) / len(patterns)
    report.figure(f"{len(patterns):,} {what}", f"{each:,.0f} bytes each")
