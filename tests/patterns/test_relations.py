"""`covers` and `overlaps` agree with the topics themselves."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify.model import Dialect, Pattern
from ramify.patterns import covers, overlaps, parse_pattern, pattern_matches
from ramify.patterns.forms import enclosing_globs
from ramify.patterns.reference import pieces_match
from tests.strategies import parsed_patterns, topics, topics_of

COVERED = [
    ("mqtt a/#", "mqtt a"),
    ("mqtt a/#", "mqtt a/#"),
    ("mqtt a/#", "mqtt a/+/b"),
    ("mqtt #", "mqtt +/#"),
    ("mqtt +/#", "mqtt #"),
    ("mqtt a/+/#", "mqtt a/b/#"),
    ("nats >", "nats *.*"),
    ("nats a.*", "wamp a._"),
    ("path */a", "mqtt +/a"),
    ("glob *", "mqtt #"),
    ("glob a*", "mqtt a/#"),
    ("glob a/*", "path a/*/b"),
    ("glob *a*", "glob b*ab*"),
    ("glob a*", "glob a**b"),
    ("nats >", "mqtt a/#"),
    ("nats a.>", "glob a.b*"),
    ("mqtt a/+/#", "glob a/*"),
    ("mqtt #", "glob a*"),
]

NOT_COVERED = [
    ("mqtt a/+/#", "mqtt a/#"),
    ("mqtt #", "mqtt $s/#"),
    ("mqtt #", "path *"),
    ("mqtt +/a", "path */a"),
    ("mqtt a", "mqtt +"),
    ("mqtt +", "mqtt #"),
    ("nats a.*", "nats a.>"),
    ("nats *.*", "nats >"),
    ("nats *.>", "nats >"),
    ("nats a.*.>", "nats a.>"),
    ("glob a/*", "mqtt a/#"),
    ("glob a*b", "glob a*"),
    ("glob *aa*", "glob *a*a*"),
    ("mqtt #", "glob *"),
    ("nats a.>", "glob a*"),
    ("path */*", "glob */*"),
]

OVERLAPPING = [
    ("mqtt a/#", "mqtt +/b"),
    ("mqtt a/#", "mqtt a"),
    ("mqtt #", "path *"),
    ("nats a.>", "nats *.b"),
    ("glob a*", "glob *b"),
    ("glob ab*c*", "glob a*dc"),
    ("glob a*", "mqtt +/b"),
]

APART = [
    ("mqtt a/+", "mqtt b/#"),
    ("mqtt a/+", "mqtt a/+/+/#"),
    ("mqtt +/b", "mqtt $s/#"),
    ("mqtt #", "path $s/*"),
    ("mqtt #", "glob $*"),
    ("nats a.*", "nats a.*.>"),
    ("glob a*", "glob b*"),
    ("glob *a", "glob *b"),
    ("glob a*", "mqtt b/#"),
    ("glob *a", "path */b"),
    ("nats a.>", "mqtt b/+"),
    ("mqtt a", "glob b*"),
]


def read(text: str) -> Pattern:
    dialect, pattern = text.split(" ")
    return parse_pattern(pattern, dialect)


@pytest.mark.parametrize(("a", "b"), COVERED)
def test_the_first_covers_the_second(a: str, b: str) -> None:
    assert covers(read(a), read(b))
    assert overlaps(read(a), read(b))


@pytest.mark.parametrize(("a", "b"), NOT_COVERED)
def test_the_first_does_not_cover_the_second(a: str, b: str) -> None:
    assert not covers(read(a), read(b))


@pytest.mark.parametrize(("a", "b"), OVERLAPPING)
def test_they_overlap_in_either_order(a: str, b: str) -> None:
    assert overlaps(read(a), read(b))
    assert overlaps(read(b), read(a))


@pytest.mark.parametrize(("a", "b"), APART)
def test_they_are_apart_in_either_order(a: str, b: str) -> None:
    assert not overlaps(read(a), read(b))
    assert not overlaps(read(b), read(a))


@given(st.data(), parsed_patterns(), parsed_patterns())
def test_what_is_covered_is_matched(data: st.DataObject, a: Pattern, b: Pattern) -> None:
    topic = data.draw(topics_of(b))
    if covers(a, b) and pattern_matches(b, topic):
        assert pattern_matches(a, topic)


@given(st.data(), parsed_patterns(), parsed_patterns())
def test_a_topic_of_both_is_an_overlap(data: st.DataObject, a: Pattern, b: Pattern) -> None:
    topic = data.draw(topics() | topics_of(a) | topics_of(b))
    if pattern_matches(a, topic) and pattern_matches(b, topic):
        assert overlaps(a, b)


@given(parsed_patterns())
def test_every_pattern_covers_itself(pattern: Pattern) -> None:
    assert covers(pattern, pattern)


@given(parsed_patterns(), parsed_patterns())
def test_overlap_does_not_depend_on_the_order(a: Pattern, b: Pattern) -> None:
    assert overlaps(a, b) is overlaps(b, a)


@given(parsed_patterns(), parsed_patterns())
def test_what_covers_also_overlaps(a: Pattern, b: Pattern) -> None:
    assert overlaps(a, b) or not covers(a, b)


def all_topics_of(separator: str, names: list[str], most: int) -> list[str]:
    return [separator.join(chosen) for count in range(1, most + 1) for chosen in product(names, repeat=count)]


# So few names and levels that every topic can be tried: a name that both patterns may use, an
# internal one, the empty one, and one that neither has.
ALL_TOPICS = {
    "/": all_topics_of("/", ["a", "$s", "", "Z"], most=4),
    ".": all_topics_of(".", ["a", "$s", "", "Z"], most=4),
    "": all_topics_of("", ["a", "b", "Z"], most=6),
}

SMALL = {
    Dialect.MQTT: ("/", ["a", "$s", "", "+"], ["#"]),
    Dialect.PATH: ("/", ["a", "$s", "", "*"], []),
    Dialect.WAMP: (".", ["a", "$s", "_"], ["*"]),
    Dialect.NATS: (".", ["a", "$s", "*"], [">"]),
    Dialect.GLOB: ("", ["a", "b", "*"], ["*"]),
}


@st.composite
def small_patterns(draw: st.DrawFn, dialect: Dialect) -> Pattern:
    """A pattern of at most three words, and perhaps a rest."""
    separator, words, rests = SMALL[dialect]
    named = draw(st.lists(st.sampled_from(words), max_size=3))
    rest = draw(st.sampled_from([[], rests]))
    text = separator.join([*named, *rest])
    return parse_pattern(text or words[-1], dialect)


@st.composite
def pairs_alike(draw: st.DrawFn) -> tuple[Pattern, Pattern, list[str]]:
    """Two patterns between which the answers are exact, and all the topics to try them on."""
    dialect = draw(st.sampled_from(list(Dialect)))
    alike = [other for other in Dialect if SMALL[other][0] == SMALL[dialect][0]]
    other = draw(st.sampled_from(alike))
    return draw(small_patterns(dialect)), draw(small_patterns(other)), ALL_TOPICS[SMALL[dialect][0]]


@given(pairs_alike())
def test_between_patterns_alike_covers_is_exact(pair: tuple[Pattern, Pattern, list[str]]) -> None:
    a, b, all_topics = pair
    missed = any(pattern_matches(b, topic) and not pattern_matches(a, topic) for topic in all_topics)
    assert covers(a, b) is not missed


@given(pairs_alike())
def test_between_patterns_alike_overlaps_is_exact(pair: tuple[Pattern, Pattern, list[str]]) -> None:
    a, b, all_topics = pair
    shared = any(pattern_matches(a, topic) and pattern_matches(b, topic) for topic in all_topics)
    assert overlaps(a, b) is shared


@given(st.data(), parsed_patterns())
def test_the_enclosing_globs_match_all_that_the_pattern_matches(
    data: st.DataObject, pattern: Pattern
) -> None:
    topic = data.draw(topics_of(pattern))
    if pattern_matches(pattern, topic):
        assert any(pieces_match(pieces, topic) for pieces in enclosing_globs(pattern.form))
