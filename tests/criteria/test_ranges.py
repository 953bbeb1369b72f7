from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ramify.criteria import Range, holds, is_contradictory, parse_criteria, ranges, resolve
from ramify.criteria.ranges import Clause, Literal
from ramify.model import All, Criteria, Fields, Not, Term
from tests.criteria_strategies import atoms, contents


def clause_of(text: str) -> Clause:
    term: Term = parse_criteria(text).term
    return term.terms if isinstance(term, All) else (term,)  # type: ignore[return-value]


def clauses_of_literals() -> st.SearchStrategy[Clause]:
    literal: st.SearchStrategy[Literal] = st.one_of(atoms(), atoms(), atoms().map(Not))
    return st.lists(literal, max_size=4).map(tuple)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = 5", Range(5, True, 5, True)),
        ("a > 5", Range(5, False, None, False)),
        ("a >= 5 and a < 9", Range(5, True, 9, False)),
        ("a >= 5 and a > 5", Range(5, False, None, False)),
        ("a > 3 and a > 5 and a <= 7 and a < 9", Range(5, False, 7, True)),
        ("a between 1 and 9 and a <= 4", Range(1, True, 4, True)),
        ("a in (3, 1, 2)", Range(1, True, 3, True)),
        ("a in ('b', 'a')", Range("a", True, "b", True)),
        ("a like 'Foo%'", Range("Foo", True, "Fop", False)),
        ("a like 'Foo'", Range("Foo", True, "Foo", True)),
        ("a like '%x'", Range("", True, None, False)),
        ("a like '\U0010ffff%'", Range("\U0010ffff", True, None, False)),
    ],
)
def test_the_tightest_interval_is_found(text: str, expected: Range) -> None:
    assert ranges(clause_of(text)) == {("a",): expected}


@pytest.mark.parametrize(
    "text", ["a != 5", "not a < 5", "exists(a)", "a = true", "a in (1, 'x')", "a < true"]
)
def test_what_implies_no_interval_gives_none(text: str) -> None:
    assert ranges(clause_of(text)) == {}


def test_each_field_has_its_own_interval() -> None:
    assert ranges(clause_of("a > 1 and b.c < 'x'")) == {
        ("a",): Range(1, False, None, False),
        ("b", "c"): Range(None, False, "x", False),
    }


@settings(max_examples=500)
@given(clauses_of_literals(), contents())
def test_if_a_clause_holds_every_value_lies_in_its_interval(clause: Clause, fields: Fields) -> None:
    if holds(Criteria("", All(clause)), fields):
        assert not is_contradictory(clause)
        for path, bound in ranges(clause).items():
            assert bound.contains(resolve(fields, path))
            assert not bound.is_empty


@pytest.mark.parametrize(
    ("bound", "is_empty"),
    [
        (Range(), False),
        (Range(low=5), False),
        (Range(5, True, 5, True), False),
        (Range(5, True, 5, False), True),
        (Range(6, True, 5, True), True),
        (Range(5, True, "x", True), True),
    ],
)
def test_an_interval_knows_whether_it_is_empty(bound: Range, is_empty: bool) -> None:
    assert bound.is_empty is is_empty


def test_an_interval_holds_values_of_its_own_kind() -> None:
    assert Range(1, True, 2, False).contains(1.5)
    assert not Range(1, True, 2, False).contains(2)
    assert not Range(1, True, 2, False).contains("1.5")
