"""The patterns of NATS: `shop.*.sold`, `shop.>`."""

from __future__ import annotations

from ramify.errors import InvalidPattern
from ramify.model import Dialect, Exact, LevelRules, Pattern, Rest
from ramify.patterns.notation import Notation, read_levels
from ramify.patterns.text import check_text, check_whitespace, with_columns

RULES = LevelRules(".", wildcard_takes_empty=False)
NOTATION = Notation(RULES, "token", one="*", rest=">", rest_takes=Rest.SOME)

_NATS = Dialect.NATS


def parse(text: str) -> Pattern:
    """Read a pattern."""
    check_text(text, InvalidPattern)
    check_whitespace(text, InvalidPattern)
    if not text or ".." in text or text[0] == "." or text[-1] == ".":
        column = next(column for column, word in with_columns(text.split(".")) if not word)
        raise InvalidPattern(text, column, "a token has at least one character")
    if "*" in text or ">" in text:
        return Pattern(text, _NATS, read_levels(text, NOTATION))
    return Pattern(text, _NATS, Exact(text))
