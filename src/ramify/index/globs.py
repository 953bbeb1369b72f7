"""Finds the globs that match a topic.

`abc*` is filed under its prefix and `*abc` under its suffix, each in the table of its length:
what a topic finds under one of its own prefixes or suffixes matches, and nothing is verified.
All other globs, and those whose length is one too many, go to `grams`.
"""

from __future__ import annotations

from typing import Any

from ramify.index.buckets import Held, joined, parted
from ramify.index.grams import GramIndex
from ramify.index.lengths import LengthTables
from ramify.model import Glob


class GlobIndex:
    """Items by globs."""

    def __init__(self) -> None:
        self._every: Held = None
        self._prefixes = LengthTables()
        self._suffixes = LengthTables()
        self._others = GramIndex()
        self._count = 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing is filed here."""
        return self._count == 0

    def add(self, glob: Glob, item: object) -> None:
        """File an item under a glob."""
        self._count += 1
        if not any(glob.pieces):
            self._every = joined(self._every, item)
            return
        tables, text = self._anchor(glob)
        if tables is not None and tables.takes(len(text)) and not self._others.holds(glob):
            tables.add(text, item)
        else:
            self._others.add(glob, item)

    def remove(self, glob: Glob, item: object) -> None:
        """Take away an item that was filed under this glob."""
        self._count -= 1
        if not any(glob.pieces):
            self._every = parted(self._every, item)
            return
        tables, text = self._anchor(glob)
        if tables is not None and not self._others.holds(glob):
            tables.remove(text, item)
        else:
            self._others.remove(glob, item)

    def find(self, topic: str, out: list[Any], kind: type) -> None:
        """Append the items of every glob that matches the topic; all are of this kind."""
        held = self._every  # read once: the writer may take the last one away
        if held is not None:
            _pour(held, out, kind)
        longest = len(topic)
        for length, held_under in self._prefixes.lookups:
            if length > longest:
                break
            held = held_under(topic[:length])
            if held is not None:
                _pour(held, out, kind)
        for length, held_under in self._suffixes.lookups:
            if length > longest:
                break
            held = held_under(topic[-length:])
            if held is not None:
                _pour(held, out, kind)
        self._others.find(topic, out, kind)

    def describe(self, glob: Glob) -> str:
        """The key that a glob is filed under, in words."""
        if not any(glob.pieces):
            return "every topic"
        tables, text = self._anchor(glob)
        if tables is None or self._others.holds(glob):
            return self._others.describe(glob)
        return f"{'starts' if tables is self._prefixes else 'ends'} with {text!r}"

    def _anchor(self, glob: Glob) -> tuple[LengthTables | None, str]:
        """The tables in which finding the text proves the match, if there are any."""
        first, last = glob.pieces[0], glob.pieces[-1]
        if len(glob.pieces) > 2 or (first and last):
            return None, ""
        return (self._prefixes, first) if first else (self._suffixes, last)


def _pour(held: Held, out: list[Any], kind: type) -> None:
    if held.__class__ is kind:
        out.append(held)
    else:
        out += held
