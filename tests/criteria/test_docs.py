from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ramify.criteria import from_json, holds, parse_criteria
from ramify.errors import InvalidCriteria
from ramify.model import Fields

PAGE = (Path(__file__).parents[2] / "docs" / "criteria.md").read_text("utf-8")

REFUSALS = re.findall(r"^    (.+)\n    ( *)\^ column (\d+): (.+)$", PAGE, re.MULTILINE)
LIKES = re.findall(r"^\| `like '(.+)'` \| (.+) \| (.+) \|$", PAGE, re.MULTILINE)
ANSWERS = re.findall(r"^\| `(.+)` \| (yes|no) \| (yes|no) \| (yes|no) \| (yes|no) \|$", PAGE, re.MULTILINE)

EVENTS: list[Fields] = [{}, {"a": None}, {"a": 1}, {"a": 2}]


def test_the_page_has_examples_to_check() -> None:
    assert len(REFUSALS) == 9
    assert len(LIKES) == 6
    assert len(ANSWERS) == 6


@pytest.mark.parametrize(("text", "blanks", "column", "reason"), REFUSALS)
def test_the_refusals_on_the_page_are_the_real_ones(text: str, blanks: str, column: str, reason: str) -> None:
    with pytest.raises(InvalidCriteria) as caught:
        parse_criteria(text)
    assert (caught.value.column, caught.value.reason) == (int(column), reason)
    assert len(blanks) + 1 == caught.value.column, "the caret stands under the column"


@pytest.mark.parametrize(("shape", "likes", "others"), LIKES)
def test_the_likes_on_the_page_are_right(shape: str, likes: str, others: str) -> None:
    criteria = parse_criteria(f"a like '{shape}'")
    for text in re.findall("`(.+?)`", likes):
        assert holds(criteria, {"a": text})
    for text in re.findall("`(.+?)`", others):
        assert not holds(criteria, {"a": text})


@pytest.mark.parametrize("row", ANSWERS, ids=lambda row: row[0])
def test_the_answers_on_missing_fields_are_right(row: tuple[str, ...]) -> None:
    text, *answers = row
    for fields, answer in zip(EVENTS, answers, strict=True):
        assert holds(parse_criteria(text), fields) is (answer == "yes")


def test_the_stored_form_on_the_page_is_what_its_text_says() -> None:
    (example,) = re.findall(r'^\{"text".+$', PAGE, re.MULTILINE)
    criteria = from_json(json.loads(example))
    assert criteria == parse_criteria(criteria.text)
