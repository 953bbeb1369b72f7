"""The same pattern in another dialect, and what is lost on the way.

What a pattern means is the set of topics it matches. A translation is written, read back in its
own dialect, and kept only if it was read as intended; so a literal never turns into a wildcard.
"""

from __future__ import annotations

from dataclasses import dataclass

from ramify.errors import InvalidPattern
from ramify.model import Dialect, Exact, Form, Glob, Levels, Pattern, Rest
from ramify.patterns import mqtt, nats, path, wamp
from ramify.patterns.forms import hides_internal, level_pieces, simplified
from ramify.patterns.notation import Notation
from ramify.patterns.parse import known_dialect, parse_pattern


@dataclass(frozen=True, slots=True)
class Translation:
    """A pattern in another dialect, or none, and what it does not say as the original did."""

    pattern: Pattern | None
    lost: tuple[str, ...] = ()
    match: str | None = None
    """The option of wamp that the text of the pattern needs."""

    @property
    def is_exact(self) -> bool:
        """Whether both patterns match the same topics."""
        return self.pattern is not None and not self.lost


NOTATIONS: dict[Dialect, Notation] = {
    Dialect.MQTT: mqtt.NOTATION,
    Dialect.WAMP: wamp.NOTATION,
    Dialect.PATH: path.NOTATION,
    Dialect.NATS: nats.NOTATION,
}


def translate(pattern: Pattern, dialect: Dialect | str) -> Translation:
    """Say the pattern in another dialect, as nearly as that can."""
    target, form = known_dialect(dialect), pattern.form
    if pattern.dialect is target:
        return Translation(pattern)
    if isinstance(form, Exact):
        found = _exact(form, target)
    elif isinstance(form, Glob):
        found = _from_glob(form, target)
    elif target is Dialect.GLOB:
        found = _levels_to_glob(simplified(form))
    else:
        found = _levels_to_levels(simplified(form), NOTATIONS[target], target)
    if pattern.group is not None:
        return Translation(found.pattern, (*found.lost, f"the share group {pattern.group!r}"), found.match)
    return found


def _written(text: str, form: Form, dialect: Dialect, match: str | None = None) -> Translation:
    """Keep a text if it is read as the form it was written for."""
    try:
        pattern = parse_pattern(text, dialect, match=match)
    except InvalidPattern as refusal:
        return Translation(None, (f"{text!r} is no pattern in {dialect}: {refusal.reason}",))
    if pattern.form != form:
        return Translation(None, (f"{text!r} means something else in {dialect}",))
    return Translation(pattern, (), match)


def _exact(form: Exact, target: Dialect) -> Translation:
    plain = _written(form.text, form, target)
    if plain.pattern is None and target is Dialect.WAMP:
        return _written(form.text, form, target, match="exact")
    return plain


# ── from levels ───────────────────────────────────────────────────────────────────────────


def _levels_to_glob(form: Levels) -> Translation:
    pieces = level_pieces(form, form.rest)
    found = _written("*".join(pieces), Glob(pieces), Dialect.GLOB)
    return _with_losses(found, _lost_to_glob(form))


def _lost_to_glob(form: Levels) -> list[str]:
    lost = []
    if _has_inner_wildcard(form):
        lost.append("a wildcard takes several levels too")
    if None in form.levels and not form.rules.wildcard_takes_empty:
        lost.append("a wildcard takes an empty level too")
    if form.rest is Rest.ANY and form.levels:
        lost.append("topics without a further level are not matched")
    if hides_internal(form):
        lost.append("topics that start with '$' are matched too")
    return lost


def _levels_to_levels(form: Levels, notation: Notation, target: Dialect) -> Translation:
    if form.rest is not Rest.NONE and notation.rest is None:
        return Translation(None, (f"{target} has no sign for the rest of a topic",))
    wanted = _said_by(notation, form)
    found = _written(_spelled(wanted, notation), wanted, target)
    if found.pattern is None and target is Dialect.WAMP and form.rest is Rest.NONE:
        # There `_` is a literal, so it may say what ramify's notation cannot.
        found = _written(_spelled(wanted, wamp.WILDCARD_NOTATION), wanted, target, match="wildcard")
    return _with_losses(found, _lost_to_levels(form, wanted))


