"""The slow and obvious judge of which topics a pattern matches.

Every faster matcher must agree with it.
"""

from __future__ import annotations

from ramify.model import Dialect, Exact, Glob, Levels, Pattern, Rest
from ramify.patterns.forms import fewest_levels, hides_internal
from ramify.patterns.parse import parse_pattern


def matches(dialect: Dialect | str, pattern: str | Pattern, topic: str, *, match: str | None = None) -> bool:
    """Whether the pattern, a text in the dialect or already read, matches the topic."""
    if isinstance(pattern, str):
        pattern = parse_pattern(pattern, dialect, match=match)
    return pattern_matches(pattern, topic)


def pattern_matches(pattern: Pattern, topic: str) -> bool:
    """Whether the pattern matches the topic."""
    form = pattern.form
    if isinstance(form, Exact):
        return form.text == topic
    if isinstance(form, Glob):
        return pieces_match(form.pieces, topic)
    return levels_match(form, topic)


def levels_match(form: Levels, topic: str) -> bool:
    """Whether every level of the topic fits."""
    if is_hidden(form, topic):
        return False
    names = topic.split(form.rules.separator)
    return takes_count(form, len(names)) and all(
        level_fits(form, level, name) for level, name in zip(form.levels, names, strict=False)
    )


def is_hidden(form: Levels, topic: str) -> bool:
    """Whether the topic is internal and the form begins with a wildcard. [MQTT-4.7.2-1]"""
    return topic.startswith("$") and hides_internal(form)


def takes_count(form: Levels, count: int) -> bool:
    """Whether the form matches topics of so many levels."""
    if form.rest is Rest.NONE:
        return count == len(form.levels)
    return count >= fewest_levels(form)


def level_fits(form: Levels, level: str | None, name: str) -> bool:
    """Whether one level of the form takes one level of a topic."""
    if level is None:
        return bool(name) or form.rules.wildcard_takes_empty
    return level == name


def pieces_match(pieces: tuple[str, ...], topic: str) -> bool:
    """Whether the pieces occur in order, the first at the start and the last at the end; one is equality."""
    if len(pieces) == 1:
        return pieces[0] == topic
    first, *middle, last = pieces
    if not topic.startswith(first):
        return False
    # Taking every piece at its leftmost place leaves the most room for those behind it,
    # so there is nothing to go back for, and the time is linear.
    at = len(first)
    for piece in middle:
        found = topic.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return len(topic) - len(last) >= at and topic.endswith(last)
