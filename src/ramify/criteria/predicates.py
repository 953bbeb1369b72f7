"""Turns a term into a function of an event's fields: the meaning of `evaluate`, made fast.

Negation is pushed inward to the comparisons, so that no function needs a third answer: each one
says plainly whether its part is true (`wanted`) or whether it is false (not `wanted`). A missing
field gives False to both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, assert_never

from ramify.criteria.evaluate import ORDER, is_like, step
from ramify.criteria.kinds import Kind, have_order, kind_of
from ramify.model import (
    All,
    AnyOf,
    Between,
    Comparison,
    Exists,
    Fields,
    Like,
    Membership,
    Not,
    Operator,
    Path,
    Scalar,
    Term,
)

Predicate = Callable[[Fields], bool]
Test = Callable[[Any], bool]
"""Says whether a comparison is true of a value; of `None`, a missing one, it says False."""


def compile_term(term: Term) -> Predicate:
    """Make the function that says whether a term holds."""
    return _compiled(term, True)


def _compiled(term: Term, wanted: bool) -> Predicate:
    match term:
        case Not(part):
            return _compiled(part, not wanted)
        case All(terms) | AnyOf(terms):
            parts = [_compiled(part, wanted) for part in terms]
            # "Not both" is "one is false": negation turns `and` into `or`, and back.
            return _every(parts) if isinstance(term, All) is wanted else _some(parts)
        case Exists(path):
            return _exists(path) if wanted else _lacks(path)
        case Comparison(path, Operator.NE, value):
            return _compiled(Comparison(path, Operator.EQ, value), not wanted)
        case _:
            test = _test(term)
            return _accepts(term.path, test) if wanted else _rejects(term.path, test)


# ── joining ───────────────────────────────────────────────────────────────────────────────


def _every(parts: list[Predicate]) -> Predicate:
    if len(parts) == 1:
        return parts[0]
    if len(parts) == 2:
        first, second = parts
        return lambda fields: first(fields) and second(fields)

    def every(fields: Fields) -> bool:
        for part in parts:  # noqa: SIM110  # a generator would double the time
            if not part(fields):
                return False
        return True

    return every


def _some(parts: list[Predicate]) -> Predicate:
    if len(parts) == 1:
        return parts[0]
    if len(parts) == 2:
        first, second = parts
        return lambda fields: first(fields) or second(fields)

    def some(fields: Fields) -> bool:
        for part in parts:  # noqa: SIM110  # a generator would double the time
            if part(fields):
                return True
        return False

    return some


# ── reaching the value ────────────────────────────────────────────────────────────────────


def _accepts(path: Path, test: Test) -> Predicate:
    if len(path) == 1:
        name = path[0]
        return lambda fields: test(fields.get(name))
    find = _finder(path)
    return lambda fields: test(find(fields))


def _rejects(path: Path, test: Test) -> Predicate:
    if len(path) == 1:
        name = path[0]
        return lambda fields: (value := fields.get(name)) is not None and not test(value)
    find = _finder(path)
    return lambda fields: (value := find(fields)) is not None and not test(value)


def _exists(path: Path) -> Predicate:
    if len(path) == 1:
        name = path[0]
        return lambda fields: fields.get(name) is not None
    find = _finder(path)
    return lambda fields: find(fields) is not None


def _lacks(path: Path) -> Predicate:
    find = _finder(path)
    return lambda fields: find(fields) is None


def _finder(path: Path) -> Callable[[Fields], Any]:
    def find(fields: Fields) -> Any:
        value: Any = fields
        for name in path:
            value = value.get(name) if type(value) is dict else step(value, name)
        return value

    return find


# ── testing the value ─────────────────────────────────────────────────────────────────────


def _test(atom: Comparison | Membership | Between | Like) -> Test:
    match atom:
        case Comparison(_, Operator.EQ, wanted):
            return _equals(wanted)
        case Comparison(_, sign, wanted):
            return _is_ordered(sign, wanted)
        case Membership(_, values):
            return _is_among(values)
        case Between(_, low, high):
            return _is_between(low, high)
        case Like(_, pieces):
            return _is_like(pieces)
        case _:
            assert_never(atom)


def _never(value: Any) -> bool:
    return False


def _equals(wanted: Scalar) -> Test:
    match kind_of(wanted):
        case Kind.TEXT:
            return lambda value: type(value) is str and value == wanted
        case Kind.NUMBER:
            return lambda value: ((kind := type(value)) is int or kind is float) and value == wanted
        case Kind.BOOLEAN:
            return lambda value: value is wanted
    return _never


def _is_ordered(sign: Operator, wanted: Scalar) -> Test:
    compare = ORDER[sign]
    match kind_of(wanted):
        case Kind.TEXT:
            return lambda value: type(value) is str and compare(value, wanted)
        case Kind.NUMBER:
            return lambda value: ((kind := type(value)) is float or kind is int) and compare(value, wanted)
    return _never


def _is_between(low: Any, high: Any) -> Test:
    if not have_order(low, high):
        return _never
    if kind_of(low) is Kind.TEXT:
        return lambda value: type(value) is str and low <= value <= high
    return lambda value: ((kind := type(value)) is float or kind is int) and low <= value <= high


def _is_among(values: Iterable[Scalar]) -> Test:
    # One set per kind, since True is 1 to a set; NaN is in none, since a set finds it by identity.
    sets: dict[Kind, frozenset[Scalar]] = {
        kind: frozenset(value for value in values if kind_of(value) is kind and value == value)
        for kind in (Kind.TEXT, Kind.NUMBER, Kind.BOOLEAN)
    }
    texts, numbers, booleans = sets[Kind.TEXT], sets[Kind.NUMBER], sets[Kind.BOOLEAN]

    def is_among(value: Any) -> bool:
        kind = type(value)
        if kind is str:
            return value in texts
        if kind is int or kind is float:
            return value in numbers
        return kind is bool and value in booleans

    return is_among


def _is_like(pieces: tuple[str, ...]) -> Test:
    match pieces:
        case (first, ""):
            return lambda value: type(value) is str and value.startswith(first)
        case ("", last):
            return lambda value: type(value) is str and value.endswith(last)
        case ("", inner, ""):
            return lambda value: type(value) is str and inner in value
    return lambda value: type(value) is str and is_like(value, pieces)
