"""A probe: which levels of a topic to look at, and what is filed under what stands there.

All patterns that name equally many levels and are literal at the same places share a shape,
and a shape is one probe. Its key is the words at the literal places, so one look-up answers
for every pattern of the shape, however many there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import itemgetter
from typing import Any

from ramify.index.buckets import items_of

Key = Any


class Shape:
    """The probe of one shape of pattern, and the table of its keys."""

    __slots__ = ("key_of", "literal", "size", "starts_wild", "table")

    def __init__(self, size: int, literal: tuple[int, ...]) -> None:
        self.size = size
        self.literal = literal
        self.starts_wild = not literal or literal[0] != 0
        self.key_of: Callable[[Any], Key] = itemgetter(*literal) if literal else _no_key
        self.table: dict[Key, Any] = {}

    def sees(self, words: list[str]) -> bool:
        """Whether every wildcard stands for a word that is not empty."""
        return all(words[at] for at in range(self.size) if at not in self.literal)

    def filed(self) -> Iterator[tuple[tuple[str | None, ...], Any]]:
        """Every item, with the levels of its pattern."""
        for key, held in self.table.items():
            words = (key,) if len(self.literal) == 1 else key or ()
            literals = dict(zip(self.literal, words, strict=True))
            levels = tuple(literals.get(at) for at in range(self.size))
            for item in items_of(held):
                yield levels, item

    def __str__(self) -> str:
        places = ", ".join(str(at + 1) for at in self.literal) or "none"
        return f"{self.size} levels, look at {places}"


def literal_places(levels: tuple[str | None, ...]) -> tuple[int, ...]:
    """Where a pattern names a word: what decides its shape."""
    return tuple([at for at, level in enumerate(levels) if level is not None])


def _no_key(_: object) -> Key:
    """The key of a shape without literal levels."""
    return None
