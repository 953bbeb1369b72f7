"""Chooses what to file a clause under: the comparison that the fewest events get past.

A clause may be filed under an equality (one look-up finds it), under an interval of numbers
(a look-up per width of interval in use), or under one bound (a bisection finds all that hold).
Which of its comparisons is best depends on how often events carry which values. Statistics say
so where they are given; without them the subscriptions themselves are the best guess, because
a value that many of them ask for is one that many events have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from ramify.criteria.kinds import Kind, kind_of
from ramify.criteria.ranges import Clause, Literal, Range, ranges
from ramify.criteria.write import term_to_text
from ramify.model import Between, Comparison, Membership, Not, Operator, Path, Scalar, Statistics

# Past this many values, filing a subscription under each of them costs more than testing it.
MANY_VALUES = 64

INTERVAL_SHARE = 0.5
BOUND_SHARE = 0.6


class EqualityKey(Struct, frozen=True, gc=False):
    """Filed under each of a few values of a field; being found there proves the literal."""

    path: Path
    values: tuple[Scalar, ...]
    literal: Literal


class IntervalKey(Struct, frozen=True, gc=False):
    """Filed near the stretch of numbers that a field must lie in; still to be verified."""

    path: Path
    low: float
    high: float
    span: Range
    """The stretch itself, which the floats are only near."""
    literals: tuple[Literal, ...]
    """The literals that lying within it proves."""


class BoundKey(Struct, frozen=True, gc=False):
    """Filed under one bound of a field; proves the literal, if there is one that says just this."""

    path: Path
    operator: Operator
    bound: Any
    literal: Literal | None


FilingKey = EqualityKey | IntervalKey | BoundKey


class Crowds(Protocol):
    """What is filed already: the live counts that a choice without statistics is made from."""

    def filed(self) -> int:
        """How many clauses in all."""

    def filed_under(self, path: Path, value: Scalar) -> int:
        """How many clauses under this value of this field."""


def choose(clause: Clause, crowds: Crowds, statistics: Statistics | None) -> FilingKey | None:
    """The key that is expected to be met least often; `None` if there is none."""
    found: Sequence[FilingKey] = _equalities(clause)
    # A crowd under an equality is filed by its ranges below it, so an equality is never the worse
    # guess; only statistics can say that nearly every event has it.
    if not found or statistics is not None:
        found = keys_of(clause)
    if len(found) < 2:
        return found[0] if found else None
    return min(found, key=lambda key: expected_share(key, crowds, statistics))


def keys_of(clause: Clause) -> list[FilingKey]:
    """Everything that a clause could be filed under, equalities first."""
    equalities = _equalities(clause)
    settled = {key.path for key in equalities}
    bounded = {path: span for path, span in ranges(clause).items() if path not in settled}
    return [*equalities, *(_ranged(path, span, clause) for path, span in bounded.items())]


def expected_share(key: FilingKey, crowds: Crowds, statistics: Statistics | None) -> float:
    """The share of events that is expected to meet a key."""
    recorded = None if statistics is None else statistics.values.get(".".join(key.path))
    if isinstance(key, EqualityKey):
        if recorded is None or statistics is None:
            return _crowded_share(key, crowds)
        return sum(recorded.get(value, 0.5) for value in key.values) / max(statistics.events, 1)
    if recorded is None or statistics is None:
        return INTERVAL_SHARE if isinstance(key, IntervalKey) else BOUND_SHARE
    return _recorded_within(recorded, _test(key)) / max(statistics.events, 1)


def key_to_text(key: FilingKey) -> str:
    """A key in the words of criteria."""
    match key:
        case EqualityKey():
            return term_to_text(key.literal)
        case IntervalKey(path, low, high, _, _):
            return f"{'.'.join(path)} between {low:g} and {high:g}"
        case BoundKey(path, sign, bound):
            return term_to_text(Comparison(path, sign, bound))


def _equalities(clause: Clause) -> list[EqualityKey]:
    return [key for literal in clause if (key := _equality(literal)) is not None]


def _equality(literal: Literal) -> EqualityKey | None:
    match literal:
        case Comparison(path, Operator.EQ, value):
            return EqualityKey(path, (value,), literal)
        case Membership(path, values) if 0 < len(values) <= MANY_VALUES:
            return EqualityKey(path, _distinct(values), literal)
    return None


def _distinct(values: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
    """Each value once; `1` and `true`, which Python takes as equal, are two."""
    return tuple({(value, type(value) is bool): value for value in values}.values())


def _ranged(path: Path, span: Range, clause: Clause) -> FilingKey:
    if kind_of(span.low) is Kind.NUMBER and kind_of(span.high) is Kind.NUMBER:
        try:
            low, high = float(span.low), float(span.high)  # type: ignore[arg-type]
        except OverflowError:
            pass  # an integer that no float reaches: one bound will do
        else:
            return IntervalKey(path, low, high, span, tuple(filter(_is_order, _on(path, clause))))
    if span.low is not None:
        sign, bound = Operator.GE if span.low_included else Operator.GT, span.low
    else:
        sign, bound = Operator.LE if span.high_included else Operator.LT, span.high  # type: ignore[assignment]
    says_it = Comparison(path, sign, bound)
    return BoundKey(path, sign, bound, next((literal for literal in clause if literal == says_it), None))


def _on(path: Path, clause: Clause) -> list[Literal]:
    return [literal for literal in clause if not isinstance(literal, Not) and literal.path == path]


def _is_order(literal: Literal) -> bool:
    """Whether a literal says no more than that a number lies within bounds."""
    match literal:
        case Comparison(_, operator, value):
            return operator not in (Operator.EQ, Operator.NE) and kind_of(value) is Kind.NUMBER
        case Between(_, low, high):
            return kind_of(low) is Kind.NUMBER and kind_of(high) is Kind.NUMBER
    return False


def _crowded_share(key: EqualityKey, crowds: Crowds) -> float:
    filed = sum(crowds.filed_under(key.path, value) for value in key.values)
    return (len(key.values) + filed) / (2 + crowds.filed())


def _recorded_within(recorded: Mapping[Scalar, int], test: Callable[[Any], bool]) -> float:
    return sum(count for value, count in recorded.items() if test(value)) or 0.5


def _test(key: IntervalKey | BoundKey) -> Callable[[Any], bool]:
    if isinstance(key, IntervalKey):
        span = Range(key.low, True, key.high, True)
    elif key.operator in (Operator.GE, Operator.GT):
        span = Range(low=key.bound, low_included=True)
    else:
        span = Range(high=key.bound, high_included=True)
    return span.contains
