"""How fast is a match among 100,000 WAMP patterns, beside Crossbar's `UriObservationMap`?"""

from __future__ import annotations

from random import Random

from bench.contenders import python_peer, ramify
from bench.data import SEED, SHAPES, distinct, mqtt_pattern, mqtt_topics, wamp, words
from bench.report import Report
from bench.timing import insert_duel, match_duel


def main(quick: bool = False) -> None:
    size, topics, repeats = (10_000, 10_000, 5) if quick else (100_000, 99_000, 9)
    report = Report("wamp_match", SEED, quick)
    for how, target in (("wildcard", 3.0), ("exact", None), ("prefix", None)):
        patterns, asked = DATA[how](Random(SEED), size, topics)
        with ramify(dialect="wamp", match=how) as us, python_peer("crossbar", match=how) as peer:
            inserts = insert_duel(us, peer, patterns, repeats)
            cold = match_duel(us, peer, asked, repeats)
            report.compare(f"{size:,} {how} patterns", cold, peer.name, target=target)
            report.compare(f"{size:,} {how} patterns, inserts", inserts, peer.name)
    report.finish()


def wildcards(random: Random, size: int, topics: int) -> tuple[list[str], list[str]]:
    """Of the shapes that name five components and leave one open at least."""
    shapes = [(shape, weight) for shape, weight in SHAPES if not shape[1] and not all(shape[0])]
    chosen, weights = zip(*shapes, strict=True)
    patterns = distinct(lambda: mqtt_pattern(random.choices(chosen, weights)[0], random), size)
    return wamp(patterns), wamp(mqtt_topics(random, patterns, topics))


def exact(random: Random, size: int, topics: int) -> tuple[list[str], list[str]]:
    """Half of the topics are subscribed to."""
    uris = distinct(lambda: ".".join(words(random)), max(size, topics // 2) + topics)
    asked = uris[: topics // 2] + uris[-(topics - topics // 2) :]
    random.shuffle(asked)
    return uris[:size], asked


def prefixes(random: Random, size: int, topics: int) -> tuple[list[str], list[str]]:
    """By character, as WAMP has it: cut behind the third or fourth component."""
    stems = distinct(lambda: ".".join(words(random)[: random.choice((3, 4, 4, 4))]) + ".", size)
    tails = distinct(lambda: ".".join(words(random)), topics)
    asked = distinct(lambda: random.choice(stems) + random.choice(tails), topics)
    return stems, asked


DATA = {"wildcard": wildcards, "exact": exact, "prefix": prefixes}
