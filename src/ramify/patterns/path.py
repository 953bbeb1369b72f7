"""The patterns of paths: in `/users/*/orders` a `*` is exactly one segment."""

from __future__ import annotations

from ramify.errors import InvalidPattern
from ramify.model import Dialect, Exact, LevelRules, Pattern
from ramify.patterns.notation import Notation, read_levels
from ramify.patterns.text import check_text

RULES = LevelRules("/", wildcard_takes_empty=True)
NOTATION = Notation(RULES, "segment", one="*")

_PATH = Dialect.PATH


def parse(text: str) -> Pattern:
    """Read a pattern."""
    check_text(text, InvalidPattern)
    if "*" in text:
        return Pattern(text, _PATH, read_levels(text, NOTATION))
    if not text:
        raise InvalidPattern(text, 1, "a pattern has at least one character")
    return Pattern(text, _PATH, Exact(text))
