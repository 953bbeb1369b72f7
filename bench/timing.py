"""Runs contenders in turns on the same data, so that a slow moment of the machine is slow for both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, TypeVar

from bench.contenders import Contender, Run

T = TypeVar("T")

TRIED = 50
LONGEST = 3.0
"""Seconds that a repeat may take: what turns out to be slow is measured on fewer topics."""


@dataclass(frozen=True, slots=True)
class Duel:
    """The runs of two contenders, one pair per repeat."""

    ours: list[Run]
    theirs: list[Run]

    @property
    def ratios(self) -> list[float]:
        """How many times our rate is theirs, repeat by repeat, ascending."""
        return sorted(a.rate / b.rate for a, b in zip(self.ours, self.theirs, strict=True))

    @property
    def cpu_ratios(self) -> list[float]:
        """The same by the time of the processor, which others on the machine do not take away."""
        return sorted(a.cpu_rate / b.cpu_rate for a, b in zip(self.ours, self.theirs, strict=True))

    @property
    def found(self) -> tuple[int, int]:
        """All matches that we and they found: they had better be equal."""
        return sum(run.found for run in self.ours), sum(run.found for run in self.theirs)


def duel(ours: Contender, theirs: Contender, parts: Sequence[T], ask: Callable[[Contender, T], Run]) -> Duel:
    """Ask both about each part, taking turns at going first."""
    runs: dict[Contender, list[Run]] = {ours: [], theirs: []}
    for turn, part in enumerate(parts):
        for contender in (ours, theirs) if turn % 2 == 0 else (theirs, ours):
            runs[contender].append(ask(contender, part))
    return Duel(runs[ours], runs[theirs])


def match_duel(ours: Contender, theirs: Contender, topics: list[str], repeats: int) -> Duel:
    """Match every topic once, a part of them per repeat: no repeat sees a topic of another."""
    return duel(ours, theirs, parts_of(topics, repeats), Contender.match)


def insert_duel(ours: Contender, theirs: Contender, patterns: list[str], repeats: int) -> Duel:
    """Fill both stores with the same patterns, a part of them per repeat, and settle them."""
    filled = duel(ours, theirs, parts_of(patterns, repeats), Contender.insert)
    ours.settle()
    theirs.settle()
    return filled


def fill(contender: Contender, patterns: list[str], criteria: list[str] | None = None) -> Run:
    """Fill one store in parts that a pipe likes, and settle it."""
    step = 100_000
    runs = [
        contender.insert(patterns[at : at + step], criteria and criteria[at : at + step])
        for at in range(0, len(patterns), step)
    ]
    contender.settle()
    seconds, cpu = sum(run.seconds for run in runs), sum(run.cpu for run in runs)
    return Run(seconds, cpu, len(patterns), 0)


def match_runs(
    contender: Contender, topics: list[str], fields: list[dict[str, Any]] | None, repeats: int
) -> list[Run]:
    """Match every topic once, a part of them per repeat."""
    tried = contender.match(topics[:TRIED], fields and fields[:TRIED])
    most = max(TRIED, int(tried.rate * LONGEST))
    contents = [None] * repeats if fields is None else parts_of(fields[TRIED:], repeats)
    parts = zip(parts_of(topics[TRIED:], repeats), contents, strict=True)
    return [contender.match(some[:most], content and content[:most]) for some, content in parts]


def parts_of(items: list[T], count: int) -> list[list[T]]:
    """The items in so many parts of equal length; a remainder is left out."""
    size = len(items) // count
    return [items[at * size : (at + 1) * size] for at in range(count)]


def median_rate(runs: list[Run]) -> float:
    """The middle of the rates."""
    return median(run.rate for run in runs)


def found_each(runs: list[Run]) -> float:
    """Matches a topic."""
    return sum(run.found for run in runs) / sum(run.count for run in runs)
