"""The last event of each topic that was published to be retained, for those who come later.

Topics stand in a trie of their levels between `/`, so that a subscription to `plant/+/temp` looks
at the plants and not at everything. The trie proposes and the pattern itself decides; patterns
that do not split there look at every topic.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ramify.broker.values import Event
from ramify.model import Exact, Form, Levels, Pattern, Rest
from ramify.patterns import pattern_matches

_SEPARATOR = "/"
_END = object()
"""Where a topic ends in the trie; no level is called that."""

OVERHEAD = 200
"""What a retained event costs beside its topic and payload, in bytes."""

Kept = tuple[Event, int]
"""An event and its sequence number."""


class Retained:
    """Events by topic, found by pattern."""

    def __init__(self, most: int, most_bytes: int) -> None:
        self._most, self._most_bytes = most, most_bytes
        self._events: dict[str, Kept] = {}
        self._trie: dict[Any, Any] = {}
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._events)

    def __iter__(self) -> Iterator[Kept]:
        return iter(list(self._events.values()))

    def get(self, topic: str) -> Event | None:
        """What is retained for a topic."""
        kept = self._events.get(topic)
        return None if kept is None else kept[0]

    def has_room(self, event: Event) -> bool:
        """Whether an event may take the place that its topic has, or a new one."""
        old = self._events.get(event.topic)
        freed = 0 if old is None else _size(old[0])
        if self.bytes - freed + _size(event) > self._most_bytes:
            return False
        return old is not None or len(self._events) < self._most

    def keep(self, event: Event, sequence: int) -> None:
        """Retain an event in place of the one before."""
        old = self._events.get(event.topic)
        if old is None:
            self._plant(event.topic)
        else:
            self.bytes -= _size(old[0])
        self._events[event.topic] = event, sequence
        self.bytes += _size(event)

    def clear(self, topic: str) -> bool:
        """Retain nothing for a topic any more; say whether anything was."""
        old = self._events.pop(topic, None)
        if old is None:
            return False
        self.bytes -= _size(old[0])
        self._uproot(topic)
        return True

    def find(self, pattern: Pattern, now: float) -> list[Kept]:
        """What is retained for the topics that a pattern matches, in the order of publishing."""
        topics = self._candidates(pattern.form)
        found = [self._events[topic] for topic in topics if pattern_matches(pattern, topic)]
        return sorted([kept for kept in found if not kept[0].is_expired(now)], key=lambda kept: kept[1])

    # ── the trie ──────────────────────────────────────────────────────────────────────────

    def _candidates(self, form: Form) -> Iterator[str] | list[str]:
        if isinstance(form, Exact):
            return [form.text] if form.text in self._events else []
        if isinstance(form, Levels) and form.rules.separator == _SEPARATOR:
            return self._walk(form)
        return list(self._events)

    def _walk(self, form: Levels) -> Iterator[str]:
        nodes = [self._trie]
        for level in form.levels:
            if level is None:
                nodes = [child for node in nodes for name, child in node.items() if name is not _END]
            else:
                nodes = [node[level] for node in nodes if level in node]
        if form.rest is Rest.NONE:
            return (node[_END] for node in nodes if _END in node)
        return _topics_below(nodes)

    def _plant(self, topic: str) -> None:
        node = self._trie
        for name in topic.split(_SEPARATOR):
            node = node.setdefault(name, {})
        node[_END] = topic

    def _uproot(self, topic: str) -> None:
        path, node = [], self._trie
        for name in topic.split(_SEPARATOR):
            path.append((node, name))
            node = node[name]
        del node[_END]
        while path and not node:
            node, name = path.pop()
            del node[name]


def _topics_below(nodes: list[dict[Any, Any]]) -> Iterator[str]:
    while nodes:
        node = nodes.pop()
        for name, child in node.items():
            if name is _END:
                yield child
            else:
                nodes.append(child)


def _size(event: Event) -> int:
    return len(event.topic) + len(event.payload) + OVERHEAD
