from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from ramify.criteria import explain, failure, holds, parse_criteria
from ramify.criteria.explain import shown
from ramify.model import AnyOf, Criteria, Fields, Term
from tests.criteria_strategies import ODD, terms, wild_contents

EVENT = {"price": 3, "side": "x", "meta": {"source": None}, "legs": [1, 2], "live": True}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("price > 30", "price is 3, wanted > 30"),
        ("price = 3 and price > 30", "price is 3, wanted > 30"),
        ("customer_id = 5", "customer_id is missing"),
        ("not customer_id = 5", "customer_id is missing"),
        ("side in ('back', 'lay')", "side is 'x', wanted one of 'back', 'lay'"),
        ("side not in ('x', 'y')", "side is 'x', wanted none of 'x', 'y'"),
        ("price between 5 and 6", "price is 3, wanted between 5 and 6"),
        ("side like 'Foo%'", "side is 'x', wanted like 'Foo%'"),
        ("not price = 3", "price is 3, wanted not = 3"),
        ("exists(meta.source)", "meta.source is missing"),
        ("not exists(price)", "price is 3, wanted missing"),
        ("legs = 1", "legs is a list of 2, wanted = 1"),
        ("meta = 1", "meta is an object of 1, wanted = 1"),
        ("live = 1", "live is true, wanted = 1"),
        (
            "price > 30 or side = 'back'",
            "neither (price is 3, wanted > 30) nor (side is 'x', wanted = 'back')",
        ),
        ("not (price = 3 or side = 'y')", "price is 3, wanted not = 3"),
        ("price in (10, 11, 12, 13, 14, 15, 16)", "price is 3, wanted one of 10, 11, 12, 13, 14 and 2 more"),
    ],
)
def test_a_failure_is_told_in_words(text: str, words: str) -> None:
    assert failure(parse_criteria(text), EVENT) == words
    assert explain(parse_criteria(text), EVENT) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "holds: nothing is asked"),
        ("price > 2", "holds: price is 3, wanted > 2"),
        ("price > 2 and side = 'x'", "holds: price is 3, wanted > 2; side is 'x', wanted = 'x'"),
        ("price > 30 or side = 'x'", "holds: side is 'x', wanted = 'x'"),
        ("not exists(customer_id)", "holds: customer_id is missing"),
        ("exists(price)", "holds: price is 3, wanted any value"),
    ],
)
def test_what_holds_is_told_in_words(text: str, words: str) -> None:
    assert explain(parse_criteria(text), EVENT) == words
    assert failure(parse_criteria(text), EVENT) is None


@given(terms(), wild_contents())
def test_there_is_a_failure_exactly_if_the_criteria_do_not_hold(term: Term, fields: Fields) -> None:
    criteria = Criteria("", term)
    assert (failure(criteria, fields) is None) is holds(criteria, fields)
    assert explain(criteria, fields).startswith("holds: ") is holds(criteria, fields)


def test_what_can_never_hold_has_a_failure_too() -> None:
    assert failure(Criteria("", AnyOf(())), {}) == "no event can meet it"


@pytest.mark.parametrize(
    "value",
    ["x" * 10_000, 10**5000, -(10**300), list(range(10_000)), {"a": "b" * 10_000}],
    ids=["text", "unwritable integer", "integer", "list", "object"],
)
def test_a_long_value_is_shortened(value: Any) -> None:
    assert len(shown(value)) < 60


def test_a_long_alternative_is_shortened() -> None:
    text = " or ".join(f"price = {n}" for n in range(100, 200))
    assert explain(parse_criteria(text), EVENT).endswith(" nor 95 more")


def test_any_value_can_be_shown() -> None:
    for value in ODD:
        assert shown(value)
