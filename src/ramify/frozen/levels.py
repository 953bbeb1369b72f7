"""Walks a whole batch of topics down a trie of levels, one level a step.

The trie is a table of edges: (node, word) leads to a node. A batch is a frontier of (topic,
node) pairs; a step looks up the next word of every pair at once. Shapes do not matter here as
they do for one topic at a time: a step costs the same array operations however many there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ramify.frozen.tables import NOTHING, Arrays, IntTable
from ramify.frozen.texts import I32, I64, U64, Flags
from ramify.frozen.words import Words
from ramify.model import LevelRules, Levels, Rest

_ENDS = (Rest.NONE, Rest.ANY, Rest.SOME)
_WORD_BITS = np.uint64(32)

Hits = list[tuple[I64, I32]]
"""Rows of a batch, and the patterns that they match."""


class LevelTrie:
    """The level patterns that follow one set of rules."""

    def __init__(self, rules: LevelRules, edges: IntTable, wild: I32, ends: Mapping[Rest, I32]) -> None:
        self.rules = rules
        self._edges, self._wild, self._ends = edges, wild, ends

    @classmethod
    def build(
        cls, rules: LevelRules, patterns: Iterable[tuple[int, Levels]], words: Mapping[str, int], salt: int
    ) -> LevelTrie:
        """Grow a trie from patterns and their numbers, given the number of each word."""
        children: dict[tuple[int, str | None], int] = {}
        ends: dict[Rest, dict[int, int]] = {rest: {} for rest in _ENDS}
        for number, pattern in patterns:
            node = 0
            for level in pattern.levels:
                node = children.setdefault((node, level), len(children) + 1)
            ends[pattern.rest][node] = number
        size = len(children) + 1
        literal = [
            (node, words[level], child) for (node, level), child in children.items() if level is not None
        ]
        wild = np.full(size, NOTHING, dtype=np.int32)
        for (node, level), child in children.items():
            if level is None:
                wild[node] = child
        return cls(
            rules, _edge_table(literal, salt), wild, {rest: _by_node(ends[rest], size) for rest in _ENDS}
        )

    def find(self, words: Words, hits: Hits) -> None:
        """Add every (topic, pattern) pair."""
        if len(self._wild) == 1 and not self._has_ends_at_root:
            return
        rows = np.arange(len(words.first))
        nodes = np.zeros(len(rows), dtype=np.int32)
        level = 0
        while len(rows):
            hides = level == 0 and self.rules.hides_internal
            rows, nodes = self._emit(level, rows, nodes, words, hides, hits)
            at = words.first[rows] + level
            hidden = words.is_internal[rows] if hides else None
            rows, nodes = self._step(rows, nodes, words.ids[at], words.is_empty[at], hidden)
            level += 1

    @property
    def _has_ends_at_root(self) -> bool:
        return any(ends[0] != NOTHING for ends in self._ends.values())

    def _emit(
        self, level: int, rows: I64, nodes: I32, words: Words, hides: bool, hits: Hits
    ) -> tuple[I64, I32]:
        """Add what ends here; give back the pairs whose topics go on."""
        is_over = words.depths[rows] == level
        for rest, applies in ((Rest.NONE, is_over), (Rest.ANY, None), (Rest.SOME, ~is_over)):
            ends = self._ends[rest][nodes]
            ending = ends != NOTHING
            if applies is not None:
                ending &= applies
            if hides:
                ending &= ~words.is_internal[rows]
            if ending.any():
                hits.append((rows[ending], ends[ending]))
        return rows[~is_over], nodes[~is_over]

    def _step(
        self, rows: I64, nodes: I32, word_ids: I32, is_empty: Flags, hidden: Flags | None
    ) -> tuple[I64, I32]:
        """Follow the literal edge and the wildcard edge of every pair."""
        below = self._wild[nodes]
        by_wildcard = below != NOTHING
        if not self.rules.wildcard_takes_empty:
            by_wildcard &= ~is_empty
        if hidden is not None:
            by_wildcard &= ~hidden
        known = np.flatnonzero(word_ids != NOTHING)
        children = self._edges.look_up(_edge_keys(nodes[known], word_ids[known]))
        by_word = children != NOTHING
        return (
            np.concatenate((rows[by_wildcard], rows[known[by_word]])),
            np.concatenate((below[by_wildcard], children[by_word])),
        )

    def to_arrays(self, name: str) -> Arrays:
        """What a file has to keep."""
        arrays = {**self._edges.to_arrays(f"{name}.edges"), f"{name}.wild": self._wild}
        return arrays | {f"{name}.{rest.name}": self._ends[rest] for rest in _ENDS}

    @classmethod
    def from_arrays(cls, name: str, rules: LevelRules, arrays: Mapping[str, Any], salt: int) -> LevelTrie:
        """The trie that a file has kept."""
        ends = {rest: arrays[f"{name}.{rest.name}"] for rest in _ENDS}
        return cls(rules, IntTable.from_arrays(f"{name}.edges", arrays, salt), arrays[f"{name}.wild"], ends)


def _edge_table(edges: list[tuple[int, int, int]], salt: int) -> IntTable:
    columns = np.array(edges, dtype=np.int64).reshape(-1, 3)
    return IntTable.build(_edge_keys(columns[:, 0], columns[:, 1]), columns[:, 2].astype(np.int32), salt)


def _edge_keys(nodes: Any, word_ids: Any) -> U64:
    return np.asarray((nodes.astype(np.uint64) << _WORD_BITS) | word_ids.astype(np.uint64))


def _by_node(numbers: dict[int, int], size: int) -> I32:
    ends = np.full(size, NOTHING, dtype=np.int32)
    ends[list(numbers.keys())] = list(numbers.values())
    return ends
