"""The patterns of WAMP: `shop._.sold`, `shop.*`, and the protocol's own exact, prefix and wildcard."""

from __future__ import annotations

from collections.abc import Callable

from ramify.errors import InvalidPattern, InvalidSubscription
from ramify.model import Dialect, Exact, Form, Glob, LevelRules, Levels, Pattern, Rest
from ramify.patterns.notation import Notation
from ramify.patterns.text import check_text, with_columns
from ramify.patterns.words import levels_of

RULES = LevelRules(".", wildcard_takes_empty=False)
NOTATION = Notation(RULES, "component", one="_", rest="*", rest_takes=Rest.SOME)
WILDCARD_NOTATION = Notation(RULES, "component", one="")
"""How `match='wildcard'` writes levels."""

_WAMP = Dialect.WAMP
_NO_REST = Rest.NONE
_ONE = frozenset(("", "_"))
_SIGNS = frozenset(("", "_", "*"))


def parse(text: str, *, match: str | None = None) -> Pattern:
    """Read a pattern in ramify's notation, or as WAMP's option `match` says."""
    check_text(text, InvalidPattern)
    if match is None:
        return Pattern(text, _WAMP, _form(text))
    read = _READERS.get(match)
    if read is None:
        raise InvalidSubscription(f"match is {', '.join(_READERS)} or nothing, not {match!r}")
    return Pattern(text, _WAMP, read(text), match=match)


def _form(text: str) -> Form:
    words = text.split(".")
    if _SIGNS.isdisjoint(words):
        return Exact(text)
    rest = _NO_REST
    if words[-1] == "*":
        words.pop()
        rest = NOTATION.rest_takes
    if "*" in words:
        column = next(column for column, word in with_columns(words) if word == "*")
        raise InvalidPattern(text, column, "'*' stands only as the last component")
    return Levels(RULES, levels_of(words, _ONE), rest)


def _exact(text: str) -> Form:
    if not text:
        raise InvalidPattern(text, 1, "a pattern has at least one character")
    return Exact(text)


def _prefix(text: str) -> Form:
    # WAMP compares prefixes by character: `shop.a` also takes `shop.apple`.
    return Glob((text, ""))


def _wildcard(text: str) -> Form:
    words = text.split(".")
    return Levels(RULES, levels_of(words, ("",))) if "" in words else Exact(text)


_READERS: dict[str, Callable[[str], Form]] = {
    "exact": _exact,
    "prefix": _prefix,
    "wildcard": _wildcard,
}
