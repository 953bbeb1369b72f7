"""One million pushes, 30 % of them updates, then eviction in order: us, PHP and Redis in one run.

python -m bench.deferred_memory [--pushes 1000000] [--repeats 2] [--all]

All do the same work: each push is one call or command pair, and each item comes out with its key
and data. What pops one by one is compared with what pops one by one, and batches with batches.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from random import Random
from statistics import median
from time import perf_counter

from bench.deferred_peers import Timing, Workload, run_php, run_redis, set_up
from ramify.deferred import DeferredQueue

OURS = ("ramify, drain", "ramify, evict one by one")
TARGETS = {"PHP heap with two maps": 1.5, "Redis sorted sets": 6.0}
POPS = {
    "ramify, drain": "all in one call",
    "ramify, evict one by one": "one item a call",
    "PHP heap with two maps": "one item a call, ties in order",
    "… with its JIT": "one item a call, ties in order",
    "… with ties in any order": "one item a call, ties in any order",
    "Redis sorted sets": "one item a Lua call, 1,000 calls a pipeline",
    "… 1,000 items a pop": "1,000 items a Lua call",
}
MORE = ("… with its JIT", "… 1,000 items a pop")
"""Asked only with --all: they take long, and there is no target for them."""
JIT = (
    "-dopcache.enable_cli=1",
    "-dopcache.jit=tracing",
    "-dopcache.jit_buffer_size=64M",
)


def workload(pushes: int, seed: int, span: float = 60.0) -> Workload:
    random = Random(seed)
    keys = [f"key-{i}" for i in range(pushes * 7 // 10)]
    keys += random.choices(keys, k=pushes - len(keys))
    random.shuffle(keys)
    return Workload(keys, [random.random() * span for _ in keys], span)


def run_ours(one_by_one: bool, work: Workload) -> Timing:
    queue = DeferredQueue()
    start = perf_counter()
    for key, deadline in zip(work.keys, work.deadlines, strict=True):
        queue.push(key, "payload", deadline)
    pushed = perf_counter()
    items = _evict_all(queue, work.end) if one_by_one else len(queue.drain(work.end))
    return Timing(pushed - start, perf_counter() - pushed, len(work.keys), items)


def _evict_all(queue: DeferredQueue, now: float) -> int:
    items = 0
    while queue.evict(now) is not None:
        items += 1
    return items


RUNNERS: dict[str, Callable[[Workload], Timing]] = {
    "ramify, drain": partial(run_ours, False),
    "ramify, evict one by one": partial(run_ours, True),
    "PHP heap with two maps": lambda work: run_php(work, "ordered"),
    "… with its JIT": lambda work: run_php(work, "ordered", *JIT),
    "… with ties in any order": lambda work: run_php(work, "unordered"),
    "Redis sorted sets": lambda work: run_redis(work, items_per_pop=1),
    "… 1,000 items a pop": lambda work: run_redis(work, items_per_pop=1_000),
}


def main(quick: bool = False) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pushes", type=int, default=100_000 if quick else 1_000_000)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--all", action="store_true", help="more forms of the peers")
    options = parser.parse_args()
    set_up()
    runners = {name: run for name, run in RUNNERS.items() if options.all or name not in MORE}
    timings: dict[str, list[Timing]] = {name: [] for name in runners}
    for repeat in range(options.repeats):
        work = workload(options.pushes, seed=repeat)
        # Interleaved, so that a slow minute of the machine is slow for all of them.
        for name, run in runners.items():
            timings[name].append(run(work))
    report(timings)


def report(timings: dict[str, list[Timing]]) -> None:
    for name, runs in timings.items():
        rates = sorted(run.rate for run in runs)
        print(
            f"{name:26}{median(rates):>12,.0f} operations/s   spread {rates[0]:,.0f}–{rates[-1]:,.0f}"
            f"   push {median(r.pushing for r in runs):.2f} s, evict {median(r.evicting for r in runs):.2f} s"
            f"   {runs[0].items:,} items, {POPS[name]}"
        )
    for ours in OURS:
        for peer in (name for name in timings if name not in OURS):
            print(compared(ours, peer, timings))


def compared(ours: str, peer: str, timings: dict[str, list[Timing]]) -> str:
    pairs = zip(timings[ours], timings[peer], strict=True)
    ratios = sorted(mine.rate / theirs.rate for mine, theirs in pairs)
    target = f"   target {TARGETS[peer]}" if peer in TARGETS else ""
    return f"{ours} ÷ {peer}: {median(ratios):.2f}×   spread {ratios[0]:.2f}–{ratios[-1]:.2f}{target}"


if __name__ == "__main__":
    main()
