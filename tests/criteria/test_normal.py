from __future__ import annotations

import pytest
from hypothesis import given, settings

from ramify.criteria import clauses, holds, never_holds, parse_criteria
from ramify.criteria.normal import CLAUSES_TO_LINT
from ramify.criteria.ranges import Clause
from ramify.model import ALWAYS, All, AnyOf, Comparison, Criteria, Fields, Membership, Not, Operator, Term
from tests.criteria_strategies import contents, terms, wild_contents
from tests.steps import count_steps


def term_of(text: str) -> Term:
    return parse_criteria(text).term


def some_clause_holds(found: tuple[Clause, ...], fields: Fields) -> bool:
    return any(holds(Criteria("", All(clause)), fields) for clause in found)


@settings(max_examples=500)
@given(terms(), contents())
def test_a_term_holds_exactly_if_one_of_its_clauses_does(term: Term, fields: Fields) -> None:
    found = clauses(term, 64)
    if found is not None:
        assert some_clause_holds(found, fields) is holds(Criteria("", term), fields)


@given(terms(), wild_contents())
def test_the_clauses_agree_on_wild_contents(term: Term, fields: Fields) -> None:
    found = clauses(term, 64)
    if found is not None:
        assert some_clause_holds(found, fields) is holds(Criteria("", term), fields)


@given(terms())
def test_a_clause_is_made_of_comparisons_and_their_negations(term: Term) -> None:
    for clause in clauses(term, 64) or ():
        for literal in clause:
            assert not isinstance(literal, All | AnyOf)
            assert not (isinstance(literal, Not) and isinstance(literal.term, All | AnyOf | Not))


def test_always_is_one_clause_that_asks_nothing() -> None:
    assert clauses(ALWAYS.term) == ((),)


def test_what_never_holds_has_no_clause() -> None:
    assert clauses(AnyOf(())) == ()
    assert clauses(term_of("a = 1 and a = 2")) == ()


def test_brackets_are_multiplied_out() -> None:
    found = clauses(term_of("a = 1 and (b = 2 or c = 3)"))
    assert found == clauses(term_of("a = 1 and b = 2 or a = 1 and c = 3"))
    assert found is not None
    assert len(found) == 2


def test_membership_stays_one_literal() -> None:
    assert clauses(term_of("a in (1, 2, 3)")) == ((Membership(("a",), (1, 2, 3)),),)


@pytest.mark.parametrize("text", ["a in (1)", "not a != 1", "not a not in (1)", "not not a = 1"])
def test_an_equality_is_written_as_one(text: str) -> None:
    assert clauses(term_of(text)) == ((Comparison(("a",), Operator.EQ, 1),),)


def test_duplicates_are_dropped_but_one_is_not_true() -> None:
    assert (
        clauses(term_of("a = 1 or a = 1")) == clauses(term_of("a = 1 and a = 1")) == clauses(term_of("a = 1"))
    )
    both = clauses(term_of("a = 1 or a = true"))
    assert both is not None
    assert len(both) == 2


def test_the_limit_is_the_most_clauses_there_may_be() -> None:
    pairs = " and ".join(f"(a{n} = 1 or b{n} = 1)" for n in range(4))
    assert len(clauses(term_of(pairs), 16) or ()) == 16
    assert clauses(term_of(pairs), 15) is None
    assert clauses(term_of(" or ".join(f"a{n} = 1" for n in range(17)))) is None


@pytest.mark.parametrize(
    "text",
    [
        " and ".join(f"(a{n}=1 or b{n}=1)" for n in range(2000)),
        " or ".join(f"a{n}=1" for n in range(4000)),
        " and ".join([f"a{n}=1" for n in range(4000)] + ["(b=1 or c=1)"] * 4),
        "not (" + " or ".join(f"a{n}=1 and b{n}=1" for n in range(2000)) + ")",
        " and ".join(f"a>{n}" for n in range(4000)),
        f"a in ({','.join(map(str, range(6000)))}) and " + " and ".join(f"a!={n}" for n in range(2500)),
    ],
    ids=["product", "sum", "long", "negated", "one field", "many values"],
)
def test_the_work_is_bounded(text: str) -> None:
    term = term_of(text)
    # A blow-up would take more steps than anybody could wait for.
    assert count_steps(lambda: (clauses(term), never_holds(term))) < 30_000_000


@pytest.mark.parametrize(
    "text",
    [
        "a = 1 and a = 2",
        "a = 1 and a = '1'",
        "a > 5 and a < 3",
        "a > 5 and a <= 5",
        "a > 5 and a < 'x'",
        "exists(a) and not exists(a)",
        "a = 1 and not exists(a)",
        "a.b = 1 and not exists(a)",
        "a < true",
        "a between 3 and 2",
        "a between 1 and 'x'",
        "a in (1, 2) and a in (3, 4)",
        "a in (1, 2) and a > 2",
        "a = 1 and a != 1",
        "a like 'x%' and a = 'y'",
        "a like 'x%' and a like 'y%'",
        "(a = 1 or a = 2) and a = 3",
    ],
)
def test_a_contradiction_never_holds(text: str) -> None:
    assert never_holds(term_of(text))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a = 1 or a = 2",
        "a >= 5 and a <= 5",
        "not a < 5 and a < 'x'",
        "not exists(a) and exists(b)",
        "a.b = 1",
    ],
)
def test_what_can_hold_is_not_called_a_contradiction(text: str) -> None:
    assert not never_holds(term_of(text))


def test_a_contradiction_beside_too_many_alternatives_is_seen() -> None:
    many = " or ".join(f"b = {n}" for n in range(CLAUSES_TO_LINT + 1))
    assert never_holds(term_of(f"(a = 1 and a = 2) and ({many})"))
    assert not never_holds(term_of(many))


@given(terms(), contents())
def test_what_holds_once_is_never_said_never_to_hold(term: Term, fields: Fields) -> None:
    if holds(Criteria("", term), fields):
        assert not never_holds(term)
