"""`parse_pattern` finds the dialect, and refuses what does not fit together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify.errors import InvalidPattern, InvalidSubscription, UnknownDialect
from ramify.model import Dialect, Exact, Pattern
from ramify.patterns import parse_pattern
from tests.strategies import dialects, patterns, topics


def test_the_dialect_is_mqtt_unless_another_is_named() -> None:
    assert parse_pattern("a/+") == parse_pattern("a/+", Dialect.MQTT) == parse_pattern("a/+", "mqtt")


def test_an_unknown_dialect_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(
        UnknownDialect, match="unknown dialect 'amqp'; the dialects are mqtt, wamp"
    ) as refused:
        parse_pattern("a", "amqp")
    assert refused.value.known == tuple(Dialect)


@pytest.mark.parametrize("dialect", [dialect for dialect in Dialect if dialect is not Dialect.WAMP])
def test_match_is_refused_for_every_dialect_but_wamp(dialect: Dialect) -> None:
    with pytest.raises(InvalidSubscription, match=f"an option of wamp, and the dialect is {dialect}"):
        parse_pattern("a", dialect, match="prefix")


@pytest.mark.parametrize("dialect", [dialect for dialect in Dialect if dialect is not Dialect.WAMP])
def test_the_empty_text_is_refused(dialect: Dialect) -> None:
    with pytest.raises(InvalidPattern) as refused:
        parse_pattern("", dialect)
    assert refused.value.column == 1


@pytest.mark.parametrize("dialect", Dialect)
def test_a_pattern_without_wildcards_is_exact_in_every_dialect(dialect: Dialect) -> None:
    for text in ("a", "a/b", "a.b", "$s/é"):
        assert parse_pattern(text, dialect) == Pattern(text, dialect, Exact(text))


@given(st.data(), dialects())
def test_the_text_of_a_pattern_is_kept(data: st.DataObject, dialect: Dialect) -> None:
    text = data.draw(patterns(dialect))
    assert parse_pattern(text, dialect).text == text


@given(st.text("ab/.+#*>_$ \0é", max_size=8) | topics(), dialects())
def test_any_text_is_read_or_refused_at_a_column_within_it(text: str, dialect: Dialect) -> None:
    refusal = refusal_of(text, dialect)
    assert refusal is None or refusal.text == text
    assert refusal is None or 1 <= refusal.column <= len(text) + 1


def refusal_of(text: str, dialect: Dialect) -> InvalidPattern | None:
    try:
        parse_pattern(text, dialect)
    except InvalidPattern as refusal:
        return refusal
    return None
