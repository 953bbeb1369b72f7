"""How a dialect writes levels, and the reader of those whose wildcards fill a level."""

from __future__ import annotations

from dataclasses import dataclass

from ramify.errors import InvalidPattern
from ramify.model import LevelRules, Levels, Rest
from ramify.patterns.text import with_columns
from ramify.patterns.words import levels_of

# Looking up a member of an enum takes Python 3.11 about as long as splitting a topic.
_NO_REST = Rest.NONE


@dataclass(frozen=True, slots=True)
class Notation:
    """The signs of a dialect that splits topics into levels."""

    rules: LevelRules
    level: str
    """What the dialect calls a level."""
    one: str
    """The sign for any one level."""
    rest: str | None = None
    """The sign for the rest, if there is one."""
    rest_takes: Rest = Rest.NONE


def read_levels(text: str, notation: Notation, whole: str | None = None) -> Levels:
    """Read a text that has wildcards; `whole` is the pattern that it ends, if it is not all of it."""
    rules, one, sign, rest = notation.rules, notation.one, notation.rest, _NO_REST
    words = text.split(rules.separator)
    # A sign is misplaced if it occurs more often than it fills a level.
    misplaced = text.count(one) - words.count(one)
    if sign is not None and sign in text:
        misplaced += text.count(sign)
        if words[-1] == sign:
            words.pop()
            rest = notation.rest_takes
            misplaced -= 1
    if misplaced:
        raise _misplaced(text, notation, whole or text)
    return Levels(rules, levels_of(words, (one,)), rest)


def _misplaced(text: str, notation: Notation, whole: str) -> InvalidPattern:
    """Name the first sign that does not fill its level, or that others follow though it means the rest."""
    words = text.split(notation.rules.separator)
    signs = [sign for sign in (notation.one, notation.rest) if sign]
    last = len(whole) + 1 - len(words[-1])
    for column, word in with_columns(words, first=len(whole) - len(text) + 1):
        found = [(word.index(sign), sign) for sign in signs if sign in word]
        if not found or word == notation.one or (word == notation.rest and column == last):
            continue
        at, sign = min(found)
        return InvalidPattern(whole, column + at, _why_misplaced(word, sign, notation))
    raise AssertionError(f"no sign is misplaced in {whole!r}")


def _why_misplaced(word: str, sign: str, notation: Notation) -> str:
    if word == notation.rest:
        return f"{sign!r} stands only as the last {notation.level}"
    hint = "" if notation.rest else " (the glob dialect takes it anywhere)"
    return f"{sign!r} must fill its {notation.level}{hint}"
