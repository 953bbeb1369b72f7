"""Ranks the subscriptions that miss an event by how little they miss it."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import nlargest

from ramify.model import Exact, Glob, Levels, Pattern, Subscription
from ramify.patterns import pattern_matches
from ramify.patterns.reference import level_fits


def nearest(subscriptions: Iterable[Subscription], topic: str, count: int) -> list[Subscription]:
    """Those whose patterns get furthest into the topic; of equals, the earliest."""
    return nlargest(count, subscriptions, key=lambda subscription: reach(subscription.pattern, topic))


def reach(pattern: Pattern, topic: str) -> int:
    """How many characters of the topic fit before one does not; one more than all, if all do."""
    if pattern_matches(pattern, topic):
        return len(topic) + 1
    form = pattern.form
    if isinstance(form, Exact):
        return _agreeing(form.text, topic)
    return _reach_of_glob(form, topic) if isinstance(form, Glob) else _reach_of_levels(form, topic)


def _reach_of_levels(form: Levels, topic: str) -> int:
    reached = 0
    for level, name in zip(form.levels, topic.split(form.rules.separator), strict=False):
        if not level_fits(form, level, name):
            return reached + _agreeing(level or "", name)
        reached += len(name) + 1
    return min(reached, len(topic))


def _reach_of_glob(form: Glob, topic: str) -> int:
    first, *middle, _ = form.pieces
    if not topic.startswith(first):
        return _agreeing(first, topic)
    reached = len(first)
    for piece in middle:
        found = topic.find(piece, reached)
        if found < 0:
            return reached
        reached = found + len(piece)
    return reached


def _agreeing(one: str, other: str) -> int:
    """How many characters the texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
