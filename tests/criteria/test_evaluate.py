from __future__ import annotations

import math
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given

from ramify.criteria import MISSING, holds, parse_criteria, resolve
from ramify.criteria.evaluate import is_like, truth
from ramify.model import All, AnyOf, Criteria, Fields, Not, Term
from tests.criteria.cases import CRITERIA_CASES, CriteriaCase
from tests.criteria_strategies import contents, terms, wild_contents


@pytest.mark.parametrize("case", CRITERIA_CASES, ids=str)
def test_the_judge_agrees_with_the_table(case: CriteriaCase) -> None:
    assert holds(parse_criteria(case.criteria), case.fields) is case.expected


@given(terms(), wild_contents())
def test_no_content_makes_it_raise(term: Term, fields: Fields) -> None:
    assert holds(Criteria("", term), fields) in (True, False)


@given(terms(), terms(), contents())
def test_de_morgan_holds_with_missing_fields_too(one: Term, other: Term, fields: Fields) -> None:
    neither = truth(Not(AnyOf((one, other))), fields)
    assert neither is truth(All((Not(one), Not(other))), fields)


@given(terms(), contents())
def test_not_twice_is_nothing(term: Term, fields: Fields) -> None:
    assert truth(Not(Not(term)), fields) is truth(term, fields)


@given(terms(), contents())
def test_a_term_and_its_negation_never_both_hold(term: Term, fields: Fields) -> None:
    assert not (holds(Criteria("", term), fields) and holds(Criteria("", Not(term)), fields))


@pytest.mark.parametrize("text", ["a = 1", "a < 1", "a > 1", "a >= 1", "a in (1)", "a between 0 and 2"])
def test_nan_equals_nothing_and_has_no_order(text: str) -> None:
    assert not holds(parse_criteria(text), {"a": math.nan})
    assert holds(parse_criteria(f"not {text}"), {"a": math.nan})


def test_infinity_is_ordered_above_every_number() -> None:
    assert holds(parse_criteria(f"a > {10**600}"), {"a": math.inf})
    assert holds(parse_criteria(f"a < -{10**600}"), {"a": -math.inf})


@pytest.mark.parametrize("value", [[], [1], (), {}, {"b": 1}, b"1", object()])
def test_what_is_not_a_number_text_or_boolean_only_exists(value: Any) -> None:
    fields = {"a": value}
    assert holds(parse_criteria("exists(a) and a != 1 and not a < 1 and not a like '%'"), fields)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (("a",), {"b": 1, "n": None}),
        (("a", "b"), 1),
        (("a", "n"), MISSING),
        (("a", "x"), MISSING),
        (("a", "b", "c"), MISSING),
        (("x", "y"), MISSING),
    ],
)
def test_a_path_walks_mappings_and_nothing_else(path: tuple[str, ...], expected: Any) -> None:
    assert resolve({"a": {"b": 1, "n": None}}, path) == expected


def test_a_path_walks_mappings_that_are_not_dicts() -> None:
    assert resolve(MappingProxyType({"a": MappingProxyType({"b": 1})}), ("a", "b")) == 1


def test_like_with_many_pieces_takes_linear_time() -> None:
    text = "a" * 60_000
    assert is_like(text, ("", *["a"] * 20_000, ""))
    assert not is_like(text, ("", *["a"] * 20_000, "b", ""))
