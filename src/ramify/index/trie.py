"""A trie of levels, for the patterns that would need too many probes.

Walking it costs a step per node whose path agrees with the topic so far: at most two to the
power of the topic's levels, and never more than the trie has nodes. Probes are faster for the
few shapes that an ordinary set of patterns has; the trie does not care how many there are.
"""

from __future__ import annotations

from typing import Any

from ramify.index.buckets import drop, items_of, put
from ramify.model import LevelRules, Levels, Rest

# Looking up a member of an enum takes Python 3.11 about as long as a step of the walk.
_ENDING_HERE = (Rest.NONE, Rest.ANY)
_GOING_ON = (Rest.ANY, Rest.SOME)


class _Node:
    """The patterns whose levels so far led here."""

    __slots__ = ("children", "ends")

    def __init__(self) -> None:
        self.children: dict[str | None, _Node] = {}
        self.ends: dict[Rest, Any] = {}

    @property
    def is_empty(self) -> bool:
        return not self.children and not self.ends


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
            child = node.children.get(level)
            if child is None:
                child = node.children[level] = _Node()
            node = child
        put(node.ends, levels.rest, item)

    def remove(self, levels: Levels, item: object) -> None:
        """Take an item away, and the nodes that only it needed."""
        path = [self._root]
        for level in levels.levels:
            path.append(path[-1].children[level])
        drop(path[-1].ends, levels.rest, item)
        for parent, level in zip(reversed(path[:-1]), reversed(levels.levels), strict=True):
            if not parent.children[level].is_empty:
                break
            del parent.children[level]

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
            for rest in _ENDING_HERE:
                held = node.ends.get(rest)
                if held is not None:
                    out.extend(items_of(held))

    def _step(self, nodes: list[_Node], word: str, blind: bool, out: list[Any]) -> list[_Node]:
        """Go one level down from each node; `blind` says that wildcards do not see this level."""
        wildcard_sees = not blind and (word != "" or self._rules.wildcard_takes_empty)
        below: list[_Node] = []
        for node in nodes:
            if node.ends and not blind:
                for rest in _GOING_ON:
                    held = node.ends.get(rest)
                    if held is not None:
                        out.extend(items_of(held))
            child = node.children.get(word)
            if child is not None:
                below.append(child)
            child = node.children.get(None) if wildcard_sees else None
            if child is not None:
                below.append(child)
        return below
