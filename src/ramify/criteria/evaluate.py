"""The plain meaning of criteria: slow, obvious, and the judge of every faster way.

A comparison with a missing field is neither true nor false but unknown. Unknown stays unknown
under `not`, travels through `and` and `or` as in Kleene's logic, and at the top it is false.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any, Final, assert_never

from ramify.criteria.kinds import Kind, are_equal, have_order, kind_of
from ramify.model import (
    All,
    AnyOf,
    Atom,
    Between,
    Comparison,
    Criteria,
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

Truth = bool | None
"""True, false, or unknown."""


class Missing(Enum):
    """The value of a field that is not there."""

    MISSING = "missing"


MISSING: Final = Missing.MISSING

ORDER: dict[Operator, Callable[[Any, Any], bool]] = {
    Operator.LT: operator.lt,
    Operator.LE: operator.le,
    Operator.GT: operator.gt,
    Operator.GE: operator.ge,
}


def holds(criteria: Criteria, fields: Fields) -> bool:
    """Say whether an event with these fields meets the criteria."""
    return truth(criteria.term, fields) is True


def truth(term: Term, fields: Fields) -> Truth:
    """Say whether a term is true, false or unknown of these fields."""
    match term:
        case All(terms):
            return _all_of(truth(part, fields) for part in terms)
        case AnyOf(terms):
            return _negated(_all_of(_negated(truth(part, fields)) for part in terms))
        case Not(part):
            return _negated(truth(part, fields))
        case Exists(path):
            return resolve(fields, path) is not MISSING
        case _:
            value = resolve(fields, term.path)
            return None if value is MISSING else accepts(term, value)


def accepts(atom: Atom, value: Any) -> bool:
    """Say whether a comparison is true of a value that is there."""
    match atom:
        case Comparison(_, sign, wanted):
            return _compares(value, sign, wanted)
        case Membership(_, values):
            return any(are_equal(value, wanted) for wanted in values)
        case Between(_, low, high):
            return _compares(value, Operator.GE, low) and _compares(value, Operator.LE, high)
        case Like(_, pieces):
            return kind_of(value) is Kind.TEXT and is_like(value, pieces)
        case Exists():
            return True
        case _:
            assert_never(atom)


def resolve(fields: Fields, path: Path) -> Any:
    """Walk a path into nested content; a missing step, or null at the end, is `MISSING`."""
    value: Any = fields
    for name in path:
        value = step(value, name)
    return MISSING if value is None else value


def step(value: Any, name: str) -> Any:
    """Take one step into a mapping; `None` stands for a missing or null field."""
    if type(value) is dict:
        return value.get(name)
    # Only the type is asked: a value's own __class__ may be a property that raises.
    if not issubclass(type(value), Mapping):
        return None
    try:
        return value.get(name)
    except Exception:  # a mapping of someone else's making that cannot answer has no such field
        return None


def is_like(text: str, pieces: tuple[str, ...]) -> bool:
    """Say whether the pieces stand in the text in order, the outer ones at its ends."""
    if len(pieces) == 1:
        return text == pieces[0]
    first, *inner, last = pieces
    if len(text) < len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
        return False
    # The leftmost place of each piece leaves the most room for the next, so nothing is retried.
    position, end = len(first), len(text) - len(last)
    for piece in inner:
        found = text.find(piece, position, end)
        if found < 0:
            return False
        position = found + len(piece)
    return True


def _compares(value: Any, sign: Operator, wanted: Scalar) -> bool:
    if sign is Operator.EQ:
        return are_equal(value, wanted)
    if sign is Operator.NE:
        return not are_equal(value, wanted)
    return have_order(value, wanted) and ORDER[sign](value, wanted)


def _negated(truth: Truth) -> Truth:
    return None if truth is None else not truth


def _all_of(truths: Iterable[Truth]) -> Truth:
    """Kleene's `and`: one false settles it, else one unknown does."""
    seen = set(truths)
    return False if False in seen else None if None in seen else True
