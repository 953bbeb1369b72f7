from __future__ import annotations

import pytest
from hypothesis import given, settings

from ramify.criteria import holds, parse_criteria, term_to_text
from ramify.criteria.evaluate import truth
from ramify.model import All, AnyOf, Criteria, Fields, Term
from tests.criteria.cases import CRITERIA_CASES
from tests.criteria_strategies import contents, terms


@settings(max_examples=500)
@given(terms(), contents())
def test_the_text_of_a_term_means_the_same(term: Term, fields: Fields) -> None:
    assert truth(parse_criteria(term_to_text(term)).term, fields) is truth(term, fields)


@pytest.mark.parametrize("text", sorted({case.criteria for case in CRITERIA_CASES}))
def test_canonical_text_is_its_own_canonical_text(text: str) -> None:
    canonical = term_to_text(parse_criteria(text).term)
    assert term_to_text(parse_criteria(canonical).term) == canonical


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("", ""),
        ("A=1  AND(b<'x')", "A = 1 and b < 'x'"),
        ("(a = 1 or b = 2) and c = 3", "(a = 1 or b = 2) and c = 3"),
        ("a = 1 or (b = 2 and c = 3)", "a = 1 or b = 2 and c = 3"),
        ("NOT (a = 1 or b = 2)", "not (a = 1 or b = 2)"),
        ("not a in (1,TRUE)", "a not in (1, true)"),
        ("not a = 1", "not a = 1"),
        ("a like 'it''s 5\\%%'", "a like 'it''s 5\\%%'"),
        ('not exists("x y".b)', 'not exists("x y".b)'),
        ('"plain" = 1 and "in" = 2', 'plain = 1 and "in" = 2'),
    ],
)
def test_the_text_is_canonical(text: str, canonical: str) -> None:
    assert term_to_text(parse_criteria(text).term) == canonical


def test_what_the_language_has_no_word_for_is_written_around() -> None:
    never = Criteria("", parse_criteria(term_to_text(AnyOf(()))).term)
    always = Criteria("", parse_criteria(term_to_text(AnyOf((All(()),)))).term)
    for fields in ({}, {"x": 1}):
        assert not holds(never, fields)
        assert holds(always, fields)
