"""What becomes of the data when a key that is already waiting is pushed again.

A merge is a start for the first push and two steps for the others: one for data that is newer
than what is waiting and one for data that a version shows to be older.

    merge       first push   newer push            older push
    LAST        data         the new data          unchanged
    FIRST       data         unchanged             unchanged
    listed(n)   [data]       appended              appended         the n most recent are kept
    SUM         data         added                 added
    MIN, MAX    data         the smaller, greater  the smaller, greater
    COUNT       1            one more              one more
    custom(f)   data         f(waiting, data)      f(data, waiting)

Steps are pure: they build a new value and leave the waiting one as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ramify.errors import InvalidPolicy, InvalidPush

Step = Callable[[Any, Any], Any]


@dataclass(frozen=True, slots=True)
class Merge:
    """A way to make one value of the data of many pushes."""

    name: str
    start: Callable[[Any], Any]
    newer: Step
    older: Step
    numbers_only: bool = False

    def check(self, key: str, data: Any) -> None:
        """Refuse data that this merge cannot take, before anything has changed."""
        if self.numbers_only and (isinstance(data, bool) or not isinstance(data, int | float)):
            raise InvalidPush(key, f"{self.name} merges numbers, not {type(data).__name__}")


def _itself(data: Any) -> Any:
    return data


def _waiting(waiting: Any, data: Any) -> Any:
    return waiting


def _data(waiting: Any, data: Any) -> Any:
    return data


def _of_numbers(name: str, step: Step) -> Merge:
    return Merge(name, _itself, step, step, numbers_only=True)


LAST = Merge("last", _itself, newer=_data, older=_waiting)
FIRST = Merge("first", _itself, newer=_waiting, older=_waiting)
SUM = _of_numbers("sum", lambda waiting, data: waiting + data)
MIN = _of_numbers("min", min)
MAX = _of_numbers("max", max)
COUNT = Merge(
    "count", lambda data: 1, newer=lambda waiting, data: waiting + 1, older=lambda waiting, data: waiting + 1
)


def listed(bound: int) -> Merge:
    """Collect the data in order of arrival, and keep the `bound` most recent.

    With `max_count` at the same bound a key fires when its list is full, and nothing is left out.
    """
    if bound < 1:
        raise InvalidPolicy(f"a list holds at least one item, so its bound cannot be {bound}")

    def appended(waiting: list[Any], data: Any) -> list[Any]:
        return [*waiting, data][-bound:]

    return Merge(f"list:{bound}", lambda data: [data], appended, appended)


def custom(merge: Step) -> Merge:
    """Merge by a function of the older and the newer data, in this order."""
    return Merge("custom", _itself, newer=merge, older=lambda waiting, data: merge(data, waiting))


NAMED = {merge.name: merge for merge in (LAST, FIRST, SUM, MIN, MAX, COUNT)}
"""The merges that a text can name; `list:5` is `listed(5)`."""


def parse_merge(text: str) -> Merge:
    """Find the merge that a text names."""
    kind, _, bound = text.partition(":")
    if kind == "list" and bound.isdecimal():
        return listed(int(bound))
    if text not in NAMED:
        raise InvalidPolicy(f"unknown merge {text!r}; the merges are {', '.join(NAMED)} and list:BOUND")
    return NAMED[text]
