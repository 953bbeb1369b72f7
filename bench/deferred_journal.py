"""Journaled pushes with group commit, pushes while compacting, and opening a million keys.

python -m bench.deferred_journal [--pushes 1000000] [--repeats 3] [--folder DIR]
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

from bench.deferred_memory import workload
from bench.deferred_peers import Workload
from ramify.deferred import GroupCommit, JournaledQueue

TARGET = 100_000
GROUPS = (100, 1_000, 10_000)
PAYLOAD = b"forty bytes of payload for every push..."


def pushes_per_second(work: Workload, records: int, folder: str) -> float:
    with tempfile.TemporaryDirectory(dir=folder) as path:
        queue = JournaledQueue(path, group=GroupCommit(records=records), compact_slack=None)
        start = perf_counter()
        for key, deadline in zip(work.keys, work.deadlines, strict=True):
            queue.push(key, PAYLOAD, deadline)
        queue.commit()
        rate = len(work.keys) / (perf_counter() - start)
        queue.close()
    return rate


def longest_push(queue: JournaledQueue, work: Workload, pushes: int = 100_000) -> float:
    """The longest of so many pushes to keys that wait, in seconds."""
    longest, before = 0.0, perf_counter()
    for number in range(pushes):
        queue.push(work.keys[number % len(work.keys)], PAYLOAD, float(number))
        now = perf_counter()
        longest, before = max(longest, now - before), now
    return longest


def while_compacting(work: Workload, folder: str) -> tuple[float, float, float, float]:
    """Pushes a second while a compaction runs, the longest before and during it, and the seconds it took."""
    with tempfile.TemporaryDirectory(dir=folder) as path:
        queue = JournaledQueue(path, group=GroupCommit(records=10_000), compact_slack=None)
        for key, deadline in zip(work.keys, work.deadlines, strict=True):
            queue.push(key, PAYLOAD, deadline)
        alone = longest_push(queue, work)
        compaction = queue.compact()
        start = before = perf_counter()
        pushes, longest = 0, 0.0
        while compaction.is_running:
            queue.push(work.keys[pushes % len(work.keys)], PAYLOAD, float(pushes))
            pushes += 1
            now = perf_counter()
            longest, before = max(longest, now - before), now
        elapsed = perf_counter() - start
        queue.close()
    return pushes / elapsed, alone, longest, elapsed


def seconds_to_open(keys: int, folder: str) -> float:
    with tempfile.TemporaryDirectory(dir=folder) as path:
        with JournaledQueue(path, group=GroupCommit(records=10_000)) as queue:
            for i in range(keys):
                queue.push(f"key-{i}", PAYLOAD, deadline=i * 0.001)
        start = perf_counter()
        with JournaledQueue(path) as queue:
            elapsed = perf_counter() - start
            if len(queue) != keys:
                raise RuntimeError(f"{len(queue)} keys came back of {keys}")
    return elapsed


def repeated(measure: Callable[[], float], repeats: int, show: str) -> str:
    figures = sorted(measure() for _ in range(repeats))
    low, middle, high = (format(figure, show) for figure in (figures[0], median(figures), figures[-1]))
    return f"{middle}   spread {low}–{high}"


def main(quick: bool = False) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pushes", type=int, default=100_000 if quick else 1_000_000)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--folder", default=str(Path.cwd()), help="where to write: the disk matters")
    options = parser.parse_args()
    folder, work = options.folder, workload(options.pushes, seed=0)
    for records in GROUPS:
        told = repeated(lambda n=records: pushes_per_second(work, n, folder), options.repeats, ",.0f")  # type: ignore[misc]
        print(f"pushes/s, an fsync every {records:,}: {told}   target {TARGET:,}")
    rate, alone, longest, elapsed = while_compacting(work, folder)
    print(
        f"while compacting for {elapsed:.1f} s: {rate:,.0f} pushes/s, the longest {longest * 1000:.0f} ms"
        f"   the longest without it {alone * 1000:.0f} ms"
    )
    told = repeated(lambda: seconds_to_open(options.pushes, folder), options.repeats, ".2f")
    print(f"seconds to open {options.pushes:,} keys: {told}")


if __name__ == "__main__":
    main()
