"""What a clause says of each field: the interval its value lies in, or that there can be none."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from ramify.criteria.evaluate import ORDER, accepts
from ramify.criteria.kinds import ORDERED, have_order, kind_of
from ramify.model import (
    Atom,
    Between,
    Comparison,
    Exists,
    Like,
    Membership,
    Not,
    Operator,
    Path,
    Scalar,
)

Literal = Atom | Not
"""A comparison, or a `Not` of one."""

Clause = tuple[Literal, ...]
"""Literals that must all hold."""

# Trying every value against every literal is only worth it, and only safe, when they are few.
MOST_TRIALS = 4_096

_LAST_LETTER = chr(0x10FFFF)


class Range(Struct, frozen=True, gc=False):
    """An interval of numbers or of texts; an end that is None is open."""

    low: Scalar | None = None
    low_included: bool = False
    high: Scalar | None = None
    high_included: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether no value lies in the interval."""
        low: Any = self.low
        high: Any = self.high
        if low is None or high is None:
            return False
        if not have_order(low, high):
            return True
        return bool(low > high) or bool(low == high and not (self.low_included and self.high_included))

    def contains(self, value: Any) -> bool:
        """Say whether a value lies in the interval."""
        return all(accepts(bound, value) for bound in self.comparisons(()))

    def meet(self, other: Range) -> Range:
        """Make the interval of what lies in both, which must be of one kind."""
        low, low_included = _tighter(self._lower(), other._lower(), Operator.GT)
        high, high_included = _tighter(self._upper(), other._upper(), Operator.LT)
        return Range(low, low_included, high, high_included)

    def _lower(self) -> _End:
        return self.low, self.low_included

    def _upper(self) -> _End:
        return self.high, self.high_included

    def comparisons(self, path: Path) -> Iterator[Comparison]:
        """Say the same of a field, as comparisons that must all hold."""
        if self.low is not None:
            yield Comparison(path, Operator.GE if self.low_included else Operator.GT, self.low)
        if self.high is not None:
            yield Comparison(path, Operator.LE if self.high_included else Operator.LT, self.high)


_End = tuple[Scalar | None, bool]


def ranges(clause: Clause) -> dict[Path, Range]:
    """Give the tightest interval that a clause implies for each field it bounds.

    A negated comparison implies none: `not price < 5` also holds for a text.
    """
    found: dict[Path, Range] = {}
    for literal in clause:
        if isinstance(literal, Not) or (bound := _range(literal)) is None:
            continue
        known = found.get(literal.path)
        if known is None:
            found[literal.path] = bound
        elif _are_of_one_kind(known, bound):
            found[literal.path] = known.meet(bound)
    return found


def is_contradictory(clause: Clause) -> bool:
    """Say whether a clause is sure never to hold; False is no promise of the contrary."""
    by_path: dict[Path, list[Literal]] = defaultdict(list)
    absent: set[Path] = set()
    for literal in clause:
        if isinstance(literal, Not) and isinstance(literal.term, Exists):
            absent.add(literal.term.path)
        else:
            by_path[_atom(literal).path].append(literal)
    if absent and any(_lies_below(path, absent) for path in by_path):
        return True
    return not all(map(_can_all_hold, by_path.values()))


# ── one comparison ────────────────────────────────────────────────────────────────────────


def _range(atom: Atom) -> Range | None:
    """Give the interval that one comparison implies, if any."""
    match atom:
        case Comparison(_, sign, value) if kind_of(value) in ORDERED:
            return _compared(sign, value)
        case Between(_, low, high) if have_order(low, high):
            return Range(low, True, high, True)
        case Membership(_, values) if values and all(have_order(values[0], value) for value in values):
            return Range(min(values), True, max(values), True)
        case Like(_, pieces):
            return _prefixed(pieces)
    return None


def _compared(sign: Operator, value: Scalar) -> Range | None:
    match sign:
        case Operator.EQ:
            return Range(value, True, value, True)
        case Operator.GT | Operator.GE:
            return Range(low=value, low_included=sign is Operator.GE)
        case Operator.LT | Operator.LE:
            return Range(high=value, high_included=sign is Operator.LE)
    return None


def _prefixed(pieces: tuple[str, ...]) -> Range:
    """Give the interval of the texts that start with the first piece."""
    first = pieces[0]
    if len(pieces) == 1:
        return Range(first, True, first, True)
    # The next text that does not start so: its last letter moves on, if there is a next letter.
    stem = first.rstrip(_LAST_LETTER)
    following = stem[:-1] + chr(ord(stem[-1]) + 1) if stem else None
    return Range(first, True, following, False)


def _tighter(one: _End, other: _End, further: Operator) -> _End:
    """Take the end that leaves less; of equal ends, the one that excludes it."""
    if one[0] is None or other[0] is None:
        return other if one[0] is None else one
    if one[0] == other[0]:
        return one[0], one[1] and other[1]
    return one if accepts(Comparison((), further, other[0]), one[0]) else other


def _are_of_one_kind(one: Range, other: Range) -> bool:
    return have_order(_some_end(one), _some_end(other))


def _some_end(bound: Range) -> Scalar | None:
    return bound.high if bound.low is None else bound.low


# ── all the literals on one field ─────────────────────────────────────────────────────────


def _can_all_hold(literals: list[Literal]) -> bool:
    if len(literals) == 1 and isinstance(literals[0], Comparison):
        return not _is_hopeless(literals[0])  # by far the most common case, so it is made quick
    values = _only_values(literals)
    if values is not None and len(values) * len(literals) <= MOST_TRIALS:
        return any(all(_is_true(literal, value) for literal in literals) for value in values)
    found = [_range(literal) for literal in literals if not isinstance(literal, Not)]
    known = [bound for bound in found if bound is not None]
    if any(not _are_of_one_kind(known[0], bound) for bound in known):
        return False
    whole = Range()
    for bound in known:
        whole = whole.meet(bound)
    return not whole.is_empty and not any(map(_is_hopeless, literals))


def _only_values(literals: list[Literal]) -> tuple[Scalar, ...] | None:
    """List the values that a comparison allows, if one allows only a few; the shortest such list."""
    lists: list[tuple[Scalar, ...]] = []
    for literal in literals:
        match literal:
            case Comparison(_, Operator.EQ, value) | Not(Comparison(_, Operator.NE, value)):
                lists.append((value,))
            case Membership(_, values):
                lists.append(values)
    return min(lists, key=len, default=None)


def _is_hopeless(literal: Literal) -> bool:
    """Say whether a comparison is true of no value: booleans, say, have no order."""
    match literal:
        case Comparison(_, sign, value):
            return sign in ORDER and kind_of(value) not in ORDERED
        case Between(_, low, high):
            return not have_order(low, high)
        case Not(Exists()):
            return True
    return False


def _is_true(literal: Literal, value: Scalar) -> bool:
    return accepts(_atom(literal), value) is not isinstance(literal, Not)


def _atom(literal: Literal) -> Atom:
    if not isinstance(literal, Not):
        return literal
    assert isinstance(literal.term, Atom), "a literal negates nothing but a comparison"
    return literal.term


def _lies_below(path: Path, absent: set[Path]) -> bool:
    """Say whether a field, or something on the way to it, must be missing."""
    return any(path[:length] in absent for length in range(1, len(path) + 1))
