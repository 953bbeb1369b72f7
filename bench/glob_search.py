"""How fast are searches among 300,000 globs, beside wild-pare 5?"""

from __future__ import annotations

from random import Random

from bench.contenders import Contender, ramify, wild_pare
from bench.data import SEED, below, devices, random_places
from bench.report import Report
from bench.timing import duel, insert_duel, match_duel

CACHED = 10_000
"""What wild-pare remembers unless told otherwise; ours gets as much where repeats are measured."""


def main(quick: bool = False) -> None:
    size = 30_000 if quick else 300_000
    repeats = 5 if quick else 9
    topics = 10_000 if quick else 90_000
    report = Report("glob_search", SEED, quick)
    for name, make in (("paths", devices), ("random ids", random_places)):
        shared_prefixes(report, name, make(Random(SEED), size // 30), topics, repeats)
        distinct_prefixes(report, name, make(Random(SEED + 1), size), topics, repeats)
    repeated(report, size, repeats)
    precise(report, size, topics, repeats)
    report.finish()


def shared_prefixes(report: Report, name: str, places: list[str], topics: int, repeats: int) -> None:
    """Wild-pare's own distribution: 30 subscriptions to each of the patterns."""
    random = Random(SEED)
    patterns = [f"{place}/*" for place in places] * 30
    with ramify(dialect="glob") as us, wild_pare() as peer:
        inserts = insert_duel(us, peer, patterns, repeats)
        cold = match_duel(us, peer, below(random, places, topics), repeats)
        report.compare(f"{len(places):,} prefixes × 30, {name}, cold", cold, peer.name, target=5)
        report.compare(f"{len(places):,} prefixes × 30, {name}, inserts", inserts, peer.name, target=1)
        removals(report, us, peer, random, len(patterns), repeats)


def distinct_prefixes(report: Report, name: str, places: list[str], topics: int, repeats: int) -> None:
    """Every pattern another prefix."""
    random = Random(SEED)
    with ramify(dialect="glob") as us, wild_pare() as peer:
        inserts = insert_duel(us, peer, [f"{place}/*" for place in places], repeats)
        cold = match_duel(us, peer, below(random, places, topics), repeats)
        report.compare(f"{len(places):,} distinct prefixes, {name}, cold", cold, peer.name, target=2)
        report.compare(f"{len(places):,} distinct prefixes, {name}, inserts", inserts, peer.name, target=1)


def repeated(report: Report, size: int, repeats: int) -> None:
    """A thousand topics over and over: their cache beside ours, of the same size."""
    random = Random(SEED)
    places = devices(random, size // 30)
    with ramify(dialect="glob", cache=CACHED) as us, wild_pare() as peer:
        insert_duel(us, peer, [f"{place}/*" for place in places] * 30, repeats)
        few = below(random, places, 1_000)
        match_duel(us, peer, few, 1)
        again = duel(us, peer, [few * 20] * repeats, Contender.match)
        report.compare(f"{len(places):,} prefixes × 30, repeated", again, peer.name)


def removals(report: Report, us: Contender, peer: Contender, random: Random, size: int, repeats: int) -> None:
    """Their removal is a scan, so a few hundred have to do."""
    places = random.sample(range(size), repeats * 40)
    parts = [places[at : at + 40] for at in range(0, len(places), 40)]
    removed = duel(us, peer, parts, Contender.remove)
    report.compare(f"{size:,} subscriptions, removes by id", removed, peer.name, target=100)


def precise(report: Report, size: int, topics: int, repeats: int) -> None:
    """Patterns without a wildcard."""
    random = Random(SEED + 2)
    patterns = below(random, devices(random, size), size)
    with ramify(dialect="glob") as us, wild_pare() as peer:
        inserts = insert_duel(us, peer, patterns, repeats)
        cold = match_duel(us, peer, random.sample(patterns, topics if topics < size else size), repeats)
        report.compare(f"{size:,} patterns without wildcard, cold", cold, peer.name, target=1.5)
        report.compare(f"{size:,} patterns without wildcard, inserts", inserts, peer.name, target=1)
