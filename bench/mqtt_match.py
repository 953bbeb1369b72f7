"""How fast is a match among 300,000 MQTT patterns, beside paho-mqtt's `MQTTMatcher`?"""

from __future__ import annotations

from random import Random

from bench.contenders import python_peer, ramify
from bench.data import SEED, SHAPES, mqtt_patterns, mqtt_patterns_of_60_shapes, mqtt_topics
from bench.report import Report
from bench.timing import insert_duel, match_duel


def main(quick: bool = False) -> None:
    size, topics, repeats = (30_000, 10_000, 5) if quick else (300_000, 99_000, 9)
    report = Report("mqtt_match", SEED, quick)
    random = Random(SEED)
    sets = {
        f"{len(SHAPES)} shapes": (mqtt_patterns(random, size), 2.5),
        "60 shapes": (mqtt_patterns_of_60_shapes(random, size), None),
    }
    for name, (patterns, target) in sets.items():
        with ramify(dialect="mqtt") as us, python_peer("paho-mqtt") as peer:
            inserts = insert_duel(us, peer, patterns, repeats)
            cold = match_duel(us, peer, mqtt_topics(random, patterns, topics), repeats)
            report.compare(f"{size:,} patterns of {name}", cold, peer.name, target=target)
            report.compare(f"{size:,} patterns of {name}, inserts", inserts, peer.name)
    report.finish()
