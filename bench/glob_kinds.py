"""How fast are the globs that wild-pare refuses, at 300,000 distinct patterns of each kind?"""

from __future__ import annotations

from random import Random

from bench.contenders import ramify
from bench.data import GLOB_KINDS, SEED, devices, globs_of_kind, readings
from bench.report import Report
from bench.timing import fill, match_runs

LEAST = 10_000


def main(quick: bool = False) -> None:
    size, topics, repeats = (30_000, 5_000, 5) if quick else (300_000, 35_000, 7)
    report = Report("glob_kinds", SEED, quick)
    random = Random(SEED)
    places = devices(random, size // 10)
    asked = readings(random, places, topics)
    sets = {kind: globs_of_kind(kind, random, places, size) for kind in GLOB_KINDS}
    prefixes = [f"{place}/*" for place in [*places, *devices(random, size // 10)]]
    sets["all kinds mixed"] = prefixes + [glob for kind in GLOB_KINDS for glob in sets[kind][: size // 5]]
    for kind, patterns in sets.items():
        with ramify(dialect="glob") as us:
            inserts = fill(us, patterns)
            runs = match_runs(us, asked, None, repeats)
        report.alone(f"{len(patterns):,} globs, {kind}", runs, target=LEAST)
        report.alone(f"{len(patterns):,} globs, {kind}: inserts", [inserts])
    report.finish()
