"""Finds what was filed under the patterns that match a topic, whatever their dialect.

A pattern without wildcards is a topic itself, and one look-up finds it. Level patterns are
found by probes (`segments`), globs by their literal pieces (`globs`).
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from ramify.index.buckets import Held, drop, put
from ramify.index.globs import GlobIndex
from ramify.index.segments import SegmentIndex
from ramify.model import Exact, Form, Glob, LevelRules

T = TypeVar("T")


class TopicIndex(Generic[T]):
    """Items of one class, filed under patterns and found by topics."""

    def __init__(self, kind: type[T]) -> None:
        self._kind = kind
        self._exact: dict[str, Held] = {}
        self._segments: dict[LevelRules, SegmentIndex] = {}
        self._globs = GlobIndex()
        self._parts: tuple[SegmentIndex | GlobIndex, ...] = ()
        """The parts that hold anything: the ones that a topic has to ask."""

    def add(self, form: Form, item: T) -> None:
        """File an item under what a pattern means."""
        if form.__class__ is Exact:
            put(self._exact, form.text, item)
            return
        part = self._part_for(form)
        if part.is_empty:
            self._parts = (*self._parts, part)
        part.add(form, item)  # type: ignore[arg-type]  # each part takes the form it was chosen for

    def remove(self, form: Form, item: T) -> None:
        """Take away an item that was filed under this."""
        if form.__class__ is Exact:
            drop(self._exact, form.text, item)
            return
        part = self._part_for(form)
        part.remove(form, item)  # type: ignore[arg-type]
        if part.is_empty:
            self._parts = tuple(other for other in self._parts if other is not part)

    def find(self, topic: str) -> list[T]:
        """Every item whose pattern matches the topic, in no particular order."""
        out: list[Any] = []
        held = self._exact.get(topic)
        if held is not None:
            if held.__class__ is self._kind:
                out.append(held)
            else:
                out += held
        for part in self._parts:
            part.find(topic, out, self._kind)
        return out

    def describe(self, form: Form) -> str:
        """The probe and key that a pattern is filed under, in words."""
        if isinstance(form, Exact):
            return f"the topic is {form.text!r}"
        return self._part_for(form).describe(form)  # type: ignore[arg-type]

    def _part_for(self, form: Form) -> SegmentIndex | GlobIndex:
        if isinstance(form, Glob):
            return self._globs
        assert not isinstance(form, Exact)
        part = self._segments.get(form.rules)
        if part is None:
            part = self._segments[form.rules] = SegmentIndex(form.rules)
        return part
