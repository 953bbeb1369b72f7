"""Turns a criteria text into `Criteria`, or refuses it with the column and what was expected.

either     = both { "or" both }
both       = one { "and" one }
one        = "not" one | "(" either ")" | "exists" "(" field ")" | field condition
condition  = operator value
           | [ "not" ] ( "in" "(" value { "," value } ")" | "between" value "and" value | "like" text )
"""

from __future__ import annotations

from collections.abc import Callable
from math import isinf

from ramify.criteria.like import EscapeError, read_like
from ramify.criteria.tokens import Token, read_path, read_text, scan, start_of
from ramify.errors import InvalidCriteria
from ramify.model import (
    ALWAYS,
    All,
    AnyOf,
    Atom,
    Between,
    Comparison,
    Criteria,
    Exists,
    Like,
    Membership,
    Not,
    Operator,
    Path,
    Scalar,
    Term,
)

LONGEST_TEXT = 65_536
MOST_NESTED = 64
MOST_TERMS = 4_096
MOST_STEPS = 64
# Python can be told to refuse longer integers, but no limit below this one can be set.
MOST_DIGITS = 640

_OPERATORS = {str(sign): sign for sign in Operator}
_ODD_NAME = 'write an odd name in double quotes, as in "customer-id"'

_HINTS = {
    "==": "write =",
    "<>": "write !=",
    "=<": "write <=",
    "=>": "write >=",
    "!": "write not",
    "&&": "write and",
    "||": "write or",
    "is": "write exists(field) or not exists(field)",
    "null": "write exists(field) or not exists(field)",
}
"""What to write instead of what other languages have."""


def parse_criteria(text: str) -> Criteria:
    """Read criteria such as `price >= 2.5 and exists(meta.source)`; a blank text always holds."""
    if not text or text.isspace():
        return ALWAYS
    if len(text) > LONGEST_TEXT:
        reason = f"expected at most {LONGEST_TEXT:,} characters, found {len(text):,}"
        raise InvalidCriteria(text, LONGEST_TEXT + 1, reason)
    return Criteria(text, _Parser(text).whole())


