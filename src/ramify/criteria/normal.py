"""Rewrites a term as alternatives: it holds if and only if every literal of one clause holds.

This is the disjunctive normal form. The index files a subscription under each of its clauses, so
there must be few: a term that would need more than the limit has no normal form here.
"""

from __future__ import annotations

from itertools import chain, product
from math import prod

from ramify.criteria.ranges import Clause, Literal, is_contradictory
from ramify.model import All, AnyOf, Atom, Between, Comparison, Like, Membership, Not, Operator, Term

CLAUSES_TO_LINT = 64


def clauses(term: Term, limit: int = 16) -> tuple[Clause, ...] | None:
    """List the clauses of a term, or None if there would be more than the limit.

    Clauses are counted as they are multiplied out, so that the work is bounded; those that can
    never hold, and duplicates, are dropped afterwards. No clause at all means "never".
    """
    found = _multiplied(term, True, limit)
    return None if found is None else _tidy(found)


def filing_clauses(term: Term, limit: int = 16) -> tuple[Clause, ...] | None:
    """List them for filing: a lone clause stays, since finding out that it cannot hold would cost more."""
    found = _multiplied(term, True, limit)
    if found is None or len(found) > 1:
        return None if found is None else _tidy(found)
    return (_distinct(found[0]),) if found else ()


def never_holds(term: Term) -> bool:
    """Say whether a term is sure to hold for no event; False is no promise of the contrary."""
    found = clauses(term, CLAUSES_TO_LINT)
    if found is not None:
        return not found
    match term:
        case All(terms):
            return any(never_holds(part) for part in terms)
        case AnyOf(terms):
            return all(never_holds(part) for part in terms)
    return False


def _multiplied(term: Term, wanted: bool, limit: int) -> list[Clause] | None:
    match term:
        case Not(part):
            return _multiplied(part, not wanted, limit)
        case All(terms) | AnyOf(terms):
            is_product = isinstance(term, All) is wanted
            parts = _parts(terms, wanted, limit)
            if parts is None:
                return None
            return _product(parts, limit) if is_product else _sum(parts, limit)
        case _:
            return [(_literal(term, wanted),)]


def _literal(atom: Atom, wanted: bool) -> Literal:
    """Write a comparison, or its negation, as an equality if it is one: the index looks for those."""
    if wanted and isinstance(atom, Comparison):
        return atom
    match atom:
        case Membership(path, (value,)):
            return Comparison(path, Operator.EQ if wanted else Operator.NE, value)
        case Like(path, (text,)):
            return Comparison(path, Operator.EQ if wanted else Operator.NE, text)
        case Comparison(path, Operator.EQ | Operator.NE as sign, value):
            return Comparison(path, Operator.NE if sign is Operator.EQ else Operator.EQ, value)
    return atom if wanted else Not(atom)


def _parts(terms: tuple[Term, ...], wanted: bool, limit: int) -> list[list[Clause]] | None:
    parts = []
    for term in terms:
        part = _multiplied(term, wanted, limit)
        if part is None:
            return None
        parts.append(part)
    return parts


def _sum(parts: list[list[Clause]], limit: int) -> list[Clause] | None:
    if sum(map(len, parts)) > limit:
        return None
    return [clause for part in parts for clause in part]


def _product(parts: list[list[Clause]], limit: int) -> list[Clause] | None:
    if prod(map(len, parts)) > limit:
        return None
    return [tuple(chain.from_iterable(choice)) for choice in product(*parts)]


def _tidy(found: list[Clause]) -> tuple[Clause, ...]:
    if () in found:
        return ((),)
    possible = [clause for clause in map(_distinct, found) if not is_contradictory(clause)]
    if len(possible) < 2:
        return tuple(possible)
    return tuple({frozenset(map(_identity, clause)): clause for clause in possible}.values())


def _distinct(clause: Clause) -> Clause:
    if len(clause) < 2:
        return clause
    return tuple({_identity(literal): literal for literal in clause}.values())


def _identity(literal: Literal) -> object:
    """Tell literals apart that Python takes as equal: `x = 1` is not `x = true`."""
    atom = literal.term if isinstance(literal, Not) else literal
    match atom:
        case Comparison(_, _, value):
            return literal, type(value)
        case Membership(_, values):
            return literal, tuple(map(type, values))
        case Between(_, low, high):
            return literal, type(low), type(high)
    return literal
