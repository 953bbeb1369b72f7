"""A translation matches the same topics, or says what is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify.errors import UnknownDialect
from ramify.model import Dialect, Pattern
from ramify.patterns import Translation, parse_pattern, pattern_matches, translate
from tests.strategies import dialects, parsed_patterns, topics, topics_of

SEPARATOR = "levels split at '.', not '/': rewrite topics alike"
SEPARATOR_BACK = "levels split at '/', not '.': rewrite topics alike"
SEVERAL = "a wildcard takes several levels too"
ONE_ONLY = "a wildcard takes one level only"
EMPTY_TOO = "a wildcard takes an empty level too"
NO_EMPTY = "a wildcard takes no empty level"
NOT_ITSELF = "topics without a further level are not matched"
INTERNAL_TOO = "topics that start with '$' are matched too"
NO_INTERNAL = "topics that start with '$' are not matched"

EXACT = [
    ("mqtt", "a/b", "nats", "a/b"),
    ("mqtt", "a/+/b", "path", "a/*/b"),
    ("path", "a/*/b", "mqtt", "a/+/b"),
    ("wamp", "a._.*", "nats", "a.*.>"),
    ("nats", "a.*.>", "wamp", "a._.*"),
    ("nats", "a.>", "glob", "a.*"),
    ("mqtt", "a/+/#", "glob", "a/*"),
    ("mqtt", "a/+/+/#", "glob", "a/*/*"),
    ("glob", "a/*", "mqtt", "a/+/#"),
    ("glob", "a.*", "nats", "a.>"),
    ("glob", "a.*", "wamp", "a.*"),
    ("glob", "*", "nats", ">"),
    ("wamp", "*", "glob", "*"),
]

LOSSY = [
    ("mqtt", "a/#", "glob", "a/*", (NOT_ITSELF,)),
    ("mqtt", "#", "glob", "*", (INTERNAL_TOO,)),
    ("mqtt", "#", "nats", ">", (INTERNAL_TOO,)),
    ("mqtt", "+/a", "path", "*/a", (INTERNAL_TOO,)),
    ("mqtt", "a/#", "nats", "a.>", (SEPARATOR, NOT_ITSELF)),
    ("mqtt", "a/+", "wamp", "a._", (SEPARATOR, NO_EMPTY)),
    ("mqtt", "$share/g/a", "nats", "a", ("the share group 'g'",)),
    ("path", "*/a", "mqtt", "+/a", (NO_INTERNAL,)),
    ("path", "a/*/b", "glob", "a/*/b", (SEVERAL,)),
    ("nats", "a.>", "mqtt", "a/+/#", (SEPARATOR_BACK,)),
    ("nats", "a.*", "path", "a/*", (SEPARATOR_BACK, EMPTY_TOO)),
    ("nats", "a.*.>", "glob", "a.*.*", (EMPTY_TOO,)),
    ("glob", "a/*/b", "mqtt", "a/+/b", (ONE_ONLY,)),
    ("glob", "a/*", "path", "a/*", (ONE_ONLY,)),
    ("glob", "*", "mqtt", "#", (NO_INTERNAL,)),
    ("glob", "a.*.*", "nats", "a.*.>", (NO_EMPTY,)),
]

IMPOSSIBLE = [
    ("mqtt", "a*", "glob", "'a*' means something else in glob"),
    ("path", "a+", "mqtt", "'a+' is no pattern in mqtt: '+' must fill its level"),
    ("path", "$share/g/a", "mqtt", "'$share/g/a' means something else in mqtt"),
    ("mqtt", "a b", "nats", "'a b' is no pattern in nats: whitespace is not allowed"),
    ("mqtt", "a/#", "path", "path has no sign for the rest of a topic"),
    ("mqtt", "a.b/+", "nats", "'a.b.*' means something else in nats"),
    ("mqtt", "a//+", "nats", "'a..*' is no pattern in nats: a token has at least one character"),
    ("glob", "a*b", "mqtt", "mqtt has no wildcard for a part of a level"),
    ("glob", "*a", "wamp", "wamp has no wildcard for a part of a component"),
]


@pytest.mark.parametrize(("source", "text", "target", "expected"), EXACT)
def test_what_both_dialects_can_say_is_said_exactly(
    source: str, text: str, target: str, expected: str
) -> None:
    found = translate(parse_pattern(text, source), target)
    assert found == Translation(parse_pattern(expected, target))
    assert found.is_exact


@pytest.mark.parametrize(("source", "text", "target", "expected", "lost"), LOSSY)
def test_what_the_target_says_differently_is_named(
    source: str, text: str, target: str, expected: str, lost: tuple[str, ...]
) -> None:
    found = translate(parse_pattern(text, source), target)
    assert found == Translation(parse_pattern(expected, target), lost)
    assert not found.is_exact


@pytest.mark.parametrize(("source", "text", "target", "reason"), IMPOSSIBLE)
def test_what_the_target_cannot_say_is_refused_with_the_reason(
    source: str, text: str, target: str, reason: str
) -> None:
    found = translate(parse_pattern(text, source), target)
    assert found == Translation(None, (reason,))
    assert not found.is_exact


@pytest.mark.parametrize(
    ("source", "text", "expected", "match"),
    [
        ("glob", "foo*", "foo", "prefix"),
        ("mqtt", "a..b", "a..b", "exact"),
        ("nats", "_.*", "_.", "wildcard"),
    ],
)
def test_wamp_takes_its_own_option_where_the_notation_falls_short(
    source: str, text: str, expected: str, match: str
) -> None:
    found = translate(parse_pattern(text, source), "wamp")
    assert found == Translation(parse_pattern(expected, "wamp", match=match), (), match)


def test_a_prefix_of_wamp_is_a_glob() -> None:
    found = translate(parse_pattern("foo", "wamp", match="prefix"), "glob")
    assert found == Translation(parse_pattern("foo*", "glob"))


def test_an_unknown_dialect_is_refused() -> None:
    with pytest.raises(UnknownDialect):
        translate(parse_pattern("a"), "amqp")


@given(parsed_patterns())
def test_a_pattern_in_its_own_dialect_stays_itself(pattern: Pattern) -> None:
    assert translate(pattern, pattern.dialect) == Translation(pattern)


@given(st.data(), parsed_patterns(), dialects())
def test_an_exact_translation_matches_the_same_topics(
    data: st.DataObject, pattern: Pattern, target: Dialect
) -> None:
    found = translate(pattern, target)
    if found.is_exact and found.pattern is not None:
        topic = data.draw(topics() | topics_of(pattern) | topics_of(found.pattern))
        assert pattern_matches(found.pattern, topic) is pattern_matches(pattern, topic)


@given(parsed_patterns(), dialects())
def test_a_translation_is_written_so_that_it_reads_as_itself(pattern: Pattern, target: Dialect) -> None:
    found = translate(pattern, target)
    if found.pattern is not None and target is not pattern.dialect:
        assert parse_pattern(found.pattern.text, target, match=found.match) == found.pattern
    assert found.pattern is not None or found.lost
