"""How much faster is the frozen index, a batch of topics at once, than a match per topic?"""

from __future__ import annotations

import tempfile
from gc import collect, freeze
from pathlib import Path
from random import Random
from time import perf_counter, process_time
from typing import Any

import pyarrow as pa

from bench.contenders import Run
from bench.data import SEED, mqtt_patterns, mqtt_topics
from bench.report import Report
from bench.timing import Duel, parts_of
from ramify import Router

TARGET = 4.0
OPENED_WITHIN = 0.05
"""Seconds: what `milliseconds` is taken to mean."""


def main(quick: bool = False) -> None:
    report = Report("batch_match", SEED, quick)
    sizes = (10_000, 30_000) if quick else (300_000, 1_000_000)
    batches(report, sizes[0], 450_000 if not quick else 20_000)
    opening(report, sizes[1])
    report.finish()


def batches(report: Report, size: int, topics: int) -> None:
    random = Random(SEED)
    patterns = mqtt_patterns(random, size)
    router, frozen, seconds = filled_and_frozen(patterns)
    report.figure(f"{size:,} patterns, freezing", f"{size / seconds:,.0f}/s")
    parts = parts_of(mqtt_topics(random, patterns, topics), 9)
    pairs = Duel([], [])
    for part in parts:
        pairs.ours.append(batch(frozen, part))
        pairs.theirs.append(one_by_one(router, part))
    report.compare(f"{size:,} patterns, batches of {len(parts[0]):,}", pairs, "match", target=TARGET)


def batch(frozen: Any, topics: list[str]) -> Run:
    array = pa.array(topics)
    start, cpu = perf_counter(), process_time()
    found = frozen.match_batch(array).num_rows
    return Run(perf_counter() - start, process_time() - cpu, len(topics), found)


def one_by_one(router: Router, topics: list[str]) -> Run:
    found = 0
    start, cpu = perf_counter(), process_time()
    for topic in topics:
        found += len(router.match(topic))
    return Run(perf_counter() - start, process_time() - cpu, len(topics), found)


def opening(report: Report, size: int) -> None:
    """Open a saved index by mmap, and answer the first topic."""
    patterns = mqtt_patterns(Random(SEED), size)
    _, frozen, _ = filled_and_frozen(patterns)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index.arrow"
        frozen.save(path)
        topics = pa.array(mqtt_topics(Random(SEED), patterns, 1))
        opens, firsts = [], []
        for _ in range(7):
            start = perf_counter()
            opened = type(frozen).open(path)
            opens.append(perf_counter() - start)
            opened.match_batch(topics)
            firsts.append(perf_counter() - start)
        size_each = path.stat().st_size / size
    verdict = "reached" if sorted(opens)[3] <= OPENED_WITHIN else "missed"
    report.figure(f"{size:,} patterns, opening", f"{sorted(opens)[3] * 1e3:.2f} ms", "milliseconds", verdict)
    report.figure(f"{size:,} patterns, opening and a first match", f"{sorted(firsts)[3] * 1e3:.2f} ms")
    report.figure(f"{size:,} patterns, the file", f"{size_each:,.0f} bytes each")


def filled_and_frozen(patterns: list[str]) -> tuple[Router, Any, float]:
    router = Router()
    for at, pattern in enumerate(patterns):
        router.subscribe(pattern, f"client-{at % 9_973}")
    collect()
    freeze()
    start = perf_counter()
    frozen = getattr(router, "freeze")()  # noqa: B009  # it may not be there yet
    return router, frozen, perf_counter() - start
