"""Finds the level patterns that match a topic: a handful of probes, or a trie where they are many.

An ordinary set of patterns has a dozen shapes, and asking one probe for each is the fastest
way that Python knows. A hostile set has thousands, and every topic would pay for them. So
patterns are filed by class (those of one depth, or those with a rest), and a class with more
than `MANY_SHAPES` shapes is moved into a trie. A pattern deeper than `DEEP` starts there: a
probe's key costs a step per level, a trie stops at the first level that nobody wants.

One writer may change the index while others read it. What a reader needs hangs on one
`_Layout`; a move builds the next layout aside and swaps it in, so that no reader sees a
pattern twice or not at all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ramify.index.buckets import drop, put
from ramify.index.probes import Key, Shape, literal_places
from ramify.index.trie import Trie
from ramify.model import LevelRules, Levels, Rest

# Measured: at 32 shapes of a depth probes are a fifth faster, at 366 the trie is four times faster.
# All the shapes of five levels are 32.
MANY_SHAPES = 32
DEEP = 32

Class = int | Rest
"""Patterns without a rest by their depth, the others by their rest."""

Probe = tuple[Callable[[Any], Key], Callable[[Key], Any]]
Plan = tuple[tuple[Probe, ...], tuple[Trie, ...]]
_DEEP_CLASS: Class = DEEP + 1


class _Layout:
    """What is filed where, and what topics of a depth have to ask."""

    __slots__ = ("plans", "shapes", "tries")

    def __init__(self) -> None:
        self.shapes: dict[Class, dict[tuple[int, tuple[int, ...]], Shape]] = {}
        self.tries: dict[Class, Trie] = {}
        self.plans: dict[int, Plan] = {}
        """By depth; for internal topics by the depth's negative."""

    def shapes_for(self, depth: int, is_internal: bool) -> list[Shape]:
        """The shapes that a topic of this depth may match."""
        found = list(self.shapes.get(depth, {}).values())
        for rest, fewest in ((Rest.ANY, 0), (Rest.SOME, 1)):
            shapes = list(self.shapes.get(rest, {}).values())
            found += [shape for shape in shapes if shape.size + fewest <= depth]
        return [shape for shape in found if not (is_internal and shape.starts_wild)]

    def tries_for(self, depth: int) -> tuple[Trie, ...]:
        """The tries that hold patterns for topics of this depth."""
        classes: tuple[Class, ...] = (min(depth, _DEEP_CLASS), Rest.ANY, Rest.SOME)
        found = [self.tries.get(name) for name in classes]
        return tuple([trie for trie in found if trie is not None])

    def plan_for(self, depth: int, is_internal: bool) -> Plan:
        """Whom to ask, remembered for the next topic of this depth."""
        plans = self.plans  # the writer replaces it when shapes change: a late answer must not stick
        shapes = self.shapes_for(depth, is_internal)
        plan = tuple((shape.key_of, shape.table.get) for shape in shapes), self.tries_for(depth)
        if depth <= DEEP:
            plans[-depth if is_internal else depth] = plan
        return plan


class SegmentIndex:
    """Items by level patterns that all follow the same rules."""

    def __init__(self, rules: LevelRules) -> None:
        self._rules = rules
        self._separator = rules.separator
        self._hides_internal = rules.hides_internal
        self._minds_empty = not rules.wildcard_takes_empty
        self._layout = _Layout()

    @property
    def is_empty(self) -> bool:
        """Whether nothing is filed here."""
        return not self._layout.shapes and not self._layout.tries

    def add(self, pattern: Levels, item: object) -> None:
        """File an item under its pattern."""
        name, shape_name = _class_of(pattern), (len(pattern.levels), literal_places(pattern.levels))
        shapes = self._layout.shapes.get(name)
        shape = None if shapes is None else shapes.get(shape_name)
        if shape is None:
            shape = self._new_shape(name, shape_name)
        if shape is None:
            self._layout.tries[name].add(pattern, item)
        else:
            put(shape.table, shape.key_of(pattern.levels), item)

    def remove(self, pattern: Levels, item: object) -> None:
        """Take away an item that was filed under this pattern."""
        name = _class_of(pattern)
        trie = self._layout.tries.get(name)
        if trie is None:
            self._remove_from_shape(name, pattern, item)
            return
        trie.remove(pattern, item)
        if trie.is_empty:
            del self._layout.tries[name]
            self._layout.plans = {}

    def find(self, topic: str, out: list[Any], kind: type) -> None:
        """Append the items of every pattern that matches the topic; all are of this kind."""
        layout = self._layout
        words = topic.split(self._separator)
        depth = len(words)
        is_internal = self._hides_internal and topic[:1] == "$"
        plan = layout.plans.get(-depth if is_internal else depth)
        if plan is None:
            plan = layout.plan_for(depth, is_internal)
        probes, tries = plan
        if self._minds_empty and "" in words:
            shapes = layout.shapes_for(depth, is_internal)
            probes = tuple((shape.key_of, shape.table.get) for shape in shapes if shape.sees(words))
        for key_of, held_under in probes:
            held = held_under(key_of(words))
            if held is not None:
                if held.__class__ is kind:
                    out.append(held)
                else:
                    out += held
        for trie in tries:
            trie.find(topic, words, out)

    def describe(self, pattern: Levels) -> str:
        """The probe that a pattern is filed under, in words."""
        if _class_of(pattern) in self._layout.tries:
            return f"trie over levels split at {self._rules.separator!r}"
        shape = Shape(len(pattern.levels), literal_places(pattern.levels))
        rest = "" if pattern.rest is Rest.NONE else f", then {pattern.rest} more"
        return f"split at {self._rules.separator!r}, {shape}{rest}"

    def _new_shape(self, name: Class, shape_name: tuple[int, tuple[int, ...]]) -> Shape | None:
        """Make room for a shape, or `None` where the class is in a trie or moves there now."""
        layout = self._layout
        if name in layout.tries:
            return None
        shapes = layout.shapes.setdefault(name, {})
        if name == _DEEP_CLASS or len(shapes) >= MANY_SHAPES:
            self._move_to_trie(name)
            return None
        shape = shapes[shape_name] = Shape(*shape_name)
        layout.plans = {}
        return shape

    def _move_to_trie(self, name: Class) -> None:
        old, new = self._layout, _Layout()
        trie = Trie(self._rules)
        rest = name if isinstance(name, Rest) else Rest.NONE
        for shape in old.shapes[name].values():
            for levels, item in shape.filed():
                trie.add(Levels(self._rules, levels, rest), item)
        new.shapes = {other: shapes for other, shapes in old.shapes.items() if other != name}
        new.tries = {**old.tries, name: trie}
        self._layout = new

    def _remove_from_shape(self, name: Class, pattern: Levels, item: object) -> None:
        shapes = self._layout.shapes[name]
        shape_name = (len(pattern.levels), literal_places(pattern.levels))
        shape = shapes[shape_name]
        drop(shape.table, shape.key_of(pattern.levels), item)
        if not shape.table:
            del shapes[shape_name]
            if not shapes:
                del self._layout.shapes[name]
            self._layout.plans = {}


def _class_of(pattern: Levels) -> Class:
    if len(pattern.levels) > DEEP:
        return _DEEP_CLASS
    return len(pattern.levels) if pattern.rest is Rest.NONE else pattern.rest
