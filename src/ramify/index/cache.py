"""Remembers what recent topics found, for traffic that repeats its topics.

A remembered topic costs a look-up and a copy; a new one costs that on top of its match. So the
cache pays where topics come again soon (sensors that report for ever: a hit is ten to thirty
times cheaper than a match), and costs about a tenth where each topic is new (a topic per
order, say). That is for the owner of the traffic to know, so it is off unless asked for, and
`hit_rate` tells whether it was right.

The rule that keeps it true: a change under a pattern without wildcards can only concern the
topic of that name, so that topic is forgotten; a change under any other pattern may concern
every topic, so all are. An answer that was computed while a change came is not remembered:
it carries the version from before, and the store has moved on.
"""

from __future__ import annotations

from collections import OrderedDict
from contextlib import suppress
from threading import Lock
from typing import Generic, TypeVar

from ramify.model import Exact, Form

T = TypeVar("T")


class TopicCache(Generic[T]):
    """The answers for the topics that were asked for most recently."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._answers: OrderedDict[str, T] = OrderedDict()
        self.version = 0
        """Counts the changes; `keep` wants the one from before the answer was made."""
        self.hits = 0
        self.misses = 0
        self._lock = Lock()
        """Between comparing versions and keeping the answer, no change may come."""

    @property
    def hit_rate(self) -> float:
        """The share of look-ups that were answered from memory."""
        asked = self.hits + self.misses
        return self.hits / asked if asked else 0.0

    def get(self, topic: str) -> T | None:
        """The answer for a topic, if it is remembered."""
        answer = self._answers.get(topic)
        if answer is None:
            self.misses += 1
            return None
        self.hits += 1
        with suppress(KeyError):  # another thread may have forgotten it; the answer was right when asked
            self._answers.move_to_end(topic)
        return answer

    def keep(self, topic: str, answer: T, version: int) -> None:
        """Remember an answer, unless the store has changed since."""
        with self._lock:
            if version != self.version:
                return
            self._answers[topic] = answer
            if len(self._answers) > self._size:
                self._answers.popitem(last=False)

    def forget(self, form: Form) -> None:
        """Forget what a change under this pattern may have made untrue."""
        with self._lock:
            self.version += 1
            if isinstance(form, Exact):
                self._answers.pop(form.text, None)
            else:
                self._answers.clear()

    def forget_all(self) -> None:
        """Forget every answer."""
        with self._lock:
            self.version += 1
            self._answers.clear()
