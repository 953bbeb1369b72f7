"""Candidates in the order of their bounds, for readers that work beside a writer.

A bisection finds how far the bounds hold for a value, and a second look takes them out. Were
the list to change between the two, a reader would take one too many, or one too few. So what
readers see is a snapshot: blocks that are never changed, but replaced. A change copies one
block and the row of blocks, so it costs much the same at a thousand bounds and at a million.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from itertools import count
from operator import attrgetter
from typing import Any

from ramify.index.candidates import Candidate
from ramify.model import Operator

# A block that has grown to twice this is cut in two.
BLOCK = 256

Block = tuple[Candidate, ...]
Cut = Callable[..., int]

_bound_of = attrgetter("bound")
# Among equal bounds in order of arrival, so that one of a million equals is found by bisection too.
_place_of = attrgetter("bound", "slot")


class Bounds:
    """Candidates with one operator on one field, sorted by their bounds."""

    __slots__ = ("_arrivals", "_blocks", "_operator")

    def __init__(self, operator: Operator) -> None:
        self._operator = operator
        self._arrivals = count()
        self._blocks: tuple[tuple[Any, ...], tuple[Block, ...]] = (), ()
        """The first bound of each block, and the blocks."""

    def __bool__(self) -> bool:
        return bool(self._blocks[1])

    def add(self, candidate: Candidate) -> None:
        """Take in a candidate that knows its bound; its slot says from now on when it came."""
        candidate.slot = next(self._arrivals)
        starts, blocks = self._blocks
        at = max(bisect_right(starts, candidate.bound) - 1, 0)
        block = blocks[at] if blocks else ()
        place = bisect_right(block, candidate.bound, key=_bound_of)
        self._replace(at, (*block[:place], candidate, *block[place:]))

    def remove(self, candidate: Candidate) -> None:
        """Take away a candidate that was added."""
        place = _place_of(candidate)
        at = bisect_left(self._blocks[1], place, key=lambda block: _place_of(block[-1]))
        block = self._blocks[1][at]
        gone = bisect_left(block, place, key=_place_of)
        self._replace(at, (*block[:gone], *block[gone + 1 :]))

    def holding(self, value: Any) -> list[Candidate]:
        """Every candidate whose comparison holds for a value that has an order with the bounds."""
        cut, is_below = _CUTS[self._operator]
        return self._below(value, cut) if is_below else self._above(value, cut)

    def _below(self, value: Any, cut: Cut) -> list[Candidate]:
        starts, blocks = self._blocks
        at = cut(starts, value)
        if not at:
            return []
        found: list[Candidate] = []
        for block in blocks[: at - 1]:
            found += block
        edge = blocks[at - 1]
        found += edge[: cut(edge, value, key=_bound_of)]
        return found

    def _above(self, value: Any, cut: Cut) -> list[Candidate]:
        starts, blocks = self._blocks
        at = cut(starts, value)
        found: list[Candidate] = []
        if at:
            edge = blocks[at - 1]
            found += edge[cut(edge, value, key=_bound_of) :]
        for block in blocks[at:]:
            found += block
        return found

    def _replace(self, at: int, block: Block) -> None:
        starts, blocks = self._blocks
        half = len(block) // 2
        parts = (block[:half], block[half:]) if len(block) >= 2 * BLOCK else (block,) if block else ()
        firsts = [part[0].bound for part in parts]
        self._blocks = (
            (*starts[:at], *firsts, *starts[at + 1 :]),
            (*blocks[:at], *parts, *blocks[at + 1 :]),
        )


# Where the bounds that hold for a value end (or start), and whether they lie below it.
_CUTS: dict[Operator, tuple[Cut, bool]] = {
    Operator.GT: (bisect_left, True),
    Operator.GE: (bisect_right, True),
    Operator.LT: (bisect_right, False),
    Operator.LE: (bisect_left, False),
}
