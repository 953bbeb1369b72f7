"""Says in words why criteria hold for an event, or which comparison fails first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ramify.criteria.evaluate import MISSING, resolve, truth
from ramify.criteria.kinds import Kind, kind_of
from ramify.criteria.like import write_like
from ramify.criteria.write import path_to_text
from ramify.model import (
    All,
    AnyOf,
    Atom,
    Between,
    Comparison,
    Criteria,
    Exists,
    Fields,
    Like,
    Membership,
    Not,
    Term,
)

LONGEST_VALUE = 40
MOST_LISTED = 5


def explain(criteria: Criteria, fields: Fields) -> str:
    """Say why the criteria hold, as in "holds: price is 40, wanted > 30", or what fails."""
    failed = failure(criteria, fields)
    return f"holds: {_reason(criteria.term, fields, True)}" if failed is None else failed


def failure(criteria: Criteria, fields: Fields) -> str | None:
    """Say what fails first, as in "price is 3, wanted > 30"; None if the criteria hold."""
    if truth(criteria.term, fields) is True:
        return None
    return _problem(criteria.term, fields, True)


def _problem(term: Term, fields: Fields, wanted: bool) -> str:
    """Say why a term is not true, or, if it is wanted false, why it is not false."""
    match term:
        case Not(part):
            return _problem(part, fields, not wanted)
        case All(terms) | AnyOf(terms):
            failing = [part for part in terms if truth(part, fields) is not wanted]
            if isinstance(term, All) is wanted:
                return _problem(failing[0], fields, wanted)
            return _neither([_problem(part, fields, wanted) for part in failing[:MOST_LISTED]], len(failing))
        case _:
            return _compared(term, fields, wanted)


def _reason(term: Term, fields: Fields, wanted: bool) -> str:
    """Say why a term is true, or, if it is wanted false, why it is false."""
    match term:
        case Not(part):
            return _reason(part, fields, not wanted)
        case All(terms) | AnyOf(terms):
            meeting = [part for part in terms if truth(part, fields) is wanted]
            if not meeting:
                return "nothing is asked"
            if isinstance(term, All) is wanted:
                return _joined(
                    [_reason(part, fields, wanted) for part in meeting[:MOST_LISTED]], len(meeting)
                )
            return _reason(meeting[0], fields, wanted)
        case _:
            return _compared(term, fields, wanted)


# ── phrases ───────────────────────────────────────────────────────────────────────────────


def _neither(problems: list[str], count: int) -> str:
    if not problems:
        return "no event can meet it"
    if count == 1:
        return problems[0]
    more = f" nor {count - len(problems)} more" if count > len(problems) else ""
    return "neither " + " nor ".join(f"({problem})" for problem in problems) + more


def _joined(reasons: list[str], count: int) -> str:
    more = f"; and {count - len(reasons)} more" if count > len(reasons) else ""
    return "; ".join(reasons) + more


def _compared(atom: Atom, fields: Fields, wanted: bool) -> str:
    value, name = resolve(fields, atom.path), _shortened(path_to_text(atom.path))
    if isinstance(atom, Exists) and not wanted:
        return f"{name} is missing" if value is MISSING else f"{name} is {shown(value)}, wanted missing"
    if value is MISSING:
        return f"{name} is missing"
    return f"{name} is {shown(value)}, wanted {_wish(atom, wanted)}"


def _wish(atom: Atom, wanted: bool) -> str:
    no = "" if wanted else "not "
    match atom:
        case Comparison(_, sign, value):
            return f"{no}{sign} {shown(value)}"
        case Membership(_, values):
            return f"{'one' if wanted else 'none'} of {_listed(values)}"
        case Between(_, low, high):
            return f"{no}between {shown(low)} and {shown(high)}"
        case Like(_, pieces):
            return f"{no}like {shown(write_like(pieces))}"
        case Exists():
            return "any value"


def _listed(values: Iterable[Any]) -> str:
    every = [shown(value) for value in values]
    more = f" and {len(every) - MOST_LISTED} more" if len(every) > MOST_LISTED else ""
    return ", ".join(every[:MOST_LISTED]) + more


# ── values ────────────────────────────────────────────────────────────────────────────────


def shown(value: Any) -> str:
    """Show a value in a few words, whatever it is; only plain values are asked for their text."""
    match kind_of(value):
        case Kind.TEXT:
            return repr(value) if len(value) <= LONGEST_VALUE else f"{value[:LONGEST_VALUE]!r}…"
        case Kind.BOOLEAN:
            return "true" if value else "false"
        case Kind.NUMBER:
            return _shown_number(value)
    if type(value) is list or type(value) is dict:
        return f"{'a list' if type(value) is list else 'an object'} of {len(value)}"
    return f"a value of type {_shortened(type(value).__name__)}"


def _shown_number(value: int | float) -> str:
    # Python refuses to write very long integers, so their length is told from their bits.
    if isinstance(value, int) and value.bit_length() > 4 * LONGEST_VALUE:
        return f"an integer of about {round(value.bit_length() * 0.30103):,} digits"
    return repr(value)


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"
