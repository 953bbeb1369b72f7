"""What a value is, to criteria: a number, a text, a boolean, or something that is only there.

Kinds are read off the exact type and nothing of the value itself is called, so content can hold
any object, however odd its `__eq__` or `__hash__`, and asking for its kind never raises.
"""

from __future__ import annotations

from enum import Enum
from typing import Any


class Kind(Enum):
    """The kinds of values; values of different kinds are never equal and have no order."""

    NUMBER = "number"
    TEXT = "text"
    BOOLEAN = "boolean"
    OTHER = "other"
    """Lists, objects, bytes, dates, …: they exist, but equal nothing and have no order."""


ORDERED = frozenset({Kind.NUMBER, Kind.TEXT})
"""The kinds whose values can be less or greater than each other."""


def kind_of(value: object) -> Kind:
    """Say which kind a value is."""
    # Identity tests and not a dict: looking a type up would call its metaclass's __hash__.
    exact = type(value)
    if exact is str:
        return Kind.TEXT
    if exact is int or exact is float:
        return Kind.NUMBER
    return Kind.BOOLEAN if exact is bool else Kind.OTHER


def are_equal(value: Any, wanted: Any) -> bool:
    """Say whether two values are of one kind and equal; `5` and `5.0` are, `1` and `true` are not."""
    kind = kind_of(value)
    return kind is not Kind.OTHER and kind is kind_of(wanted) and bool(value == wanted)


def have_order(value: Any, wanted: Any) -> bool:
    """Say whether one of two values can be less than the other."""
    kind = kind_of(value)
    return kind in ORDERED and kind is kind_of(wanted)
