"""Finds the globs that have to be verified: each filed under the rarest bit of its literals.

A gram is a run of up to eight characters, of one of a few sizes. A topic that lacks one gram of
a glob's pieces cannot match it, so each glob is filed under one gram, or under the start of its
prefix or the end of its suffix where that is rarer, and is looked at only by topics that have it.

A topic has at most one gram of each size per character. What a match costs on top of that is
the globs that share their rarest bit with the topic; verifying one takes each piece once, from
left to right, and never goes back.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Any

from ramify.index.buckets import Held, drop, items_of, joined, parted, put
from ramify.model import Glob

# Each size in use costs a topic a look-up per character; a size that a piece just misses costs it
# most of what makes it rare: of `82913` there are a hundred thousand, of `8291` ten thousand.
GRAM_SIZES = (8, 6, 5, 4, 3, 2, 1)
ANCHOR_LENGTHS = (2, 4, 8, 16, 32, 64)
# A long piece has many grams, and a glob many pieces; looking at more seldom finds a rarer one.
GRAMS_LOOKED_AT = 16
PIECES_LOOKED_AT = 6
# How many counters per glob tell common grams from rare ones; grams that share one look more common.
COUNTERS_PER_GLOB = 4
FEWEST_COUNTERS = 4_096

Table = dict[str, Held]


class _Candidate:
    """A glob to verify, what is filed under it, and where it stands itself."""

    __slots__ = ("first", "held", "inner", "key", "last", "table")

    def __init__(self, glob: Glob, table: Table, key: str) -> None:
        self.first, *self.inner, self.last = glob.pieces
        self.table, self.key = table, key
        self.held: Held = None

    def matches(self, topic: str) -> bool:
        at, end = len(self.first), len(topic) - len(self.last)
        if at > end or not topic.startswith(self.first) or not topic.endswith(self.last):
            return False
        for piece in self.inner:
            at = topic.find(piece, at, end)
            if at < 0:
                return False
            at += len(piece)
        return True


class GramIndex:
    """Items by globs that a look-up alone cannot prove to match."""

    def __init__(self) -> None:
        self._heads: dict[int, Table] = {}
        self._tails: dict[int, Table] = {}
        self._grams: dict[int, Table] = {}
        self._candidates: dict[Glob, _Candidate] = {}
        self._seen = array("I")

    def add(self, glob: Glob, item: object) -> None:
        """File an item under a glob with at least one literal character."""
        candidate = self._candidates.get(glob)
        if candidate is None:
            table, key = self._rarest_place(glob)
            candidate = self._candidates[glob] = _Candidate(glob, table, key)
            candidate.held = item
            put(table, key, candidate)
        else:
            candidate.held = joined(candidate.held, item)

    def holds(self, glob: Glob) -> bool:
        """Whether anything is filed under this glob."""
        return glob in self._candidates

    def remove(self, glob: Glob, item: object) -> None:
        """Take away an item that was filed under this glob."""
        candidate = self._candidates[glob]
        candidate.held = parted(candidate.held, item)
        if candidate.held is None:
            drop(candidate.table, candidate.key, candidate)
            del self._candidates[glob]

    def find(self, topic: str, out: list[object], kind: type) -> None:
        """Append the items of every glob that matches the topic; all are of this kind."""
        if not self._candidates:
            return
        for candidate in self._sharing_a_key(topic):
            if candidate.matches(topic):
                held = candidate.held
                if held.__class__ is kind:
                    out.append(held)
                elif held is not None:
                    out += held

    def describe(self, glob: Glob) -> str:
        """The key that a glob is filed under, in words."""
        candidate = self._candidates[glob]
        table, key = candidate.table, candidate.key
        if self._heads.get(len(key)) is table:
            return f"starts with {key!r}"
        return f"ends with {key!r}" if self._tails.get(len(key)) is table else f"has the gram {key!r}"

    def filed(self) -> Iterator[tuple[str, str, Iterable[Any]]]:
        """Every glob's items, with the key they are under: of `heads`, `tails`, or grams of a size."""
        names = {id(table): name for name, table in self._named_tables()}
        for candidate in self._candidates.values():
            yield names[id(candidate.table)], candidate.key, items_of(candidate.held)

    def _named_tables(self) -> Iterator[tuple[str, Table]]:
        yield from (("heads", table) for table in self._heads.values())
        yield from (("tails", table) for table in self._tails.values())
        yield from ((str(size), table) for size, table in self._grams.items())

    def _rarest_place(self, glob: Glob) -> tuple[Table, str]:
        """The place whose key is seen least in the globs so far: theirs is all we know of topics."""
        if COUNTERS_PER_GLOB * len(self._candidates) >= len(self._seen):
            # A gram's counter among twice as many is one of two that both start where the old one stood.
            self._seen = self._seen * 2 or array("I", bytes(4 * FEWEST_COUNTERS))
        seen, fewest, rarest = self._seen, -1, None
        counters = len(seen)
        for table, key in self._places(glob):
            counter = hash(key) % counters
            times = seen[counter]
            seen[counter] = times + 1
            if rarest is None or times < fewest:
                fewest, rarest = times, (table, key)
        assert rarest is not None, "a glob without a literal is filed elsewhere"
        return rarest

    def _places(self, glob: Glob) -> Iterator[tuple[Table, str]]:
        """Where a glob may be filed."""
        first, *_, last = glob.pieces
        for text, tables, cut in ((first, self._heads, slice(None)), (last, self._tails, slice(-1))):
            rung = bisect_right(ANCHOR_LENGTHS, len(text))
            if rung:
                length = ANCHOR_LENGTHS[rung - 1]
                key = text[:length] if cut.stop is None else text[-length:]
                yield tables.setdefault(length, {}), key
        for piece in sorted(glob.pieces, key=len, reverse=True)[:PIECES_LOOKED_AT]:
            yield from self._gram_places(piece)

    def _gram_places(self, piece: str) -> Iterator[tuple[Table, str]]:
        size = next((size for size in GRAM_SIZES if size <= len(piece)), 0)
        if size:
            table = self._grams.setdefault(size, {})
            places = len(piece) - size + 1
            for at in range(0, places, -(-places // GRAMS_LOOKED_AT)):
                yield table, piece[at : at + size]

    def _sharing_a_key(self, topic: str) -> list[_Candidate]:
        found: list[_Candidate] = []
        length = len(topic)
        for size, table in tuple(self._grams.items()):
            if not table:
                continue
            grams = set(topic) if size == 1 else {topic[at : at + size] for at in range(length - size + 1)}
            for held in filter(None, map(table.get, grams)):
                _pour(held, found)
        for size, table in tuple(self._heads.items()):
            _pour(table.get(topic[:size]), found)
        for size, table in tuple(self._tails.items()):
            _pour(table.get(topic[-size:]), found)
        return found


def _pour(held: Held, found: list[_Candidate]) -> None:
    if held.__class__ is _Candidate:
        found.append(held)
    elif held is not None:
        found += held
