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

from collections.abc import Callable, Iterable
from math import inf, isfinite
from typing import Any

from ramify.criteria import Clause, resolve
from ramify.criteria.kinds import Kind, kind_of
from ramify.criteria.plan import BoundKey, EqualityKey, FilingKey, IntervalKey, choose
from ramify.criteria.ranges import is_contradictory
from ramify.index.bounds import Bounds
from ramify.index.buckets import Held, count_of, drop, items_of, joined, parted, put
from ramify.index.candidates import Candidate
from ramify.index.cells import cell_of, cells_of
from ramify.model import Fields, Match, Operator, Path, Scalar, Statistics, Term

# From this many clauses on, another key below the shared one is cheaper than testing each.
CROWDED_KEY = 24

# A subscription stands in this many places at most: `a in (…) and b in (…)` would multiply them.
MOST_PLACES = 1_024

Table = dict[Any, Held]


class _Boolean:
    """Stands for a boolean in a table, where Python would take `True` for `1`."""


_TRUE, _FALSE = _Boolean(), _Boolean()


class Content:
    """Matches by clauses, found by fields."""

    def __init__(self, statistics: Statistics | None = None, parent: Content | None = None) -> None:
        self._statistics = statistics
        self._parent = parent
        self._hangs_at: tuple[Table, Any] = {}, None
        """The table of the parent, and the place there, that lead here."""
        self.keys: tuple[FilingKey, ...] = ()
        """The keys that an event has met on its way here."""
        self.may_repeat = False
        """Whether a match may be found twice, because it was filed under several clauses."""
        self._size = 0
        self._always: Held = None
        self._tested: Held = None
        self._equal: dict[Path, Table] = {}
        self._cells: dict[tuple[Path, int], Table] = {}
        self._bounds: dict[tuple[Path, Operator, Kind], Bounds] = {}
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
        held = self._always  # read once: the writer may take the last one away
        if held is not None:
            self._pour(held, fields, out)
        held = self._tested
        if held is not None:
            self._pour(held, fields, out)
        for path, held_under in self._equal_lookups:
            held = held_under(_slot_of(resolve(fields, path)))
            if held is not None:
                self._pour(held, fields, out)
        if self._cell_lookups:
            self._find_near(fields, out)
        for path, _, kind, bounds in self._bound_lists:
            value = resolve(fields, path)
            # NaN is the number that does not equal itself: it has no order, and would upset bisection.
            if kind_of(value) is kind and value == value:
                _pour_tested(bounds.holding(value), fields, out)

    def _find_near(self, fields: Fields, out: list[Match]) -> None:
        """Append the matches whose stretch of numbers touches the cell that a field lies in, and holds it."""
        for path, tables in self._cell_lookups:
            number = _float_of(resolve(fields, path))
            if number is not None:
                for width, held_under in tables:
                    held = held_under(cell_of(number, width))
                    if held is not None:
                        self._pour(held, fields, out)

    def _pour(self, held: Held, fields: Fields, out: list[Match]) -> None:
        kind = held.__class__
        if kind is Candidate:
            if held.test is None or held.test(fields):
                out.append(held.match)
        elif kind is Content:
            held.find(fields, out)
        else:
            _pour_tested(tuple(held), fields, out)

    # ── filing ────────────────────────────────────────────────────────────────────────────

    def add(self, match: Match, clauses: tuple[Clause, ...]) -> list[Candidate]:
        """File a match under each clause that can hold; give back what `remove` wants to see again."""
        candidates: list[Candidate] = []
        if len(clauses) > 1:
            self.may_repeat = True  # and stays: a reader may be between two of its clauses when it goes
        for clause in clauses:
            # `price > 5 and price < 3` has no place: a crowd of them would leave an empty one behind.
            if not is_contradictory(clause):
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
        key = self._key_for(candidate)
        if key is None:
            self._keep(candidate)
            return
        candidate.siblings.remove(candidate)
        slots = self._slots(key)
        # All are made before the first is placed: that may split a crowd, which asks how many there are.
        for placed, (home, slot) in zip([candidate.beneath(key) for _ in slots], slots, strict=True):
            placed.node, placed.key, placed.home, placed.slot = self, key, home, slot
            self._place(placed)

    def _key_for(self, candidate: Candidate) -> FilingKey | None:
        """The best key that does not spread the subscription over too many places."""
        literals = candidate.open
        while literals:
            key = choose(literals, self, self._statistics)
            if key is None or len(candidate.siblings) + _spread(key) <= MOST_PLACES:
                return key
            literals = tuple([each for each in literals if getattr(each, "path", None) != key.path])
        return None

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
            case IntervalKey(path, low, high, _, _):
                width, cells = cells_of(low, high)
                table = self._made(self._cells, (path, width), {})
                return [(table, cell) for cell in cells]
            case BoundKey(path, operator, bound):
                return [(self._made(self._bounds, (path, operator, kind_of(bound)), Bounds(operator)), None)]

    def _made(self, tables: dict[Any, Any], name: Any, new: Any) -> Any:
        if name not in tables:
            tables[name] = new
            self._refresh()
        return tables[name]

    def _place(self, candidate: Candidate) -> None:
        home, slot = candidate.home, candidate.slot
        if isinstance(candidate.key, BoundKey):
            candidate.bound = candidate.key.bound
            home.add(candidate)
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
        below._hangs_at = home, slot
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
            home.remove(candidate)
        else:
            drop(home, candidate.slot, candidate)
        self._count(-1)
        if home is not None and not home:
            self._forget(home)
        if self.is_empty:
            self._come_off()

    def _come_off(self) -> None:
        """Leave the parent, now that nothing is filed here any more."""
        parent, (home, slot) = self._parent, self._hangs_at
        if parent is None:
            return
        del home[slot]
        if not home:
            parent._forget(home)
        if parent.is_empty:
            parent._come_off()

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
        by_path: dict[Path, list[tuple[int, Callable[[Any], Held]]]] = {}
        for (path, width), table in self._cells.items():
            by_path.setdefault(path, []).append((width, table.get))
        self._cell_lookups = tuple(by_path.items())
        self._bound_lists = tuple((*name, bounds) for name, bounds in self._bounds.items())


def _pour_tested(candidates: Iterable[Candidate], fields: Fields, out: list[Match]) -> None:
    for candidate in candidates:
        if candidate.test is None or candidate.test(fields):
            out.append(candidate.match)


def _spread(key: FilingKey) -> float:
    """How many places a key stands for, but for the first; without end, if no event could find it there."""
    match key:
        case EqualityKey(_, values):
            return len(values) - 1 if all(value == value for value in values) else inf
        case IntervalKey(_, low, high):
            return 2 if isfinite(low) and isfinite(high) else inf
        case BoundKey(_, _, bound):
            return 0 if bound == bound else inf


def _slot_of(value: Any) -> Any:
    """What stands for a value in a table: `None`, which no table has, for one that equals nothing."""
    kind = type(value)
    if kind is str or kind is int or kind is float:
        return value
    if kind is bool:
        return _TRUE if value else _FALSE
    return None


def _float_of(value: Any) -> float | None:
    """The float nearest to a number; `None` for what is none, or what none is near."""
    if kind_of(value) is not Kind.NUMBER:
        return None
    try:
        return float(value)
    except OverflowError:
        return None
