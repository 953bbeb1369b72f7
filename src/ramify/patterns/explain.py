"""Why a pattern does not match a topic, in words."""

from __future__ import annotations

from ramify.model import Exact, Glob, Levels, Pattern, Rest
from ramify.patterns.forms import fewest_levels
from ramify.patterns.reference import is_hidden, level_fits, takes_count


def explain_mismatch(pattern: Pattern, topic: str) -> str | None:
    """Name the first thing that does not fit; `None` if the pattern matches."""
    form = pattern.form
    if isinstance(form, Exact):
        return None if form.text == topic else f"the topic is {topic!r}, the pattern wants {form.text!r}"
    if isinstance(form, Glob):
        return _explain_pieces(form.pieces, topic)
    return _explain_levels(form, topic)


def _explain_levels(form: Levels, topic: str) -> str | None:
    if is_hidden(form, topic):
        return "topics that start with '$' are hidden from a leading wildcard"
    names = topic.split(form.rules.separator)
    for number, (level, name) in enumerate(zip(form.levels, names, strict=False), 1):
        if not level_fits(form, level, name):
            wanted = "one that is not" if level is None else repr(level)
            return f"level {number} is {repr(name) if name else 'empty'}, the pattern wants {wanted}"
    if takes_count(form, len(names)):
        return None
    has = f"{len(names)} level{'s' if len(names) > 1 else ''}"
    more = "" if form.rest is Rest.NONE else " or more"
    return f"the topic has {has}, the pattern takes {fewest_levels(form)}{more}"


def _explain_pieces(pieces: tuple[str, ...], topic: str) -> str | None:
    first, *middle, last = pieces
    if not topic.startswith(first):
        return f"the topic does not start with {first!r}"
    at = len(first)
    for piece in middle:
        found = topic.find(piece, at)
        if found < 0:
            return f"{piece!r} does not occur after column {at}"
        at = found + len(piece)
    if not topic.endswith(last, at):
        return f"the topic does not end with {last!r} after column {at}"
    return None
