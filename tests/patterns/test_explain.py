"""A mismatch is explained by the first thing that does not fit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify.model import Pattern
from ramify.patterns import explain_mismatch, parse_pattern, pattern_matches
from tests.strategies import parsed_patterns, topics, topics_of

EXPLAINED = [
    ("mqtt", "a/b", "a/c", "the topic is 'a/c', the pattern wants 'a/b'"),
    ("mqtt", "+/c/d", "a/b/e", "level 2 is 'b', the pattern wants 'c'"),
    ("mqtt", "+/b/#", "a//c", "level 2 is empty, the pattern wants 'b'"),
    ("mqtt", "a/+/c", "a/b/c/d", "the topic has 4 levels, the pattern takes 3"),
    ("mqtt", "a/+/#", "a", "the topic has 1 level, the pattern takes 2 or more"),
    ("nats", "a.>", "a", "the topic has 1 level, the pattern takes 2 or more"),
    ("nats", "a.*", "a.", "level 2 is empty, the pattern wants one that is not"),
    ("mqtt", "#", "$SYS/a", "topics that start with '$' are hidden from a leading wildcard"),
    ("glob", "ab*", "ac", "the topic does not start with 'ab'"),
    ("glob", "*/wild*", "plant", "'/wild' does not occur after column 0"),
    ("glob", "plant*wild*", "plant/tame", "'wild' does not occur after column 5"),
    ("glob", "aa*aa", "aaa", "the topic does not end with 'aa' after column 2"),
    ("glob", "a*b", "abc", "the topic does not end with 'b' after column 1"),
]


@pytest.mark.parametrize(("dialect", "pattern", "topic", "words"), EXPLAINED)
def test_the_first_misfit_is_named(dialect: str, pattern: str, topic: str, words: str) -> None:
    assert explain_mismatch(parse_pattern(pattern, dialect), topic) == words


@given(st.data(), parsed_patterns())
def test_there_is_an_explanation_exactly_if_there_is_no_match(data: st.DataObject, pattern: Pattern) -> None:
    topic = data.draw(topics() | topics_of(pattern))
    assert (explain_mismatch(pattern, topic) is None) is pattern_matches(pattern, topic)
