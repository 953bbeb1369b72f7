"""One store of subscriptions in a process of its own: ours, or a peer that is written in Python.

Reads requests from standard input and answers on standard output, a line of JSON each, and
times itself, so that the pipes are not part of what is measured. Runs in the peers' own venv
too: it imports the store that it was asked for, and nothing else of the project.

    python bench/contender.py ramify '{"dialect": "mqtt"}'
"""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Callable, Sized
from importlib import import_module
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

Options = dict[str, Any]
SUBSCRIBERS = 9_973
"""How many subscribers share the subscriptions: a prime, so that a pattern's own are all different."""


class Ramify:
    """`ramify.Router`."""

    def __init__(self, options: Options) -> None:
        from ramify import Router

        self._router = Router(cache=options.pop("cache", 0))
        self._options = options
        self._ids: list[str] = []
        self.match: Callable[..., Sized] = self._router.match

    def insert(self, patterns: list[str], criteria: list[str | None]) -> None:
        """Subscribe to each pattern."""
        subscribe, options = self._router.subscribe, self._options
        for at, (pattern, where) in enumerate(zip(patterns, criteria, strict=True), len(self._ids)):
            who = f"client-{at % SUBSCRIBERS}"
            self._ids.append(subscribe(pattern, who, where=where, data={"n": at}, **options).id)

    def remove(self, places: list[int]) -> None:
        """Remove, by id, what was inserted at these places."""
        for place in places:
            self._router.unsubscribe(self._ids[place])


class Paho:
    """`MQTTMatcher` of paho-mqtt: one value per pattern."""

    def __init__(self, options: Options) -> None:
        matcher: Any = import_module("paho.mqtt.matcher").MQTTMatcher()
        self._matcher = matcher
        self.match: Callable[..., Sized] = lambda topic: list(matcher.iter_match(topic))

    def insert(self, patterns: list[str], criteria: list[str | None]) -> None:
        """Subscribe to each pattern."""
        for at, pattern in enumerate(patterns):
            self._matcher[pattern] = at

    def remove(self, places: list[int]) -> None:
        """Remove, by id, what was inserted at these places."""
        raise NotImplementedError


class Crossbar:
    """`UriObservationMap`, which Crossbar's broker and dealer keep subscriptions in."""

    def __init__(self, options: Options) -> None:
        self._map: Any = import_module("crossbar.router.observation").UriObservationMap()
        self._how = options["match"]
        self.match: Callable[..., Sized] = self._map.match_observations

    def insert(self, patterns: list[str], criteria: list[str | None]) -> None:
        """Subscribe to each pattern."""
        for at, pattern in enumerate(patterns):
            self._map.add_observer(f"client-{at % SUBSCRIBERS}", pattern, match=self._how)

    def remove(self, places: list[int]) -> None:
        """Remove, by id, what was inserted at these places."""
        raise NotImplementedError


Store = Ramify | Paho | Crossbar
STORES: dict[str, Callable[[Options], Store]] = {"ramify": Ramify, "paho-mqtt": Paho, "crossbar": Crossbar}


def answer(store: Store, do: str, request: dict[str, Any]) -> dict[str, float]:
    """Carry out one request, and say how long it took and what it found."""
    if do == "settle":
        return _settled()
    if do == "insert":
        patterns = request["patterns"]
        criteria = request.get("criteria") or [None] * len(patterns)
        return _timed(len(patterns), lambda: store.insert(patterns, criteria))
    if do == "remove":
        return _timed(len(request["places"]), lambda: store.remove(request["places"]))
    topics, fields = request["topics"], request.get("fields")
    return _timed(len(topics), lambda: _matched(store.match, topics, fields))


def _timed(count: int, work: Callable[[], int | None]) -> dict[str, float]:
    """What a piece of work took by the clock, and of the processor alone."""
    start, cpu = perf_counter(), process_time()
    found = work()
    return {
        "seconds": perf_counter() - start,
        "cpu": process_time() - cpu,
        "count": count,
        "found": found or 0,
    }


def _matched(match: Callable[..., Sized], topics: list[str], fields: list[Any] | None) -> int:
    found = 0
    if fields is None:
        for topic in topics:
            found += len(match(topic))
    else:
        for topic, content in zip(topics, fields, strict=True):
            found += len(match(topic, content))
    return found


def _settled() -> dict[str, float]:
    """Take what is loaded out of the collector's sight, as a long-running process would."""
    gc.collect()
    gc.freeze()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return {"bytes": pages * os.sysconf("SC_PAGE_SIZE")}


def serve(name: str, options: Options) -> None:
    # What a store prints while it is imported must not get between the answers.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    store = STORES[name](options)
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(answer(store, request.pop("do"), request)), file=answers)


if __name__ == "__main__":
    serve(sys.argv[1], json.loads(sys.argv[2]))
