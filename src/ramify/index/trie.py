"""A trie of levels, for the patterns that would need too many probes.

Walking it costs a step per node whose path agrees with the topic so far: at most two to the
power of the topic's levels, and never more than the trie has nodes. Probes are faster for the
few shapes that an ordinary set of patterns has; the trie does not care how many there are.
"""

from __future__ import annotations

from typing import Any

from ramify.index.buckets import Held, joined, parted
from ramify.model import LevelRules, Levels, Rest

# Where a node keeps what ends there, by what may follow.
_SLOTS = {Rest.NONE: "here", Rest.ANY: "with_any_rest", Rest.SOME: "with_some_rest"}


class _Node:
    """The patterns whose levels so far led here."""

    __slots__ = ("children", "here", "wild", "with_any_rest", "with_some_rest")

    def __init__(self) -> None:
        self.children: dict[str, _Node] = {}
        self.wild: _Node | None = None
        self.here: Held = None
        self.with_any_rest: Held = None
        self.with_some_rest: Held = None

    @property
    def is_empty(self) -> bool:
        held = (self.wild, self.here, self.with_any_rest, self.with_some_rest)
        return not self.children and held == (None, None, None, None)

    def child(self, level: str | None) -> _Node | None:
        return self.wild if level is None else self.children.get(level)

    def adopt(self, level: str | None, child: _Node) -> _Node:
        if level is None:
            self.wild = child
        else:
            self.children[level] = child
        return child

    def abandon(self, level: str | None) -> None:
        if level is None:
            self.wild = None
        else:
            del self.children[level]


class Trie:
    """Items by the levels of their pattern, one node per level."""

    def __init__(self, rules: LevelRules) -> None:
        self._rules = rules
        self._root = _Node()

    @property
    def is_empty(self) -> bool:
        """Whether nothing is filed here."""
        return self._root.is_empty

    def add(self, levels: Levels, item: object) -> None:
        """File an item under its pattern."""
        node = self._root
        for level in levels.levels:
            node = node.child(level) or node.adopt(level, _Node())
        slot = _SLOTS[levels.rest]
        setattr(node, slot, joined(getattr(node, slot), item))

    def remove(self, levels: Levels, item: object) -> None:
        """Take an item away, and the nodes that only it needed."""
        path = [self._root]
        for level in levels.levels:
            child = path[-1].child(level)
            assert child is not None, "what is removed was filed"
            path.append(child)
        slot = _SLOTS[levels.rest]
        setattr(path[-1], slot, parted(getattr(path[-1], slot), item))
        for parent, child, level in zip(path[-2::-1], path[:0:-1], levels.levels[::-1], strict=True):
            if not child.is_empty:
                break
            parent.abandon(level)

    def find(self, topic: str, words: list[str], out: list[Any]) -> None:
        """Append the items of every pattern that matches the topic, given its levels."""
        nodes = [self._root]
        blind = self._rules.hides_internal and topic.startswith("$")
        for word in words:
            nodes = self._step(nodes, word, blind, out)
            if not nodes:
                return
            blind = False
        for node in nodes:
            held = node.here
            if held is not None:
                _pour(held, out)
            held = node.with_any_rest
            if held is not None:
                _pour(held, out)

    def _step(self, nodes: list[_Node], word: str, blind: bool, out: list[Any]) -> list[_Node]:
        """Go one level down from each node; `blind` says that wildcards do not see this level."""
        wildcard_sees = not blind and (word != "" or self._rules.wildcard_takes_empty)
        below: list[_Node] = []
        for node in nodes:
            child = node.children.get(word)
            if child is not None:
                below.append(child)
            if wildcard_sees:
                child = node.wild
                if child is not None:
                    below.append(child)
            if not blind:
                held = node.with_any_rest
                if held is not None:
                    _pour(held, out)
                held = node.with_some_rest
                if held is not None:
                    _pour(held, out)
        return below


def _pour(held: Held, out: list[Any]) -> None:
    if held.__class__ is list or held.__class__ is dict:
        out += held
    else:
        out.append(held)
