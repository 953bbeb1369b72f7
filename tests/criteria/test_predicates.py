from __future__ import annotations

import math
from types import MappingProxyType

import pytest
from hypothesis import given, settings

from ramify.criteria import compile_term, holds, parse_criteria
from ramify.model import Criteria, Fields, Membership, Not, Term
from tests.criteria.cases import CRITERIA_CASES, CriteriaCase
from tests.criteria_strategies import contents, terms, wild_contents


@pytest.mark.parametrize("case", CRITERIA_CASES, ids=str)
def test_predicates_agree_with_the_table(case: CriteriaCase) -> None:
    assert compile_term(parse_criteria(case.criteria).term)(case.fields) is case.expected


@settings(max_examples=500)
@given(terms(), contents())
def test_predicates_agree_with_the_judge(term: Term, fields: Fields) -> None:
    assert compile_term(term)(fields) is holds(Criteria("", term), fields)


@given(terms(), wild_contents())
def test_predicates_agree_with_the_judge_on_wild_contents(term: Term, fields: Fields) -> None:
    assert compile_term(term)(fields) is holds(Criteria("", term), fields)


@given(terms(), contents())
def test_predicates_agree_with_the_judge_under_not(term: Term, fields: Fields) -> None:
    assert compile_term(Not(term))(fields) is holds(Criteria("", Not(term)), fields)


def test_one_nan_is_not_among_values_that_hold_the_same_nan() -> None:
    assert not compile_term(Membership(("a",), (math.nan, 1)))({"a": math.nan})


def test_predicates_take_mappings_that_are_not_dicts() -> None:
    fields = MappingProxyType({"a": MappingProxyType({"b": 1}), "c": 2})
    assert compile_term(parse_criteria("a.b = 1 and c = 2").term)(fields)