def _said_by(notation: Notation, form: Levels) -> Levels:
    """The nearest form that the notation can write."""
    levels, rest = form.levels, form.rest
    if rest is Rest.SOME and notation.rest_takes is Rest.ANY and levels:
        # One or more levels are any one level, and then zero or more: `a/+/#`.
        return Levels(notation.rules, (*levels, None), Rest.ANY)
    return Levels(notation.rules, levels, rest if rest is Rest.NONE else notation.rest_takes)


def _spelled(form: Levels, notation: Notation) -> str:
    words = [notation.one if level is None else level for level in form.levels]
    if form.rest is not Rest.NONE and notation.rest is not None:
        words.append(notation.rest)
    return form.rules.separator.join(words)


def _lost_to_levels(form: Levels, wanted: Levels) -> list[str]:
    lost, ours, theirs = [], form.rules, wanted.rules
    if form.levels and ours.separator != theirs.separator:
        lost.append(f"levels split at {theirs.separator!r}, not {ours.separator!r}: rewrite topics alike")
    if None in form.levels and ours.wildcard_takes_empty and not theirs.wildcard_takes_empty:
        lost.append("a wildcard takes no empty level")
    if None in form.levels and theirs.wildcard_takes_empty and not ours.wildcard_takes_empty:
        lost.append("a wildcard takes an empty level too")
    if form.rest is Rest.ANY and wanted.rest is Rest.SOME and form.levels:
        lost.append("topics without a further level are not matched")
    if hides_internal(form) and not hides_internal(wanted):
        lost.append("topics that start with '$' are matched too")
    if hides_internal(wanted) and not hides_internal(form):
        lost.append("topics that start with '$' are not matched")
    return lost


# ── from globs ────────────────────────────────────────────────────────────────────────────


def _from_glob(form: Glob, target: Dialect) -> Translation:
    if target is Dialect.GLOB:
        return _written("*".join(form.pieces), form, target)
    found = _glob_to_levels(form, NOTATIONS[target], target)
    is_prefix = len(form.pieces) == 2 and not form.pieces[1]
    if target is Dialect.WAMP and is_prefix and not found.is_exact:
        return _written(form.pieces[0], form, target, match="prefix")
    return found


def _glob_to_levels(form: Glob, notation: Notation, target: Dialect) -> Translation:
    # No piece has a NUL, so it can hold the place of a star while the levels are split.
    words = "\0".join(form.pieces).split(notation.rules.separator)
    if any("\0" in word and word != "\0" for word in words):
        return Translation(None, (f"{target} has no wildcard for a part of a {notation.level}",))
    levels = tuple([None if word == "\0" else word for word in words])
    if levels[-1] is None and notation.rest is not None:
        said = Levels(notation.rules, levels[:-1], Rest.SOME)
    else:
        said = Levels(notation.rules, levels)
    wanted = _said_by(notation, said)
    found = _written(_spelled(wanted, notation), wanted, target)
    return _with_losses(found, _lost_from_glob(said))


def _lost_from_glob(said: Levels) -> list[str]:
    lost = []
    if _has_inner_wildcard(said):
        lost.append("a wildcard takes one level only")
    if None in said.levels and not said.rules.wildcard_takes_empty:
        lost.append("a wildcard takes no empty level")
    if hides_internal(said):
        lost.append("topics that start with '$' are not matched")
    return lost


# ── what is lost ──────────────────────────────────────────────────────────────────────────


def _has_inner_wildcard(form: Levels) -> bool:
    """Whether something stands behind a wildcard for one level, so that it must not take more."""
    levels = list(form.levels)
    while form.rest is not Rest.NONE and levels and levels[-1] is None:
        levels.pop()
    return None in levels


def _with_losses(found: Translation, lost: list[str]) -> Translation:
    return found if found.pattern is None else Translation(found.pattern, tuple(lost), found.match)
