"""What does a match cost as the subscriptions grow from a thousand to a million? Draws the plot."""

from __future__ import annotations

from pathlib import Path
from random import Random
from statistics import median
from typing import Any

from bench.contenders import ramify
from bench.data import SEED, below, devices, mqtt_patterns, mqtt_topics, orders, price_ranges
from bench.plot import Curve, draw
from bench.report import Report
from bench.timing import fill, match_runs

PLOT = Path(__file__).parent.parent / "docs" / "images" / "cost_curves.svg"
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
EVENTS, REPEATS = 10_000, 5
TOPIC = "orders/created"

Set = tuple[str, list[str], list[str] | None, list[str], list[dict[str, Any]] | None]
"""A dialect, patterns, their criteria, and topics to ask with their fields."""


def main(quick: bool = False) -> None:
    sizes = SIZES[:4] if quick else SIZES
    report = Report("cost_curves", SEED, quick)
    curves = []
    for name, make in SETS.items():
        points = [(size, cost(*make(Random(SEED), size))) for size in sizes]
        curves.append(Curve(name, points))
        report.figure(
            f"{name}, {sizes[0]:,} … {sizes[-1]:,}", " ".join(f"{y:.1f}" for _, y in points) + " µs"
        )
    if not quick:
        PLOT.parent.mkdir(parents=True, exist_ok=True)
        PLOT.write_text(draw(curves, "subscriptions", "µs of processor time a match"), encoding="utf-8")
    report.finish()


def cost(
    dialect: str,
    patterns: list[str],
    criteria: list[str] | None,
    topics: list[str],
    fields: list[dict[str, Any]] | None,
) -> float:
    """Microseconds of the processor a match: a curve takes long, and the machine's moods would bend it."""
    with ramify(dialect=dialect) as us:
        fill(us, patterns, criteria)
        return 1e6 / median(run.cpu_rate for run in match_runs(us, topics, fields, REPEATS))


def mqtt(random: Random, size: int) -> Set:
    patterns = mqtt_patterns(random, size)
    return "mqtt", patterns, None, mqtt_topics(random, patterns, EVENTS), None


def glob_prefixes(random: Random, size: int) -> Set:
    places = devices(random, size)
    return "glob", [f"{place}/*" for place in places], None, below(random, places, EVENTS), None


def equalities(random: Random, size: int) -> Set:
    criteria = [f"customer_id = {customer}" for customer in range(size)]
    return "mqtt", [TOPIC] * size, criteria, [TOPIC] * EVENTS, orders(random, size, EVENTS)


def ranges(random: Random, size: int) -> Set:
    # Narrower as they become more, so that an event meets about two at every size.
    criteria = price_ranges(random, size, widest=100_000 / size)
    return "mqtt", [TOPIC] * size, criteria, [TOPIC] * EVENTS, orders(random, 2, EVENTS)


SETS = {
    "MQTT patterns": mqtt,
    "glob prefixes": glob_prefixes,
    "one topic, customer_id = …": equalities,
    "one topic, price > … and price < …": ranges,
}
