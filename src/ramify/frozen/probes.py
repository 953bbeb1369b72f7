"""Looks a whole batch of topics up by the probes of its level patterns.

As in the live index, all patterns of a shape share a probe. Every word of the batch is a number
by now; a probe adds up the salted numbers of a topic's words at its literal places into one key,
and looks all keys up at once. A key is a hash: what it finds is compared word by word.

A class of shapes that has too many of them for this goes to a trie (`levels`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ramify.frozen.csr import Lists
from ramify.frozen.levels import Hits
from ramify.frozen.tables import NOTHING, Arrays, HashClash, IntTable, mix
from ramify.frozen.texts import I32, I64, U64, Flags
from ramify.frozen.words import Words
from ramify.index.probes import literal_places
from ramify.index.segments import DEEP, MANY_SHAPES
from ramify.model import LevelRules, Levels, Rest

Numbered = tuple[int, Levels]
"""A pattern, with its number."""

Shape = tuple[int, Rest, tuple[int, ...]]
"""How many levels are named, what may follow, and which of the levels are literal."""

_RESTS = (Rest.NONE, Rest.ANY, Rest.SOME)


class LevelProbes:
    """The level patterns that follow one set of rules and have few shapes."""

    def __init__(self, rules: LevelRules, name: str, arrays: Mapping[str, Any], salt: int) -> None:
        self._rules, self._salt = rules, np.uint64(salt)
        self._literals: I32 = arrays[f"{name}.literals"]
        self._numbers: I32 = arrays[f"{name}.numbers"]
        places = Lists.from_arrays(f"{name}.places", arrays)
        self._shapes = [
            (at, int(size), _RESTS[rest], places.items[places.starts[at] : places.starts[at + 1]].tolist())
            for at, (size, rest) in enumerate(
                zip(arrays[f"{name}.sizes"].tolist(), arrays[f"{name}.rests"].tolist(), strict=True)
            )
        ]
        # A table for each shape: small ones stay in the processor's cache while a batch asks them.
        self._tables = [IntTable.from_arrays(f"{name}.keys{at}", arrays, salt) for at, *_ in self._shapes]
        self._first_row: I64 = arrays[f"{name}.first_row"]
        self._first_literal: I64 = arrays[f"{name}.first_literal"]

    def find(self, words: Words, hits: Hits) -> None:
        """Add every (topic, pattern) pair."""
        levels = _LevelsOf(words, self._salt)
        for at, size, rest, places in self._shapes:
            rows = self._rows_for(size, rest, places, words, levels)
            if len(rows):
                self._ask(at, places, rows, levels, hits)

    def _rows_for(self, size: int, rest: Rest, places: list[int], words: Words, levels: _LevelsOf) -> I64:
        """The topics whose depth suits a shape, and whose words do as far as one can tell by now."""
        suits = words.depths == size if rest is Rest.NONE else words.depths >= size + (rest is Rest.SOME)
        if self._rules.hides_internal and 0 not in places:
            suits &= ~words.is_internal
        for place in places:
            suits &= levels.is_known(place)
        if not self._rules.wildcard_takes_empty and levels.any_is_empty:
            for place in set(range(size)) - set(places):
                suits &= ~levels.is_empty(place)
        return np.flatnonzero(suits)

    def _ask(self, shape: int, places: list[int], rows: I64, levels: _LevelsOf, hits: Hits) -> None:
        keys = np.zeros(len(rows), dtype=np.uint64)
        # Batches are often of one depth, and then nothing has to be picked out.
        picked = slice(None) if len(rows) == len(levels) else rows
        for place in places:
            keys += levels.keys(place)[picked]
        found = self._tables[shape].look_up(keys)
        met = np.flatnonzero(found != NOTHING)
        rows, found = rows[met], found[met]
        starts = self._first_literal[shape] + found.astype(np.int64) * len(places)
        same = np.ones(len(rows), dtype=np.bool_)
        for offset, place in enumerate(places):
            same &= self._literals[starts + offset] == levels.ids(place)[rows]
        hits.append((rows[same], self._numbers[self._first_row[shape] + found[same]]))


class _LevelsOf:
    """The words of a batch level by level, each level worked out when it is first asked for."""

    def __init__(self, words: Words, salt: np.uint64) -> None:
        self._words, self._salt = words, salt
        self._last = words.first + words.depths - 1
        self._ids: dict[int, I32] = {}
        self._keys: dict[int, U64] = {}
        self.any_is_empty = bool(words.is_empty.any())

    def __len__(self) -> int:
        return len(self._last)

    def _at(self, place: int) -> I64:
        # A topic that ends before this level gives its last word: its depth will rule it out.
        return np.asarray(np.minimum(self._words.first + place, self._last))

    def ids(self, place: int) -> I32:
        if place not in self._ids:
            self._ids[place] = self._words.ids[self._at(place)]
        return self._ids[place]

    def keys(self, place: int) -> U64:
        if place not in self._keys:
            self._keys[place] = word_keys(self.ids(place), place, self._salt)
        return self._keys[place]

    def is_known(self, place: int) -> Flags:
        return np.asarray(self.ids(place) != NOTHING)

    def is_empty(self, place: int) -> Flags:
        return np.asarray(self._words.is_empty[self._at(place)])


def word_keys(ids: I32, place: int, salt: np.uint64) -> U64:
    """What the words at a place add to a key."""
    return mix((ids.astype(np.uint64) << np.uint64(16)) | np.uint64(place), salt)


def split_by_shapes(patterns: Iterable[Numbered]) -> tuple[list[Numbered], list[Numbered]]:
    """The patterns for probes, and those for a trie: too deep, or of a class with too many shapes."""
    by_class: dict[int | Rest, list[Numbered]] = {}
    deep: list[Numbered] = []
    for number, pattern in patterns:
        if len(pattern.levels) > DEEP:
            deep.append((number, pattern))
        else:
            name = len(pattern.levels) if pattern.rest is Rest.NONE else pattern.rest
            by_class.setdefault(name, []).append((number, pattern))
    few: list[Numbered] = []
    for members in by_class.values():
        shapes = {(len(pattern.levels), literal_places(pattern.levels)) for _, pattern in members}
        (few if len(shapes) <= MANY_SHAPES else deep).extend(members)
    return few, deep


def build_probes(name: str, patterns: list[Numbered], words: Mapping[str, int], salt: int) -> Arrays:
    """The arrays that `LevelProbes` reads."""
    shapes: dict[Shape, list[Numbered]] = {}
    for number, pattern in patterns:
        shape = (len(pattern.levels), pattern.rest, literal_places(pattern.levels))
        shapes.setdefault(shape, []).append((number, pattern))
    literals = [_literals(shape, members, words) for shape, members in shapes.items()]
    sizes = [len(members) for members in shapes.values()]
    tables: Arrays = {}
    for at, (shape, rows) in enumerate(zip(shapes, literals, strict=True)):
        tables |= _table(shape, rows, salt).to_arrays(f"{name}.keys{at}")
    numbers = [number for members in shapes.values() for number, _ in members]
    return {
        **tables,
        **Lists.build([places for _, _, places in shapes]).to_arrays(f"{name}.places"),
        f"{name}.sizes": np.array([size for size, _, _ in shapes], dtype=np.int32),
        f"{name}.rests": np.array([_RESTS.index(rest) for _, rest, _ in shapes], dtype=np.int32),
        f"{name}.first_row": np.cumsum([0, *sizes], dtype=np.int64),
        f"{name}.first_literal": np.cumsum([0, *(each.size for each in literals)], dtype=np.int64),
        f"{name}.literals": np.concatenate([*(each.ravel() for each in literals), np.zeros(1, np.int32)]),
        f"{name}.numbers": np.array(numbers, dtype=np.int32),
    }


def _literals(shape: Shape, members: list[Numbered], words: Mapping[str, int]) -> I32:
    """The number of each literal word: a row for each pattern of the shape."""
    rows = [[words[pattern.levels[place] or ""] for place in shape[2]] for _, pattern in members]
    return np.array(rows, dtype=np.int32).reshape(len(members), len(shape[2]))


def _table(shape: Shape, rows: I32, salt: int) -> IntTable:
    """The rows of a shape's patterns by the sums of their words' keys."""
    keys = np.zeros(len(rows), dtype=np.uint64)
    for offset, place in enumerate(shape[2]):
        keys += word_keys(rows[:, offset], place, np.uint64(salt))
    if len(np.unique(keys)) < len(keys):
        raise HashClash
    return IntTable.build(keys, np.arange(len(rows), dtype=np.int32), salt)
