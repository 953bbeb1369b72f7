"""Every dialect refuses the texts that no surface can carry."""

import pytest

from ramify.errors import InvalidPattern, InvalidTopic
from ramify.model import Dialect
from ramify.patterns import parse_pattern, validate_topic

UNUSABLE = [
    ("a\0b", 2, "NUL is not allowed"),
    ("é\0b", 2, "NUL is not allowed"),
    ("ab\ud800", 3, "a lone surrogate is not allowed"),
    ("a" * 65_536, 65_536, "the text goes on after 65,535 bytes of UTF-8"),
    ("é" * 32_768, 32_768, "the text goes on after 65,535 bytes of UTF-8"),
]


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize(("text", "column", "reason"), UNUSABLE, ids=range(len(UNUSABLE)))
def test_an_unusable_text_is_refused_at_its_first_unusable_character(
    text: str, column: int, reason: str, dialect: Dialect
) -> None:
    with pytest.raises(InvalidPattern) as refused_pattern:
        parse_pattern(text, dialect)
    with pytest.raises(InvalidTopic) as refused_topic:
        validate_topic(text, dialect)
    for refused in (refused_pattern.value, refused_topic.value):
        assert (refused.column, refused.reason) == (column, reason)


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("text", ["a" * 65_535, "é" * 32_767, "😀", "\ufeffa", "\uffff"], ids=range(5))
def test_the_longest_and_the_oddest_texts_are_taken_as_they_are(text: str, dialect: Dialect) -> None:
    assert parse_pattern(text, dialect).text == text
    assert validate_topic(text, dialect) == text
