"""Finds which of many subscriptions may want the same event, without comparing all with all.

Every topic that a pattern matches starts with the pattern's head: the literal text before its
first wildcard. So two patterns can share a topic only if the head of one starts the head of the
other, and looking up the beginnings of a head finds all that may. Likewise, two criteria that
want one field to have different values share no event.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Protocol, TypeVar

from ramify.criteria import Clause
from ramify.model import Comparison, Form, Operator, Path, Scalar
from ramify.patterns.forms import enclosing_globs

Fixed = Mapping[Path, Scalar]
"""The value that each of some fields must have."""


class Placed(Protocol):
    """Something that can have neighbours."""

    @property
    def head(self) -> str:
        """The text that all its topics start with."""

    @property
    def fixed(self) -> Fixed:
        """The values that it asks of fields."""


P = TypeVar("P", bound=Placed)
Bucket = dict[Path | None, dict[Scalar | None, list[P]]]
"""Items by one field that each of them fixes, and by its value there; `None` if it fixes none."""


class Neighbours(dict[str, Bucket[P]]):
    """Items by their heads; add them in the order of their heads."""

    def __init__(self) -> None:
        self._lengths: list[int] = []

    def before(self, item: P) -> Iterator[P]:
        """Every item that was added and may share an event with this one."""
        for length in self._lengths:
            if length > len(item.head):
                return
            yield from _not_excluded(self.get(item.head[:length], {}), item.fixed)

    def add(self, item: P) -> None:
        """File an item."""
        if len(item.head) not in self._lengths:
            self._lengths = sorted([*self._lengths, len(item.head)])
        path, value = next(iter(item.fixed.items()), (None, None))
        by_value = self.setdefault(item.head, {}).setdefault(path, defaultdict(list))
        by_value[value].append(item)


def _not_excluded(bucket: Bucket[P], fixed: Fixed) -> Iterator[P]:
    for path, by_value in bucket.items():
        if path is not None and path in fixed:
            yield from by_value.get(fixed[path], ())
        else:
            for items in by_value.values():
                yield from items


def head_of(form: Form) -> str:
    """The text that every topic of the form starts with."""
    return min((pieces[0] for pieces in enclosing_globs(form)), key=len)


def fixed_by(alternatives: tuple[Clause, ...] | None) -> Fixed:
    """The values that criteria ask of fields; those with several alternatives fix none."""
    if alternatives is None or len(alternatives) != 1:
        return {}
    return {
        literal.path: literal.value
        for literal in alternatives[0]
        if isinstance(literal, Comparison) and literal.operator is Operator.EQ
    }