class _Parser:
    """One walk over the tokens of one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = scan(text)
        self._next = 0
        self._nested = 0
        self._terms = 0

    def whole(self) -> Term:
        term = self._either()
        self._take("end", "'and', 'or' or the end")
        return term

    # ── terms ─────────────────────────────────────────────────────────────────────────────

    def _either(self) -> Term:
        first = self._both()
        if self._tokens[self._next][0] != "or":
            return first
        terms = [first]
        while self._skip("or"):
            terms.append(self._both())
        return AnyOf(tuple(terms))

    def _both(self) -> Term:
        first = self._one()
        if self._tokens[self._next][0] != "and":
            return first
        terms = [first]
        while self._skip("and"):
            terms.append(self._one())
        return All(tuple(terms))

    def _one(self) -> Term:
        kind = self._tokens[self._next][0]
        if kind == "field":
            self._count()
            return self._condition(self._path())
        if kind == "exists":
            self._count()
            return self._exists()
        if kind == "not":
            return self._inside(lambda: Not(self._one()))
        if kind == "(":
            return self._inside(self._bracketed)
        raise self._refusal("a field", "write the field on the left" if kind in _VALUES else "")

    def _count(self) -> None:
        self._terms += 1
        if self._terms > MOST_TERMS:
            raise self._refusal_here(f"expected at most {MOST_TERMS:,} comparisons")

    def _path(self) -> Path:
        path = read_path(self._take("field", "a field"))
        if len(path) > MOST_STEPS:
            self._next -= 1
            raise self._refusal(f"at most {MOST_STEPS} names in a path")
        return path

    def _inside(self, read: Callable[[], Term]) -> Term:
        """Read what stands behind a `not` or a bracket, one level deeper."""
        self._nested += 1
        if self._nested > MOST_NESTED:
            raise self._refusal_here(f"expected at most {MOST_NESTED} levels of brackets and 'not'")
        self._next += 1
        term = read()
        self._nested -= 1
        return term

    def _bracketed(self) -> Term:
        term = self._either()
        self._take(")", "'and', 'or' or ')'")
        return term

    def _exists(self) -> Term:
        self._next += 1
        self._take("(", "'(' after exists")
        path = self._path()
        self._take(")", "')'")
        return Exists(path)

    # ── conditions on a field ─────────────────────────────────────────────────────────────

    def _condition(self, path: Path) -> Term:
        sign = _OPERATORS.get(self._tokens[self._next][1])
        if sign is not None:
            self._next += 1
            return Comparison(path, sign, self._value())
        is_negated = self._skip("not")
        kind, word = self._tokens[self._next]
        read = _CONDITIONS.get(kind)
        if read is None:
            expected = "'in', 'between' or 'like'" if is_negated else "a comparison"
            raise self._refusal(expected, _ODD_NAME if word in ("-", ".") else "")
        self._next += 1
        atom = read(self, path)
        return Not(atom) if is_negated else atom

    def _membership(self, path: Path) -> Atom:
        self._take("(", "'(' after in")
        values = [self._value()]
        while self._skip(","):
            values.append(self._value())
        self._take(")", "',' or ')'")
        return Membership(path, tuple(values))

    def _between(self, path: Path) -> Atom:
        low = self._value()
        self._take("and", "'and' of between")
        return Between(path, low, self._value())

    def _like(self, path: Path) -> Atom:
        text = read_text(self._take("text", "a text in single quotes"))
        try:
            return Like(path, read_like(text))
        except EscapeError as error:
            self._next -= 1
            # The opening quote comes before the escape, and each quote inside is written twice.
            further = 1 + error.position + text.count("'", 0, error.position)
            raise self._refusal_here(r"expected \% or \\, found a lone backslash", further) from None

    # ── values ────────────────────────────────────────────────────────────────────────────

    def _value(self) -> Scalar:
        kind, word = self._tokens[self._next]
        read = _VALUES.get(kind)
        if read is None:
            raise self._refusal("a value", "write a text in single quotes" if kind == "field" else "")
        value = read(self, word)
        self._next += 1
        return value

    def _integer(self, word: str) -> int:
        self._check_digits(word)
        return int(word)

    def _decimal(self, word: str) -> float:
        self._check_digits(word)
        value = float(word)
        if isinf(value):
            raise self._refusal("a number nearer to zero")
        return value

    def _check_digits(self, word: str) -> None:
        if len(word) > MOST_DIGITS and len(word.lstrip("+-")) > MOST_DIGITS:
            raise self._refusal(f"at most {MOST_DIGITS} digits")

    # ── moving on, and refusing ───────────────────────────────────────────────────────────

    def _skip(self, kind: str) -> bool:
        is_there = self._tokens[self._next][0] == kind
        self._next += is_there
        return is_there

    def _take(self, kind: str, expected: str) -> str:
        found, word = self._tokens[self._next]
        if found != kind:
            raise self._refusal(expected)
        self._next += 1
        return word

    def _refusal(self, expected: str, hint: str = "") -> InvalidCriteria:
        token = self._tokens[self._next]
        reason = f"expected {expected}, found {_shown(token)}"
        hint = _HINTS.get(token[1].lower(), hint)
        return self._refusal_here(f"{reason}; {hint}" if hint else reason)

    def _refusal_here(self, reason: str, further: int = 0) -> InvalidCriteria:
        column = start_of(self._text, self._next) + further + 1
        return InvalidCriteria(self._text, column, reason)


_VALUES: dict[str, Callable[[_Parser, str], Scalar]] = {
    "integer": _Parser._integer,
    "decimal": _Parser._decimal,
    "text": lambda _, word: read_text(word),
    "true": lambda _, word: True,
    "false": lambda _, word: False,
}

_CONDITIONS: dict[str, Callable[[_Parser, Path], Atom]] = {
    "in": _Parser._membership,
    "between": _Parser._between,
    "like": _Parser._like,
}


def _shown(token: Token, longest: int = 40) -> str:
    """Name a token in a message."""
    kind, word = token
    if kind == "end":
        return "the end"
    if kind == "unclosed":
        return f"{word} that is never closed"
    shown = word if len(word) <= longest else f"{word[:longest]}…"
    return shown if kind == "text" else f"'{shown}'"
