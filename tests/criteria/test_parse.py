from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify.criteria import parse_criteria
from ramify.criteria.parse import LONGEST_TEXT, MOST_DIGITS, MOST_NESTED, MOST_STEPS, MOST_TERMS
from ramify.errors import InvalidCriteria
from ramify.model import (
    ALWAYS,
    All,
    AnyOf,
    Between,
    Comparison,
    Exists,
    Like,
    Membership,
    Not,
    Operator,
    Term,
)

A = Comparison(("a",), Operator.EQ, 1)
B = Comparison(("b",), Operator.EQ, 2)
C = Comparison(("c",), Operator.EQ, 3)


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("a = 1", A),
        ("a=1 and b=2", All((A, B))),
        ("a = 1 AND b = 2 And c = 3", All((A, B, C))),
        ("a = 1 or b = 2 and c = 3", AnyOf((A, All((B, C))))),
        ("(a = 1 or b = 2) and c = 3", All((AnyOf((A, B)), C))),
        ("not a = 1 and b = 2", All((Not(A), B))),
        ("not (a = 1)", Not(A)),
        ("((a = 1))", A),
        ("\n\t a\n=\n1 \n", A),
        ("a != 'x'", Comparison(("a",), Operator.NE, "x")),
        ("a < -2.5e-3", Comparison(("a",), Operator.LT, -0.0025)),
        ("a <= +7", Comparison(("a",), Operator.LE, 7)),
        ("a in (1, 'x', TRUE)", Membership(("a",), (1, "x", True))),
        ("a not in (1)", Not(Membership(("a",), (1,)))),
        ("a between 1 and 2 and b = 2", All((Between(("a",), 1, 2), B))),
        ("a not between 1 and 2", Not(Between(("a",), 1, 2))),
        ("a.b like 'it''s %'", Like(("a", "b"), ("it's ", ""))),
        ("a not like '%x'", Not(Like(("a",), ("", "x")))),
        ("exists(a.b) or not EXISTS ( c )", AnyOf((Exists(("a", "b")), Not(Exists(("c",)))))),
        ('"customer id"."x.y" = 1', Comparison(("customer id", "x.y"), Operator.EQ, 1)),
    ],
)
def test_a_text_becomes_a_term(text: str, term: Term) -> None:
    criteria = parse_criteria(text)
    assert criteria.text == text
    assert repr(criteria.term) == repr(term)  # == would take 1 for true


@pytest.mark.parametrize("text", ["", " ", "\t\n "])
def test_a_blank_text_always_holds(text: str) -> None:
    assert parse_criteria(text) is ALWAYS


@pytest.mark.parametrize(
    ("text", "column", "reason"),
    [
        ("price > and", 9, "expected a value, found 'and'"),
        ("price >", 8, "expected a value, found the end"),
        ("price", 6, "expected a comparison, found the end"),
        ("price 5", 7, "expected a comparison, found '5'"),
        ("price == 5", 7, "expected a comparison, found '=='; write ="),
        ("price <> 5", 7, "expected a comparison, found '<>'; write !="),
        ("price => 5", 7, "expected a comparison, found '=>'; write >="),
        ("5 < price", 1, "expected a field, found '5'; write the field on the left"),
        ("'x' = side", 1, "expected a field, found 'x'; write the field on the left"),
        ("price = null", 9, "expected a value, found 'null'; write exists(field) or not exists(field)"),
        ("price is null", 7, "expected a comparison, found 'is'; write exists(field) or not exists(field)"),
        ("side = back", 8, "expected a value, found 'back'; write a text in single quotes"),
        ('side = "back"', 8, "expected a value, found '\"back\"'; write a text in single quotes"),
        ("a = 1 && b = 2", 7, "expected 'and', 'or' or the end, found '&&'; write and"),
        ("a = 1 b = 2", 7, "expected 'and', 'or' or the end, found 'b'"),
        ("a = 1)", 6, "expected 'and', 'or' or the end, found ')'"),
        ("(a = 1", 7, "expected 'and', 'or' or ')', found the end"),
        ("()", 2, "expected a field, found ')'"),
        ("a = 1 or", 9, "expected a field, found the end"),
        ("not", 4, "expected a field, found the end"),
        ("a not = 1", 7, "expected 'in', 'between' or 'like', found '='"),
        ("a in 1", 6, "expected '(' after in, found '1'"),
        ("a in ()", 7, "expected a value, found ')'"),
        ("a in (1 2)", 9, "expected ',' or ')', found '2'"),
        ("a between 1 or 2", 13, "expected 'and' of between, found 'or'"),
        ("a like 5", 8, "expected a text in single quotes, found '5'"),
        ("a like 'it''s \\d'", 15, r"expected \% or \\, found a lone backslash"),
        ("exists a", 8, "expected '(' after exists, found 'a'"),
        ("exists(5)", 8, "expected a field, found '5'"),
        ("a = 'open", 5, "expected a value, found ' that is never closed"),
        ('"open = 5', 1, 'expected a field, found " that is never closed'),
        ("a = 5abc", 5, "expected a value, found '5abc'"),
        ("a = 1e999", 5, "expected a number nearer to zero, found '1e999'"),
        (
            "customer-id = 5",
            9,
            "expected a comparison, found '-'; write an odd name in double quotes, as in \"customer-id\"",
        ),
        ("größe == 5", 7, "expected a comparison, found '=='; write ="),
        ("a = 1 and\n  b == 2", 15, "expected a comparison, found '=='; write ="),
    ],
)
def test_a_text_is_refused_with_the_column_and_what_was_expected(text: str, column: int, reason: str) -> None:
    with pytest.raises(InvalidCriteria) as caught:
        parse_criteria(text)
    assert (caught.value.text, caught.value.column, caught.value.reason) == (text, column, reason)


