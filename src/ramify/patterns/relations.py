"""How the topics of two patterns relate: does one cover the other, do they overlap.

The answers are exact where both patterns split at the same separator, both are globs, or one is
a plain topic. Between globs and levels, and between different separators, `covers` says yes only
to what it can prove, and `overlaps` says no only to what it can refute: right for a linter, which
may stay silent but must not accuse. Share groups play no part. The time is polynomial.
"""

from __future__ import annotations

from typing import TypeGuard

from ramify.model import Exact, Form, Glob, Levels, Pattern, Rest
from ramify.patterns.forms import Pieces, enclosing_globs, fewest_levels, hides_internal, simplified
from ramify.patterns.reference import level_fits, levels_match, pattern_matches, pieces_match

# No pattern has a NUL, so where it stands for a star, only a star can match it.
_STAR = "\0"


def covers(a: Pattern, b: Pattern) -> bool:
    """Whether `a` matches every topic that `b` matches."""
    if isinstance(b.form, Exact):
        return pattern_matches(a, b.form.text)
    if isinstance(a.form, Levels) and _splits_alike(b.form, a.form):
        return _levels_cover(a.form, b.form)
    return all(_covers_pieces(a.form, pieces) for pieces in enclosing_globs(b.form))


def overlaps(a: Pattern, b: Pattern) -> bool:
    """Whether some topic matches both."""
    if isinstance(a.form, Exact):
        return pattern_matches(b, a.form.text)
    if isinstance(b.form, Exact):
        return pattern_matches(a, b.form.text)
    if isinstance(a.form, Levels) and _splits_alike(b.form, a.form):
        return _levels_overlap(a.form, b.form)
    if _is_hidden_from(a.form, b.form) or _is_hidden_from(b.form, a.form):
        return False
    return any(_pieces_overlap(x, y) for x in enclosing_globs(a.form) for y in enclosing_globs(b.form))


def _splits_alike(form: Form, other: Levels) -> TypeGuard[Levels]:
    return isinstance(form, Levels) and form.rules.separator == other.rules.separator


# ── levels and levels ─────────────────────────────────────────────────────────────────────


def _levels_cover(a: Levels, b: Levels) -> bool:
    if hides_internal(a) and not hides_internal(b) and _may_be_internal(b):
        return False
    if a.rest is Rest.NONE and (b.rest is not Rest.NONE or len(a.levels) != len(b.levels)):
        return False
    if fewest_levels(b) < fewest_levels(a):
        return False
    return all(_level_covers(a, b, number) for number in range(len(a.levels)))


def _level_covers(a: Levels, b: Levels, number: int) -> bool:
    """Whether a level of `a` takes all that the same level of `b` takes."""
    ours = a.levels[number]
    theirs = b.levels[number] if number < len(b.levels) else None
    if theirs is not None:
        return level_fits(a, ours, theirs)
    return ours is None and (a.rules.wildcard_takes_empty or not _takes_empty(b, number))


def _levels_overlap(a: Levels, b: Levels) -> bool:
    if (hides_internal(a) and _is_internal(b)) or (hides_internal(b) and _is_internal(a)):
        return False
    # More levels than the fewest that both take would add nothing but levels of both rests.
    count = max(fewest_levels(a), fewest_levels(b))
    if any(form.rest is Rest.NONE and len(form.levels) != count for form in (a, b)):
        return False
    return all(_level_overlaps(a, b, number) for number in range(min(len(a.levels), len(b.levels))))


def _level_overlaps(a: Levels, b: Levels, number: int) -> bool:
    ours, theirs = a.levels[number], b.levels[number]
    if theirs is not None:
        return level_fits(a, ours, theirs)
    return ours is None or level_fits(b, theirs, ours)


def _takes_empty(form: Levels, number: int) -> bool:
    """Whether a wildcard level, or one of the rest, may be empty."""
    return form.rules.wildcard_takes_empty or number >= len(form.levels)


def _may_be_internal(form: Levels) -> bool:
    return not form.levels or form.levels[0] is None or _is_internal(form)


def _is_internal(form: Levels) -> bool:
    """Whether all the topics start with `$`."""
    return bool(form.levels) and (form.levels[0] or "").startswith("$")


# ── globs, and whatever lies within globs ─────────────────────────────────────────────────


def _covers_pieces(form: Form, pieces: Pieces) -> bool:
    if isinstance(form, Levels):
        return _levels_cover_pieces(simplified(form), pieces)
    own = form.pieces if isinstance(form, Glob) else (form.text,)
    return pieces_match(own, _STAR.join(pieces))


def _levels_cover_pieces(form: Levels, pieces: Pieces) -> bool:
    """Prove it by the first piece alone: it must fill all the levels that the form names."""
    head, stars = pieces[0], pieces[1:]
    if not stars:
        return levels_match(form, head)
    if form.rest is Rest.NONE or (hides_internal(form) and (not head or head.startswith("$"))):
        return False
    *full, _ = head.split(form.rules.separator)
    return len(full) >= len(form.levels) and all(
        level_fits(form, level, name) for level, name in zip(form.levels, full, strict=False)
    )


def _pieces_overlap(a: Pieces, b: Pieces) -> bool:
    if len(a) == 1:
        return pieces_match(b, a[0])
    if len(b) == 1:
        return pieces_match(a, b[0])
    # With a star on both sides all between the ends finds room: first ours, then theirs.
    heads_agree = a[0].startswith(b[0]) or b[0].startswith(a[0])
    return heads_agree and (a[-1].endswith(b[-1]) or b[-1].endswith(a[-1]))


def _is_hidden_from(form: Form, other: Form) -> bool:
    """Whether the form matches only internal topics and the other never does."""
    return hides_internal(other) and all(pieces[0].startswith("$") for pieces in enclosing_globs(form))
