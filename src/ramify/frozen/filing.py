"""Decides, for a set that no longer changes, what each clause of its criteria is filed under.

The choice is the live planner's. What differs is the crowd: the live index files a crowd below
its shared key by a second one, and here both become parts of one key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

from ramify.criteria import Clause
from ramify.criteria.kinds import Kind, kind_of
from ramify.criteria.plan import BoundKey, EqualityKey, FilingKey, choose
from ramify.frozen.columns import nearest_float
from ramify.frozen.keys import Part, Seen, seen_cell, seen_value
from ramify.index.cells import cells_of
from ramify.model import Operator, Path, Scalar, Statistics

# From this many clauses under one key on, a second part is worth its look.
CROWDED_KEY = 64

Slot = tuple[tuple[Part, ...], tuple[Seen, ...]]
"""A place in the table of keys: where to look, and what must be seen there."""


@dataclass(slots=True)
class PatternClauses:
    """The clauses behind one pattern, with the counts that the planner asks for."""

    clauses: list[tuple[int, Clause]] = field(default_factory=list)
    keys: list[FilingKey | None] = field(default_factory=list)
    _counts: Counter[tuple[Path, Kind, Scalar]] = field(default_factory=Counter)

    def filed(self) -> int:
        """How many clauses are filed."""
        return len(self.clauses)

    def filed_under(self, path: Path, value: Scalar) -> int:
        """How many clauses are filed under this value of this field."""
        return self._counts[path, kind_of(value), value]

    def add(self, number: int, clause: Clause, statistics: Statistics | None) -> None:
        """Choose a key for a clause."""
        key = choose(clause, self, statistics)
        self.clauses.append((number, clause))
        self.keys.append(key)
        if isinstance(key, EqualityKey):
            self._counts.update((key.path, kind_of(value), value) for value in key.values)


@dataclass(slots=True)
class Filed:
    """Where the clauses of one pattern ended up."""

    slots: list[tuple[int, Slot]] = field(default_factory=list)
    bounds: list[tuple[int, int, bool, float]] = field(default_factory=list)
    """Clause, field, whether the bound is a lower one, and the bound."""
    tested: list[int] = field(default_factory=list)


def file_pattern(behind: PatternClauses, fields: dict[Path, int], texts: dict[str, int]) -> Filed:
    """Give each clause behind a pattern its places."""
    filed = Filed()
    slots = [list(_slots(key, fields, texts)) for key in behind.keys]
    crowds = Counter(slot for places in slots for slot in places)
    for (number, clause), key, places in zip(behind.clauses, behind.keys, slots, strict=True):
        if places and max(crowds[slot] for slot in places) > CROWDED_KEY:
            places = list(_narrowed(clause, key, behind, places, fields, texts))
        if places:
            filed.slots += [(number, slot) for slot in dict.fromkeys(places)]
        elif isinstance(key, BoundKey) and kind_of(key.bound) is Kind.NUMBER:
            is_lower = key.operator in (Operator.GT, Operator.GE)
            filed.bounds.append((number, fields[key.path], is_lower, nearest_float(key.bound)[0]))
        else:
            filed.tested.append(number)
    return filed


def _slots(key: FilingKey | None, fields: dict[Path, int], texts: dict[str, int]) -> Iterator[Slot]:
    """The places that a key stands for; a bound has none, because it is found by bisection."""
    if key is None or isinstance(key, BoundKey):
        return
    if isinstance(key, EqualityKey):
        for value in key.values:
            yield (Part(fields[key.path]),), (seen_value(value, texts),)
    else:
        width, cells = cells_of(key.low, key.high)
        for cell in cells:
            yield (Part(fields[key.path], width),), (seen_cell(cell),)


def _narrowed(
    clause: Clause,
    key: FilingKey | None,
    behind: PatternClauses,
    places: list[Slot],
    fields: dict[Path, int],
    texts: dict[str, int],
) -> Iterator[Slot]:
    """The same places, each told apart by a second key of the clause if it has one."""
    assert key is not None
    others = tuple(literal for literal in clause if getattr(literal, "path", key.path) != key.path)
    second = list(_slots(choose(others, behind, None), fields, texts)) if others else []
    if not second:
        yield from places
    for (parts, seen), (more_parts, more_seen) in product(places, second):
        yield (*parts, *more_parts), (*seen, *more_seen)
