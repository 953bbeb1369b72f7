"""Tests the literals of many clauses on many events at once.

Most literals compare a field with a number, a text or a boolean; those become a code and a
constant, and numpy tests them all together. A literal of another kind, or one whose number no
float is exactly, is left to `criteria`, which tests it event by event.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ramify.criteria import Literal
from ramify.criteria.kinds import Kind, kind_of
from ramify.frozen.columns import ABSENT, BOOLEAN, NUMBER, TEXT, Column, Floats, nearest_float
from ramify.frozen.texts import I32, I64, Bytes, Flags
from ramify.model import Between, Comparison, Exists, Not, Operator, Path, Scalar

_ORDER: dict[Operator, Callable[[Any, Any], Any]] = {
    Operator.LT: np.less,
    Operator.LE: np.less_equal,
    Operator.GT: np.greater,
    Operator.GE: np.greater_equal,
}


@dataclass(frozen=True, slots=True)
class Fields:
    """The columns of a batch: a row of each matrix for each field."""

    kinds: Bytes
    numbers: Floats
    inexact: Flags
    texts: I32

    @classmethod
    def from_columns(cls, columns: list[Column], rows: int) -> Fields:
        """Lay columns of so many rows above each other."""
        shape = (len(columns), rows)
        fields = cls(
            np.empty(shape, np.uint8), np.empty(shape), np.empty(shape, np.bool_), np.empty(shape, np.int32)
        )
        for at, column in enumerate(columns):
            fields.kinds[at], fields.numbers[at] = column.kinds, column.numbers
            fields.inexact[at], fields.texts[at] = column.inexact, column.texts
        return fields


@dataclass(frozen=True, slots=True)
class Encoded:
    """A literal as numbers."""

    field: int
    code: int
    number: float = 0.0
    text: int = 0


Test = Callable[[Bytes, Floats, I32, Floats, I32], Flags]
"""Takes the kinds, numbers and texts that stand there, and the constants to compare with."""


def _compares(operator: Operator) -> Test:
    return lambda kinds, numbers, _, wanted, __: (kinds == NUMBER) & _ORDER[operator](numbers, wanted)


def _equals_number(kind: int) -> Test:
    return lambda kinds, numbers, _, wanted, __: (kinds == kind) & (numbers == wanted)


def _differs_from_number(kind: int) -> Test:
    return lambda kinds, numbers, _, wanted, __: (kinds != ABSENT) & ~((kinds == kind) & (numbers == wanted))


# The code of a literal is its place in this table.
TESTS: tuple[Test, ...] = (
    *(_compares(operator) for operator in _ORDER),
    _equals_number(NUMBER),
    _differs_from_number(NUMBER),
    _equals_number(BOOLEAN),
    _differs_from_number(BOOLEAN),
    lambda kinds, _, texts, __, wanted: (kinds == TEXT) & (texts == wanted),
    lambda kinds, _, texts, __, wanted: (kinds != ABSENT) & ~((kinds == TEXT) & (texts == wanted)),
    lambda kinds, *_: kinds != ABSENT,
    lambda kinds, *_: kinds == ABSENT,
)
_ORDER_CODES = {operator: code for code, operator in enumerate(_ORDER)}
_EQUALITY_CODES = {Kind.NUMBER: 4, Kind.BOOLEAN: 6, Kind.TEXT: 8}
_EXISTS, _IS_ABSENT = 10, 11


def encode(literal: Literal, fields: Mapping[Path, int], texts: Mapping[str, int]) -> list[Encoded] | None:
    """A literal as codes that must all hold, or `None` if it has to be tested by `criteria`."""
    match literal:
        case Comparison(path, Operator.EQ | Operator.NE as operator, value):
            return _encoded_equality(fields[path], operator, value, texts)
        case Comparison(path, operator, value):
            return _encoded_order(fields[path], operator, value)
        case Between(path, low, high):
            ends = (
                _encoded_order(fields[path], Operator.GE, low),
                _encoded_order(fields[path], Operator.LE, high),
            )
            return None if ends[0] is None or ends[1] is None else ends[0] + ends[1]
        case Exists(path):
            return [Encoded(fields[path], _EXISTS)]
        case Not(Exists(path)):
            return [Encoded(fields[path], _IS_ABSENT)]
    return None


def holds(codes: Bytes, at_fields: I32, rows: I64, numbers: Floats, texts: I32, fields: Fields) -> Flags:
    """Whether each literal holds in its row."""
    kinds = fields.kinds[at_fields, rows]
    their_numbers = fields.numbers[at_fields, rows]
    their_texts = fields.texts[at_fields, rows]
    answer = np.empty(len(codes), dtype=np.bool_)
    for code in np.unique(codes).tolist():
        at = np.flatnonzero(codes == code)
        answer[at] = TESTS[code](kinds[at], their_numbers[at], their_texts[at], numbers[at], texts[at])
    return answer


def _encoded_equality(
    field: int, operator: Operator, value: Scalar, texts: Mapping[str, int]
) -> list[Encoded] | None:
    kind = kind_of(value)
    code = _EQUALITY_CODES[kind] + (operator is Operator.NE)
    if isinstance(value, str):
        return [Encoded(field, code, text=texts[value])]
    near, is_inexact = nearest_float(value)
    return None if is_inexact else [Encoded(field, code, near)]


def _encoded_order(field: int, operator: Operator, value: Scalar) -> list[Encoded] | None:
    if kind_of(value) is not Kind.NUMBER or isinstance(value, str):
        return None
    near, is_inexact = nearest_float(value)
    return None if is_inexact else [Encoded(field, _ORDER_CODES[operator], near)]
