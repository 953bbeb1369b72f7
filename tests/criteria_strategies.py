"""Hypothesis strategies for criteria: terms and contents that often meet, and wild contents.

Fields and values come from small alphabets, so that a random term often holds for a random event.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal
from types import MappingProxyType
from typing import Any, NoReturn

from hypothesis import strategies as st

from ramify.criteria.like import read_like
from ramify.model import (
    All,
    AnyOf,
    Atom,
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

BIG = 2**53

NAMES = ("a", "b", "c", "in", "x y")
NUMBERS = (0, 1, 2, 3, 1.0, 1.5, 2.5, -1, -0.0, 1e300, BIG, BIG + 1, float(BIG), 10**30)
TEXTS = ("", "a", "ab", "b", "ba", "aba", "it's", "%", "\\", "1", "a%b", "é", "\U0010ffff", "a\U0010ffff")


class _Hostile:
    """Raises at every question that a value can be asked."""

    def _raise(self, *_: object) -> NoReturn:
        raise RuntimeError("do not ask")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _raise
    __hash__ = __bool__ = __len__ = __iter__ = __str__ = _raise

    def __repr__(self) -> str:  # Hypothesis shows the values it tries
        return "hostile"

    @property  # type: ignore[misc]
    def __class__(self) -> NoReturn:  # type: ignore[override]
        raise RuntimeError("do not ask")


class _HostileText(str):
    __slots__ = ()
    __eq__ = __lt__ = __gt__ = __hash__ = _Hostile._raise


class _HostileNumber(int):
    __eq__ = __lt__ = __gt__ = __hash__ = _Hostile._raise


class _HostileMapping(Mapping[str, Any]):
    def __getitem__(self, name: str) -> NoReturn:
        raise RuntimeError("do not ask")

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError("do not ask")

    def __len__(self) -> int:
        raise RuntimeError("do not ask")


ODD: tuple[Any, ...] = (
    float("nan"),
    float("inf"),
    -float("inf"),
    10**5000,
    -(10**400),
    b"a",
    Decimal(1),
    date(2020, 1, 1),
    {1, 2},
    _Hostile(),
    _HostileText("a"),
    _HostileNumber(1),
    _HostileMapping(),
    _Hostile,
    object(),
)
"""What a text-based format never carries, but a program can put into an event."""


def paths() -> st.SearchStrategy[Path]:
    name = st.sampled_from(NAMES)
    return st.one_of(st.tuples(name), st.tuples(name), st.tuples(name, name))


def scalars() -> st.SearchStrategy[Scalar]:
    return st.sampled_from([*NUMBERS, *TEXTS, True, False])


def like_pieces() -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(["%", "a", "b", "ab"]), max_size=4).map("".join).map(read_like)


def atoms() -> st.SearchStrategy[Atom]:
    return st.one_of(
        st.builds(Comparison, paths(), st.sampled_from(Operator), scalars()),
        st.builds(Membership, paths(), st.lists(scalars(), max_size=4).map(tuple)),
        st.builds(Between, paths(), scalars(), scalars()),
        st.builds(Like, paths(), like_pieces()),
        st.builds(Exists, paths()),
    )


def _joins(parts: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
    several = st.lists(parts, max_size=3).map(tuple)
    return st.one_of(st.builds(All, several), st.builds(AnyOf, several), st.builds(Not, parts))


def terms() -> st.SearchStrategy[Term]:
    return st.recursive(atoms(), _joins, max_leaves=8)


def contents() -> st.SearchStrategy[Fields]:
    """Contents that JSON can carry, made of the names and values of the terms."""
    leaves = st.one_of(scalars(), scalars(), st.none(), st.just([1]))
    inner = st.dictionaries(st.sampled_from(NAMES), leaves, max_size=3)
    return st.dictionaries(st.sampled_from(NAMES), st.one_of(leaves, leaves, inner), max_size=5)


def wild_values() -> st.SearchStrategy[Any]:
    """Anything at all, also what raises when it is looked at."""
    # Drawn by place, since Hypothesis would write out what it samples from.
    odd = st.integers(0, len(ODD) - 1).map(ODD.__getitem__)
    leaves = st.one_of(odd, scalars(), st.none(), st.text(max_size=3), st.integers(), st.floats())
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
            st.dictionaries(st.sampled_from(NAMES), inner, max_size=3).map(MappingProxyType),
        ),
        max_leaves=6,
    )


def wild_contents() -> st.SearchStrategy[Fields]:
    return st.dictionaries(st.sampled_from(NAMES), wild_values(), max_size=5)
