"""Lists of numbers by position, laid end to end: `items[starts[i]:starts[i + 1]]` is the list of `i`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ramify.frozen.tables import Arrays
from ramify.frozen.texts import I32, I64


class Lists:
    """A list of small numbers for each position."""

    def __init__(self, starts: I64, items: I32) -> None:
        self.starts, self.items = starts, items

    @classmethod
    def build(cls, lists: Sequence[Iterable[int]]) -> Lists:
        """Lay lists end to end."""
        laid = [list(items) for items in lists]
        starts = np.zeros(len(laid) + 1, dtype=np.int64)
        np.cumsum([len(items) for items in laid], out=starts[1:])
        flat = (item for items in laid for item in items)
        return cls(starts, np.fromiter(flat, dtype=np.int32, count=int(starts[-1])))

    @classmethod
    def by_position(cls, positions: I64, items: I32, size: int) -> Lists:
        """The lists of so many positions, of items in any order that each know their own."""
        starts = np.zeros(size + 1, dtype=np.int64)
        np.cumsum(np.bincount(positions, minlength=size), out=starts[1:])
        return cls(starts, items[np.argsort(positions, kind="stable")])

    def followed_by(self, others: Lists) -> Lists:
        """These lists, and behind them the others."""
        starts = np.concatenate([self.starts, others.starts[1:] + self.starts[-1]])
        return Lists(starts, np.concatenate([self.items, others.items]))

    def counts(self, positions: I32 | I64) -> I64:
        """How long the list of each position is."""
        return np.asarray(self.starts[positions + 1] - self.starts[positions])

    def expand(self, positions: I32 | I64) -> tuple[I64, I32]:
        """The items of all these positions, each with the row of `positions` that it came from."""
        counts = self.counts(positions)
        return np.repeat(np.arange(len(positions)), counts), self.items[
            ranges(self.starts[positions], counts)
        ]

    def to_arrays(self, name: str) -> Arrays:
        """What a file has to keep."""
        return {f"{name}.starts": self.starts, f"{name}.items": self.items}

    @classmethod
    def from_arrays(cls, name: str, arrays: Mapping[str, Any]) -> Lists:
        """The lists that a file has kept."""
        return cls(arrays[f"{name}.starts"], arrays[f"{name}.items"])


def ranges(starts: I64, counts: I64) -> I64:
    """The numbers from each start on, so many of each, in one row."""
    total = int(counts.sum())
    before = np.cumsum(counts) - counts
    return np.asarray(np.arange(total) + np.repeat(starts - before, counts))
