"""Cuts a criteria text into tokens, and reads names and texts from them.

The scanner is one regular expression of our own. Its repeats are possessive, so it never goes
back over a text and takes linear time, whatever it is given.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice

from ramify.model import Path

KEYWORDS = frozenset({"and", "or", "not", "in", "between", "like", "exists", "true", "false", "null"})
LONGEST_SHARED = 256

_NAME = r'(?:[^\W\d]\w*+|"[^"]*+(?:""[^"]*+)*+")'
_EXPONENT = r"(?:[eE][-+]?[0-9]++)"

_TOKEN = re.compile(
    rf"""\s*+(?:
      (?P<field>     {_NAME}(?:\.{_NAME})*+ )
    | (?P<operator>  [=!<>&|]++ )
    | (?P<integer>   [-+]?[0-9]++ (?![\w.]) )
    | (?P<decimal>   [-+]?(?:[0-9]++(?:\.[0-9]++)?+|\.[0-9]++){_EXPONENT}?+ (?![\w.]) )
    | (?P<text>      '[^']*+(?:''[^']*+)*+' )
    | (?P<mark>      [(),] )
    | (?P<end>       \Z )
    | (?P<malformed> [-+]?\.?[0-9][\w.]*+ )
    | (?P<unclosed>  ['"] )
    | (?P<odd>       . )
    )""",
    re.VERBOSE | re.DOTALL,
)

_NAMES = re.compile(_NAME)


Token = tuple[str, str]
"""The kind and the text of a piece of criteria.

The kind is the name of a group in the scanner, or, for a keyword or a mark, the keyword in
lower case or the mark itself.
"""


def scan(text: str) -> list[Token]:
    """Cut a text into tokens, of which the last is the end."""
    tokens = []
    for found in _TOKEN.finditer(text):
        # Every alternative is a group, so neither is ever None.
        kind, word = found.lastgroup or "", found[found.lastindex or 0]
        if kind == "field":
            keyword = word.lower()
            kind = keyword if keyword in KEYWORDS else kind
        elif kind == "mark":
            kind = word
        tokens.append((kind, word))
    return tokens


def start_of(text: str, index: int) -> int:
    """Find where a token starts; only a refusal needs to know, so `scan` does not keep it."""
    found = next(islice(_TOKEN.finditer(text), index, None))
    return found.start(found.lastgroup or 0)


def read_path(text: str) -> Path:
    """Read a dotted path; subscriptions that name the same field share one."""
    # A long path is not worth sharing, and must not fill the memory.
    return _shared_path(text) if len(text) <= LONGEST_SHARED else _cut_path(text)


def read_text(token_text: str) -> str:
    """Read a text in single quotes."""
    return token_text[1:-1].replace("''", "'")


def is_plain_name(name: str) -> bool:
    """Say whether a name can stand in a path without quotes."""
    return _NAMES.fullmatch(name) is not None and name[0] != '"' and name.lower() not in KEYWORDS


def _cut_path(text: str) -> Path:
    if '"' not in text:
        return tuple(text.split("."))
    return tuple(_read_name(name) for name in _NAMES.findall(text))


_shared_path = lru_cache(maxsize=4096)(_cut_path)


def _read_name(name: str) -> str:
    return name[1:-1].replace('""', '"') if name[0] == '"' else name
