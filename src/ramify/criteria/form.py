"""The stored form of criteria: plain JSON values, each term a list that starts with its word.

    {"text": "price > 2 and not exists(x)", "term": ["and", [">", ["price"], 2], ["not", ["exists", ["x"]]]]}

Many JSON readers keep integers only up to 2**53, so a longer one is stored as
`{"integer": "123…"}` and survives them all.
"""

from __future__ import annotations

import json
from math import isfinite
from typing import Any, assert_never

from ramify.criteria.parse import LONGEST_TEXT, MOST_DIGITS, MOST_NESTED, MOST_STEPS, MOST_TERMS
from ramify.errors import InvalidCriteria
from ramify.model import (
    All,
    AnyOf,
    Between,
    Comparison,
    Criteria,
    Exists,
    Like,
    Membership,
    Not,
    Operator,
    Path,
    Scalar,
    Term,
)

LONGEST_PLAIN_INTEGER = 2**53
# A bracket can hold an `or` of `and`s, so a parsed term is up to twice as deep as its text.
DEEPEST_TERM = 2 * MOST_NESTED + 4

_SIGNS = {str(sign): sign for sign in Operator}


def to_json(criteria: Criteria) -> dict[str, Any]:
    """Give the stored form of criteria."""
    return {"text": criteria.text, "term": _stored(criteria.term)}


def from_json(value: Any) -> Criteria:
    """Read criteria from their stored form, or refuse it with the place and what was expected."""
    if not isinstance(value, dict) or value.keys() != {"text", "term"}:
        raise _refusal(value, "criteria", 'an object of "text" and "term"', value)
    text = value["text"]
    if not isinstance(text, str) or len(text) > LONGEST_TEXT:
        raise _refusal(value, "text", f"a text of at most {LONGEST_TEXT:,} characters", text)
    return Criteria(text, _Reader(value).term(value["term"], "term", DEEPEST_TERM))


# ── writing ───────────────────────────────────────────────────────────────────────────────


def _stored(term: Term) -> list[Any]:
    match term:
        case All(terms):
            return ["and", *map(_stored, terms)]
        case AnyOf(terms):
            return ["or", *map(_stored, terms)]
        case Not(part):
            return ["not", _stored(part)]
        case Comparison(path, sign, value):
            return [str(sign), list(path), _stored_value(value)]
        case Membership(path, values):
            return ["in", list(path), [_stored_value(value) for value in values]]
        case Between(path, low, high):
            return ["between", list(path), _stored_value(low), _stored_value(high)]
        case Like(path, pieces):
            return ["like", list(path), list(pieces)]
        case Exists(path):
            return ["exists", list(path)]
        case _:
            assert_never(term)


def _stored_value(value: Scalar) -> Any:
    if type(value) is int and abs(value) > LONGEST_PLAIN_INTEGER:
        return {"integer": str(value)}
    return value


# ── reading ───────────────────────────────────────────────────────────────────────────────


class _Reader:
    """One walk over one stored form; `place` says where the walk is, for a refusal."""

    def __init__(self, whole: Any) -> None:
        self._whole = whole
        self._atoms = 0

    def term(self, value: Any, place: str, depth: int) -> Term:
        self._expect(depth > 0, place, f"at most {DEEPEST_TERM} levels", value)
        is_term = isinstance(value, list) and bool(value) and isinstance(value[0], str)
        self._expect(is_term, place, "a list that starts with a word", value)
        match value:
            case ["and", *parts]:
                return All(self._terms_of(parts, place, depth))
            case ["or", *parts]:
                return AnyOf(self._terms_of(parts, place, depth))
            case ["not", part]:
                return Not(self.term(part, f"{place}[1]", depth - 1))
        return self._atom(value, place)

    def _terms_of(self, parts: list[Any], place: str, depth: int) -> tuple[Term, ...]:
        return tuple(
            self.term(part, f"{place}[{index}]", depth - 1) for index, part in enumerate(parts, start=1)
        )

    def _atom(self, value: list[Any], place: str) -> Term:
        self._atoms += 1
        self._expect(self._atoms <= MOST_TERMS, place, f"at most {MOST_TERMS:,} comparisons", value)
        match value:
            case ["exists", path]:
                return Exists(self._path(path, place))
            case ["in", path, list(values)]:
                listed = [self._value(each, f"{place}[2][{index}]") for index, each in enumerate(values)]
                return Membership(self._path(path, place), tuple(listed))
            case ["between", path, low, high]:
                ends = self._value(low, f"{place}[2]"), self._value(high, f"{place}[3]")
                return Between(self._path(path, place), *ends)
            case ["like", path, pieces]:
                return Like(self._path(path, place), self._texts(pieces, f"{place}[2]"))
            case [sign, path, wanted] if sign in _SIGNS:
                return Comparison(self._path(path, place), _SIGNS[sign], self._value(wanted, f"{place}[2]"))
        raise _refusal(self._whole, place, "a term", value)

    def _path(self, value: Any, place: str) -> Path:
        path = self._texts(value, f"{place}[1]")
        self._expect(len(path) <= MOST_STEPS, f"{place}[1]", f"at most {MOST_STEPS} names", value)
        return path

    def _texts(self, value: Any, place: str) -> tuple[str, ...]:
        is_right = isinstance(value, list) and bool(value) and all(isinstance(each, str) for each in value)
        self._expect(is_right, place, "a list of texts", value)
        return tuple(value)

    def _value(self, value: Any, place: str) -> Scalar:
        match value:
            case bool() | str():
                return value
            case int() if abs(value) < 10**MOST_DIGITS:
                return value
            case float() if isfinite(value):
                return value
            case {"integer": str(digits)} if _is_integer(digits):
                return int(digits)
        raise _refusal(self._whole, place, "a text, a number or a boolean", value)

    def _expect(self, is_right: bool, place: str, expected: str, found: Any) -> None:
        if not is_right:
            raise _refusal(self._whole, place, expected, found)


def _is_integer(text: str) -> bool:
    digits = text.removeprefix("-")
    return len(digits) <= MOST_DIGITS and digits.isascii() and digits.isdigit()


def _refusal(whole: Any, place: str, expected: str, found: Any) -> InvalidCriteria:
    # The stored form has no columns of its own: the place in it goes into the reason.
    return InvalidCriteria(_shown(whole), 1, f"expected {expected} in {place}, found {_shown(found, 60)}")


def _shown(value: Any, longest: int | None = None) -> str:
    try:
        shown = json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        shown = f"a {type(value).__name__}"
    return shown if longest is None or len(shown) <= longest else f"{shown[:longest]}…"
