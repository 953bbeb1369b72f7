"""The comparisons that a term is made of, whatever joins or negates them."""

from __future__ import annotations

from collections.abc import Iterator

from ramify.model import All, AnyOf, Atom, Not, Term


def atoms_of(term: Term) -> Iterator[Atom]:
    """Every comparison in a term, in the order in which they are written."""
    match term:
        case All(terms) | AnyOf(terms):
            for part in terms:
                yield from atoms_of(part)
        case Not(part):
            yield from atoms_of(part)
        case _:
            yield term
