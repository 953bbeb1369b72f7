"""Writes a term as canonical text: parsed again, it means the same.

Numbers in a term are finite, as those that `parse` and `form` make are; infinity has no text.
"""

from __future__ import annotations

from typing import assert_never

from ramify.criteria.like import write_like
from ramify.criteria.tokens import is_plain_name
from ramify.model import (
    All,
    AnyOf,
    Between,
    Comparison,
    Exists,
    Like,
    Membership,
    Not,
    Path,
    Scalar,
    Term,
)

# The language has no words for these two, so a field that nobody has is asked about.
_ALWAYS = "(exists(x) or not exists(x))"
_NEVER = "(exists(x) and not exists(x))"


def term_to_text(term: Term) -> str:
    """Write a term so that parsing the text gives a term of the same meaning."""
    return "" if term == All(()) else _written(term)


def path_to_text(path: Path) -> str:
    """Write a path, its odd names in double quotes."""
    if len(path) == 1 and is_plain_name(path[0]):
        return path[0]
    return ".".join(map(_name, path))


def value_to_text(value: Scalar) -> str:
    """Write a value as a literal."""
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return str(value).lower() if isinstance(value, bool) else repr(value)


def values_to_text(values: tuple[Scalar, ...]) -> str:
    """Write values with commas between them."""
    return ", ".join(map(value_to_text, values))


def _written(term: Term) -> str:
    match term:
        case All(terms):
            return " and ".join(_inside(part, AnyOf) for part in terms) or _ALWAYS
        case AnyOf(terms):
            return " or ".join(map(_written, terms)) or _NEVER
        case Not(Membership(path) | Between(path) | Like(path) as atom):
            return f"{path_to_text(path)} not {_condition(atom)}"
        case Not(part):
            return f"not {_inside(part, All, AnyOf)}"
        case Exists(path):
            return f"exists({path_to_text(path)})"
        case _:
            return f"{path_to_text(term.path)} {_condition(term)}"


def _inside(term: Term, *loose: type) -> str:
    """Write a part, in brackets if it binds less than what stands around it."""
    text = _written(term)
    return f"({text})" if isinstance(term, loose) else text


def _condition(atom: Comparison | Membership | Between | Like) -> str:
    match atom:
        case Comparison(_, sign, value):
            return f"{sign} {value_to_text(value)}"
        case Membership(_, ()):
            return "between 1 and 0"  # no value is one of none, and `in ()` has no text
        case Membership(_, values):
            return f"in ({values_to_text(values)})"
        case Between(_, low, high):
            return f"between {value_to_text(low)} and {value_to_text(high)}"
        case Like(_, pieces):
            return f"like {value_to_text(write_like(pieces))}"
        case _:
            assert_never(atom)


def _name(name: str) -> str:
    return name if is_plain_name(name) else '"' + name.replace('"', '""') + '"'
