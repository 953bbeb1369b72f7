"""Does a match cost the same among a million subscriptions to one topic as among a thousand?"""

from __future__ import annotations

from random import Random

from bench.contenders import Contender, Run, ramify
from bench.data import SEED, orders
from bench.report import Report
from bench.timing import duel, fill, median_rate

TOPIC = "orders/created"
AT_MOST = 2.0


def main(quick: bool = False) -> None:
    few, many = 1_000, 50_000 if quick else 1_000_000
    repeats, events = (5, 10_000) if quick else (9, 20_000)
    report = Report("content_equality", SEED, quick)
    random = Random(SEED)

    def ask(router: Contender, seed: int) -> Run:
        customers = few if router is small else many
        return router.match([TOPIC] * events, orders(Random(seed), customers, events))

    with ramify(dialect="mqtt") as small, ramify(dialect="mqtt") as large:
        for router, size in ((small, few), (large, many)):
            customers = random.sample(range(size), size)
            filled = fill(router, [TOPIC] * size, [f"customer_id = {customer}" for customer in customers])
        pairs = duel(small, large, range(repeats), ask)
    costs = [big.seconds / little.seconds for little, big in zip(pairs.ours, pairs.theirs, strict=True)]
    figure = " → ".join(f"{1e6 / median_rate(runs):.2f} µs" for runs in (pairs.ours, pairs.theirs))
    report.cost(f"{few:,} → {many:,} customers, a match", costs, figure, at_most=AT_MOST)
    report.alone(f"{many:,} customers, inserts", [filled])
    report.finish()
