"""Patterns and topics for properties, over so few letters that they often meet."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ramify.model import Dialect, Exact, Glob, Levels, Pattern, Rest
from ramify.patterns.parse import parse_pattern

NAMES = ["a", "b", "ab", "é", "$s", "a_"]
"""Names of levels: one begins another, one is internal, one is not ASCII."""

_NAME = st.sampled_from(NAMES)
_NAME_OR_EMPTY = st.sampled_from([*NAMES, ""])


def dialects() -> SearchStrategy[Dialect]:
    """Any dialect."""
    return st.sampled_from(list(Dialect))


def topics() -> SearchStrategy[str]:
    """Topics of one to four levels, split at `/` or `.`; some of the levels are empty."""
    return st.builds(
        lambda separator, names: separator.join(names),
        st.sampled_from("/."),
        st.lists(_NAME_OR_EMPTY, min_size=1, max_size=4),
    )


def patterns(dialect: Dialect | str) -> SearchStrategy[str]:
    """Texts that are patterns in the dialect."""
    return _PATTERNS[Dialect(dialect)]


def parsed_patterns() -> SearchStrategy[Pattern]:
    """Patterns of all the dialects, WAMP's own prefixes and wildcards among them."""
    plain = dialects().flatmap(lambda d: patterns(d).map(lambda text: parse_pattern(text, d)))
    return plain | st.builds(
        lambda text, match: parse_pattern(text, "wamp", match=match),
        topics().filter(bool),
        st.sampled_from(["exact", "prefix", "wildcard"]),
    )


@st.composite
def pattern_and_topic(draw: st.DrawFn, dialect: Dialect | str) -> tuple[str, str]:
    """A pattern, and a topic that is often one of its own."""
    text = draw(patterns(dialect))
    return text, draw(st.one_of(topics(), topics_of(parse_pattern(text, dialect))))


@st.composite
def topics_of(draw: st.DrawFn, pattern: Pattern) -> str:
    """The pattern with its wildcards filled in; nearly always it matches."""
    form = pattern.form
    if isinstance(form, Exact):
        return form.text
    if isinstance(form, Glob):
        return "".join(
            piece + draw(topics()) * (number < len(form.pieces))
            for number, piece in enumerate(form.pieces, 1)
        )
    return form.rules.separator.join(_filled_levels(draw, form))


def _filled_levels(draw: st.DrawFn, form: Levels) -> list[str]:
    filled = [draw(_NAME_OR_EMPTY) if level is None else level for level in form.levels]
    if form.rest is not Rest.NONE:
        filled += draw(st.lists(_NAME_OR_EMPTY, min_size=form.rest is Rest.SOME, max_size=2))
    return filled


def _levels(
    separator: str, names: SearchStrategy[str], rest: str | None = None, head: str = ""
) -> SearchStrategy[str]:
    ends = st.sampled_from([[], [rest]] if rest else [[]])
    words = st.builds(lambda named, end: [*named, *end], st.lists(names, max_size=4), ends)
    return words.filter(bool).map(lambda words: head + separator.join(words)).filter(bool)


_PATTERNS: dict[Dialect, SearchStrategy[str]] = {
    Dialect.MQTT: _levels("/", st.sampled_from([*NAMES, "", "+", "+"]), "#")
    | _levels("/", st.sampled_from([*NAMES, "+"]), "#", head="$share/g/"),
    Dialect.WAMP: _levels(".", st.sampled_from([*NAMES, "", "_", "_"]), "*"),
    Dialect.PATH: _levels("/", st.sampled_from([*NAMES, "", "*", "*"])),
    Dialect.GLOB: st.lists(st.sampled_from([*NAMES, "/", ".", "*", "**", "*"]), min_size=1, max_size=6).map(
        "".join
    ),
    Dialect.NATS: _levels(".", st.sampled_from([*NAMES, "*", "*"]), ">"),
}
