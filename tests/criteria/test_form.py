from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from ramify.criteria import from_json, parse_criteria, to_json
from ramify.criteria.parse import MOST_DIGITS, MOST_NESTED, MOST_TERMS
from ramify.errors import InvalidCriteria
from ramify.model import ALWAYS, Criteria, Term
from tests.criteria.cases import CRITERIA_CASES
from tests.criteria_strategies import terms


@given(terms())
def test_storing_and_reading_gives_the_same_criteria(term: Term) -> None:
    criteria = Criteria("as written", term)
    assert repr(from_json(json.loads(json.dumps(to_json(criteria))))) == repr(criteria)


@pytest.mark.parametrize("text", sorted({case.criteria for case in CRITERIA_CASES}))
def test_every_text_of_the_table_survives_storing(text: str) -> None:
    criteria = parse_criteria(text)
    assert repr(from_json(json.loads(json.dumps(to_json(criteria))))) == repr(criteria)


def test_the_form_is_as_documented() -> None:
    assert to_json(parse_criteria("price > 2 and not exists(x.y)")) == {
        "text": "price > 2 and not exists(x.y)",
        "term": ["and", [">", ["price"], 2], ["not", ["exists", ["x", "y"]]]],
    }
    assert to_json(ALWAYS) == {"text": "", "term": ["and"]}


def test_an_integer_that_other_readers_would_round_is_stored_as_text() -> None:
    assert to_json(parse_criteria("a = 9007199254740993"))["term"] == [
        "=",
        ["a"],
        {"integer": "9007199254740993"},
    ]


@pytest.mark.parametrize(
    "text",
    [
        "not " * MOST_NESTED + "a not in (1)",
        "(b = 1 or c = 1 and " * MOST_NESTED + "a = 1" + ")" * MOST_NESTED,
        " or ".join(["a=1"] * MOST_TERMS),
        f"a = {'9' * MOST_DIGITS}",
    ],
    ids=["nots", "brackets", "terms", "digits"],
)
def test_what_can_be_parsed_can_be_stored(text: str) -> None:
    criteria = parse_criteria(text)
    assert from_json(json.loads(json.dumps(to_json(criteria)))) == criteria


def nested(levels: int) -> list[Any]:
    return ["not", nested(levels - 1)] if levels else ["exists", ["a"]]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (5, 'expected an object of "text" and "term" in criteria, found 5'),
        ({"text": ""}, 'expected an object of "text" and "term" in criteria, found {"text": ""}'),
        ({"text": 5, "term": ["and"]}, "expected a text of at most 65,536 characters in text, found 5"),
        ({"text": "", "term": 5}, "expected a list that starts with a word in term, found 5"),
        ({"text": "", "term": []}, "expected a list that starts with a word in term, found []"),
        ({"text": "", "term": ["xor"]}, 'expected a term in term, found ["xor"]'),
        ({"text": "", "term": ["and", ["=", ["a"]]]}, 'expected a term in term[1], found ["=", ["a"]]'),
        ({"text": "", "term": ["=", "a", 1]}, 'expected a list of texts in term[1], found "a"'),
        ({"text": "", "term": ["=", [], 1]}, "expected a list of texts in term[1], found []"),
        (
            {"text": "", "term": ["not", ["in", ["a"], [1, None]]]},
            "expected a text, a number or a boolean in term[1][2][1], found null",
        ),
        (
            {"text": "", "term": ["=", ["a"], float("inf")]},
            "expected a text, a number or a boolean in term[2], found Infinity",
        ),
        (
            {"text": "", "term": ["=", ["a"], {"integer": "٣"}]},
            'expected a text, a number or a boolean in term[2], found {"integer": "\\u0663"}',
        ),
    ],
)
def test_a_bad_shape_is_refused_with_its_place(value: Any, reason: str) -> None:
    with pytest.raises(InvalidCriteria) as caught:
        from_json(value)
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    "term",
    [
        nested(500),
        ["and", *[["exists", ["a"]]] * (MOST_TERMS + 1)],
        ["=", ["a"], 10**MOST_DIGITS],
        ["=", ["a"], 10**5000],
        ["exists", ["a"] * 65],
    ],
    ids=["nested", "terms", "digits", "unwritable", "path"],
)
def test_what_is_over_a_bound_is_refused(term: Any) -> None:
    with pytest.raises(InvalidCriteria):
        from_json({"text": "", "term": term})
