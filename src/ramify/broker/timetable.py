"""What the broker has to do at which moment, each thing at most once."""

from __future__ import annotations

from enum import StrEnum
from math import inf

from ramify.deferred import DeferredQueue


class Task(StrEnum):
    """What there is to do."""

    PUBLISH_WILL = "will"
    END_SESSION = "end"
    LET_GO = "slow"
    """Close the connection of a client that others wait for."""
    DROP_RETAINED = "retained"


class Timetable:
    """Tasks by the name of what they concern (a client or a topic), in order of time."""

    def __init__(self) -> None:
        self._queue = DeferredQueue()

    def plan(self, task: Task, name: str, at: float) -> None:
        """Do it then, and not when it was planned before; what is never to come is not planned."""
        if at < inf:
            self._queue.push(_key(task, name), (task, name), at)
        else:
            self._queue.cancel(_key(task, name))

    def cancel(self, task: Task, name: str) -> None:
        """Do not do it."""
        self._queue.cancel(_key(task, name))

    def due(self, now: float) -> list[tuple[Task, str]]:
        """Take out what is to be done by now, in order."""
        return [item.data for item in self._queue.drain(now)]

    def time_of(self, task: Task, name: str) -> float | None:
        """When it will be done, if it will."""
        item = self._queue.get(_key(task, name))
        return None if item is None else item.deadline

    @property
    def next_deadline(self) -> float | None:
        """When the first of them is to be done."""
        item = self._queue.peek()
        return None if item is None else item.deadline


def _key(task: Task, name: str) -> str:
    return f"{task}\0{name}"
