"""What can be told of a form without a topic."""

from __future__ import annotations

from ramify.model import Exact, Form, Glob, Levels, Rest

Pieces = tuple[str, ...]
"""Literal pieces as in `Glob`; a single piece is the one topic that equals it."""


def starts_with_wildcard(form: Levels) -> bool:
    """Whether the first level may be any: `+/a` or `#`."""
    return form.levels[0] is None if form.levels else form.rest is not Rest.NONE


def hides_internal(form: Form) -> bool:
    """Whether the form matches no topic that starts with `$`, because it starts with a wildcard."""
    return isinstance(form, Levels) and form.rules.hides_internal and starts_with_wildcard(form)


def fewest_levels(form: Levels) -> int:
    """How many levels the shortest matching topics have; the empty topic has one, which is empty."""
    named = len(form.levels)
    return named + 1 if form.rest is Rest.SOME else max(named, 1)


def simplified(form: Levels) -> Levels:
    """The same meaning, saying `a/+/#` as `a` and one or more levels."""
    ends_in_any = form.rest is Rest.ANY and form.levels[-1:] == (None,)
    if ends_in_any and form.rules.wildcard_takes_empty:
        return Levels(form.rules, form.levels[:-1], Rest.SOME)
    return form


def enclosing_globs(form: Form) -> tuple[Pieces, ...]:
    """Globs that match, between them, every topic that the form matches, and perhaps more."""
    if isinstance(form, Exact):
        return ((form.text,),)
    if isinstance(form, Glob):
        return (form.pieces,)
    named, longer = level_pieces(form, Rest.NONE), level_pieces(form, Rest.SOME)
    if not form.levels:
        return (longer,)
    return {Rest.NONE: (named,), Rest.SOME: (longer,), Rest.ANY: (named, longer)}[form.rest]


def level_pieces(form: Levels, rest: Rest) -> Pieces:
    """The literal pieces between the wildcards of a form, with or without its rest."""
    levels = form.levels if rest is Rest.NONE else (*form.levels, None)
    pieces = [""]
    for number, level in enumerate(levels):
        pieces[-1] += form.rules.separator if number else ""
        if level is None:
            pieces.append("")
        else:
            pieces[-1] += level
    return tuple(pieces)
