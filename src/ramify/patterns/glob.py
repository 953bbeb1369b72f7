"""The patterns of globs: a `*` anywhere is any text, and all else is literal."""

from __future__ import annotations

from ramify.errors import InvalidPattern
from ramify.model import Dialect, Exact, Glob, Pattern
from ramify.patterns.text import check_text

_GLOB = Dialect.GLOB


def parse(text: str) -> Pattern:
    """Read a pattern."""
    check_text(text, InvalidPattern)
    if "*" in text:
        return Pattern(text, _GLOB, Glob(_pieces(text)))
    if not text:
        raise InvalidPattern(text, 1, "a pattern has at least one character")
    return Pattern(text, _GLOB, Exact(text))


def _pieces(text: str) -> tuple[str, ...]:
    pieces = text.split("*")
    if "**" in text:
        # A run of stars says no more than one: drop the empty pieces inside it.
        pieces[1:-1] = filter(None, pieces[1:-1])
    return tuple(pieces)