def refused_at(text: str) -> int:
    with pytest.raises(InvalidCriteria) as caught:
        parse_criteria(text)
    return caught.value.column


def test_the_longest_text_is_accepted_and_one_more_character_is_not() -> None:
    assert parse_criteria("a = 1".ljust(LONGEST_TEXT))
    assert refused_at("a = 1".ljust(LONGEST_TEXT + 1)) == LONGEST_TEXT + 1


@pytest.mark.parametrize("opening", ["(", "not "])
def test_the_deepest_nesting_is_accepted_and_one_more_level_is_not(opening: str) -> None:
    def nested(levels: int) -> str:
        return opening * levels + "a = 1" + (")" * levels if opening == "(" else "")

    assert parse_criteria(nested(MOST_NESTED))
    assert refused_at(nested(MOST_NESTED + 1)) == MOST_NESTED * len(opening) + 1


def test_brackets_side_by_side_are_not_nested() -> None:
    assert parse_criteria(" and ".join(["(a = 1)"] * 200))


def test_the_most_terms_are_accepted_and_one_more_is_not() -> None:
    assert parse_criteria(" or ".join(["a=1"] * MOST_TERMS))
    assert refused_at(" or ".join(["a=1"] * (MOST_TERMS + 1))) == 7 * MOST_TERMS + 1


def test_the_longest_path_is_accepted_and_one_more_name_is_not() -> None:
    assert parse_criteria("exists(" + ".".join(["a"] * MOST_STEPS) + ")")
    assert refused_at("exists(" + ".".join(["a"] * (MOST_STEPS + 1)) + ")") == 8


def test_an_integer_may_be_long_but_not_endless() -> None:
    longest = "9" * MOST_DIGITS
    assert parse_criteria(f"a = -{longest}").term == Comparison(("a",), Operator.EQ, -int(longest))
    assert refused_at(f"a = {longest}9") == 5


def column_of_refusal(text: str) -> int:
    """Parse a text, which need not be refused: then say 1."""
    try:
        parse_criteria(text)
    except InvalidCriteria as refusal:
        return refusal.column
    return 1


@given(st.text())
def test_any_text_is_read_or_refused_at_a_column_in_it(text: str) -> None:
    assert 1 <= column_of_refusal(text) <= len(text) + 1


WORDS = [
    "a",
    "and",
    "or",
    "not",
    "(",
    ")",
    "=",
    "in",
    "between",
    "like",
    "exists",
    "1",
    "'x%'",
    ",",
    "<",
    "-",
    "''",
]


@given(st.lists(st.sampled_from(WORDS), max_size=12))
def test_any_words_are_read_or_refused_at_a_column_in_them(words: list[str]) -> None:
    text = " ".join(words)
    assert 1 <= column_of_refusal(text) <= len(text) + 1
