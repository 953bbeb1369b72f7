"""Finds the subscriptions of one pattern whose criteria hold for an event's fields.

Each clause of the criteria is filed under the key that the planner chose: a value of a field,
a stretch of numbers, or a bound. An event looks up its own values, and only what it finds is
tested for the rest of its clause. Where many clauses share a key, they are filed below it by
their next best one, so a million subscriptions that agree in everything but the customer, or
the price, are never tested one by one. Only a clause that has no key at all (`name != 'x'`,
say) is tested for every event of its pattern.

One writer may work beside readers: what they walk is a snapshot, or copied whole first.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort_right
from collections.abc import Callable
from operator import attrgetter
from typing import Any

from ramify.criteria import Clause, resolve
from ramify.criteria.kinds import Kind, kind_of
from ramify.criteria.plan import BoundKey, EqualityKey, FilingKey, IntervalKey, choose
from ramify.index.buckets import Held, count_of, drop, items_of, joined, parted, put
from ramify.index.candidates import Candidate
from ramify.index.cells import cell_of, cells_of
from ramify.model import Fields, Match, Operator, Path, Scalar, Statistics, Term

# From this many clauses on, another key below the shared one is cheaper than testing each.
CROWDED_KEY = 24

Table = dict[Any, Held]

_bound_of = attrgetter("bound")

# Which candidates hold for a value, in a list that is sorted by their bounds.
WITHIN: dict[Operator, Callable[[list[Candidate], Any], list[Candidate]]] = {
    Operator.GT: lambda bounds, value: bounds[: bisect_left(bounds, value, key=_bound_of)],
    Operator.GE: lambda bounds, value: bounds[: bisect_right(bounds, value, key=_bound_of)],
    Operator.LT: lambda bounds, value: bounds[bisect_right(bounds, value, key=_bound_of) :],
    Operator.LE: lambda bounds, value: bounds[bisect_left(bounds, value, key=_bound_of) :],
}


class _Boolean:
    """Stands for a boolean in a table, where Python would take `True` for `1`."""


_TRUE, _FALSE = _Boolean(), _Boolean()


class Content:
    """Matches by clauses, found by fields."""

    def __init__(self, statistics: Statistics | None = None, parent: Content | None = None) -> None:
        self._statistics = statistics
        self._parent = parent
        self.keys: tuple[FilingKey, ...] = ()
        """The keys that an event has met on its way here."""
        self._size = 0
        self._always: Held = None
        self._tested: Held = None
        self._equal: dict[Path, Table] = {}
        self._cells: dict[tuple[Path, int], Table] = {}
        self._bounds: dict[tuple[Path, Operator, Kind], list[Candidate]] = {}
        self._refresh()

    @property
    def is_empty(self) -> bool:
        """Whether nothing is filed here."""
        return self._size == 0

    # ── what the planner asks ─────────────────────────────────────────────────────────────

    def filed(self) -> int:
        """How many clauses are filed here."""
        return self._size

    def filed_under(self, path: Path, value: Scalar) -> int:
        """How many clauses are filed under this value of this field."""
        held = self._equal.get(path, {}).get(_slot_of(value))
        return held.filed() if held.__class__ is Content else count_of(held)

    # ── finding ───────────────────────────────────────────────────────────────────────────

    def find(self, fields: Fields, out: list[Match]) -> None:
        """Append every match with a clause that holds; one with several may come several times."""
        if self._always is not None:
            self._pour(self._always, fields, out)
        if self._tested is not None:
            self._pour(self._tested, fields, out)
        for path, held_under in self._equal_lookups:
            held = held_under(_slot_of(resolve(fields, path)))
            if held is not None:
                self._pour(held, fields, out)
        for path, width, held_under in self._cell_lookups:
            held = held_under(_cell_under(resolve(fields, path), width))
            if held is not None:
                self._pour(held, fields, out)
        for path, operator, kind, bounds in self._bound_lists:
            value = resolve(fields, path)
            # NaN is the number that does not equal itself: it has no order, and would upset bisection.
            if kind_of(value) is kind and value == value:
                self._pour(WITHIN[operator](bounds, value), fields, out)

    def _pour(self, held: Held, fields: Fields, out: list[Match]) -> None:
        kind = held.__class__
        if kind is Candidate:
            if held.test is None or held.test(fields):
                out.append(held.match)
        elif kind is Content:
            held.find(fields, out)
        else:
            for candidate in tuple(held):
                if candidate.test is None or candidate.test(fields):
                    out.append(candidate.match)

    # ── filing ────────────────────────────────────────────────────────────────────────────

    def add(self, match: Match, clauses: tuple[Clause, ...]) -> list[Candidate]:
        """File a match under each clause; give back what `remove` wants to see again."""
        candidates: list[Candidate] = []
        for clause in clauses:
            self._file(Candidate(match, clause, clause, candidates))
        return candidates

    def add_whole(self, match: Match, term: Term) -> list[Candidate]:
        """Keep a match whose criteria have too many clauses to file: they are tested as they are."""
        candidates: list[Candidate] = []
        self._keep(Candidate(match, (), (term,), candidates))
        return candidates

    def remove(self, candidates: list[Candidate]) -> None:
        """Take away all candidates of a match that was added."""
        for candidate in candidates:
            assert candidate.node is not None
            candidate.node._take_away(candidate)

    def _file(self, candidate: Candidate) -> None:
        key = choose(candidate.open, self, self._statistics) if candidate.open else None
        if key is None:
            self._keep(candidate)
            return
        candidate.siblings.remove(candidate)
        for home, slot in self._slots(key):
            placed = candidate.beneath(key)
            placed.node, placed.key, placed.home, placed.slot = self, key, home, slot
            self._place(placed)

    def _keep(self, candidate: Candidate) -> None:
        """Keep a candidate that has nothing left to file it by."""
        candidate.node, candidate.key, candidate.home = self, None, None
        if candidate.test is None:
            self._always = joined(self._always, candidate)
        else:
            self._tested = joined(self._tested, candidate)
        self._count(1)

    def _slots(self, key: FilingKey) -> list[tuple[Any, Any]]:
        """The table or list that a key leads to, with each place there that it stands for."""
        match key:
            case EqualityKey(path, values):
                table = self._made(self._equal, path, {})
                return [(table, _slot_of(value)) for value in values]
            case IntervalKey(path, low, high):
                width, cells = cells_of(low, high)
                table = self._made(self._cells, (path, width), {})
                return [(table, cell) for cell in cells]
            case BoundKey(path, operator, bound):
                return [(self._made(self._bounds, (path, operator, kind_of(bound)), []), None)]

    def _made(self, tables: dict[Any, Any], name: Any, new: Any) -> Any:
        if name not in tables:
            tables[name] = new
            self._refresh()
        return tables[name]

    def _place(self, candidate: Candidate) -> None:
        home, slot = candidate.home, candidate.slot
        if isinstance(candidate.key, BoundKey):
            candidate.bound = candidate.key.bound
            insort_right(home, candidate, key=_bound_of)
            self._count(1)
            return
        held = home.get(slot)
        if held.__class__ is Content:
            held._file(candidate)
            return
        put(home, slot, candidate)
        self._count(1)
        if candidate.open and count_of(held) >= CROWDED_KEY:
            self._split(home, slot, candidate.key)

    def _split(self, home: Table, slot: Any, key: FilingKey | None) -> None:
        """File what has become a crowd by what its members do not share."""
        crowd = list(items_of(home[slot]))
        below = Content(self._statistics, self)
        below.keys = (*self.keys, key) if key is not None else self.keys
        self._count(-len(crowd))
        for candidate in crowd:
            below._file(candidate)
        home[slot] = below

    # ── taking away ───────────────────────────────────────────────────────────────────────

    def _take_away(self, candidate: Candidate) -> None:
        home = candidate.home
        if home is None and candidate.test is None:
            self._always = parted(self._always, candidate)
        elif home is None:
            self._tested = parted(self._tested, candidate)
        elif isinstance(candidate.key, BoundKey):
            at = bisect_left(home, candidate.bound, key=_bound_of)
            del home[home.index(candidate, at)]
        else:
            drop(home, candidate.slot, candidate)
        self._count(-1)
        if home is not None and not home:
            self._forget(home)

    def _forget(self, home: Any) -> None:
        """Stop asking for a field, a width or a bound that nothing is filed under any more."""
        kinds: tuple[dict[Any, Any], ...] = (self._equal, self._cells, self._bounds)
        for tables in kinds:
            for name in [name for name, table in tables.items() if table is home]:
                del tables[name]
        self._refresh()

    def _count(self, change: int) -> None:
        node: Content | None = self
        while node is not None:
            node._size += change
            node = node._parent

    def _refresh(self) -> None:
        self._equal_lookups = tuple((path, table.get) for path, table in self._equal.items())
        self._cell_lookups = tuple((path, width, table.get) for (path, width), table in self._cells.items())
        self._bound_lists = tuple((*name, bounds) for name, bounds in self._bounds.items())


def _slot_of(value: Any) -> Any:
    """What stands for a value in a table: `None`, which no table has, for one that equals nothing."""
    kind = type(value)
    if kind is str or kind is int or kind is float:
        return value
    if kind is bool:
        return _TRUE if value else _FALSE
    return None


def _cell_under(value: Any, width: int) -> Any:
    if kind_of(value) is not Kind.NUMBER:
        return None
    try:
        return cell_of(float(value), width)
    except OverflowError:
        return None
