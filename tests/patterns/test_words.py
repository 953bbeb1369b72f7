"""Patterns share the words that they have in common."""

import pytest

from ramify.model import Levels
from ramify.patterns import parse_pattern, words


def levels(text: str, dialect: str) -> tuple[str | None, ...]:
    form = parse_pattern(text, dialect).form
    assert isinstance(form, Levels)
    return form.levels


@pytest.mark.parametrize(
    ("text", "dialect"), [("plant/+/#", "mqtt"), ("plant._.x", "wamp"), ("plant.*", "nats")]
)
def test_equal_words_of_two_patterns_are_one_object(text: str, dialect: str) -> None:
    assert levels(text, dialect)[0] is levels(text, dialect)[0]


def test_a_flood_of_new_words_does_not_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "MOST_SHARED", 100)
    for number in range(1_000):
        levels(f"word-{number}/+", "mqtt")
    assert len(words._shared) <= 101
