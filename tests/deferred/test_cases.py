"""Every implementation agrees with the table of scripts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ramify.deferred import DeferredQueue, Item, JournaledQueue
from tests.deferred.disk import Disk
from tests.deferred.model import Model, Row

LINES = (Path(__file__).parents[1] / "cases" / "deferred_scripts.jsonl").read_text().splitlines()
CASES = [json.loads(line) for line in LINES]


class ByQueue:
    def __init__(self) -> None:
        self.queue: DeferredQueue | JournaledQueue = DeferredQueue()

    def push(self, step: dict[str, Any]) -> None:
        self.queue.push(step["key"], step["data"], step["deadline"])

    def evict(self, step: dict[str, Any]) -> dict[str, Any] | None:
        return _told(self.queue.evict(step["now"]))

    def drain(self, step: dict[str, Any]) -> list[dict[str, Any] | None]:
        return [_told(item) for item in self.queue.drain(step["now"])]

    def size(self, step: dict[str, Any]) -> int:
        return len(self.queue)


class ByQueueWithPast(ByQueue):
    """Every push says what time it is, so that no entry is a plain one."""

    def push(self, step: dict[str, Any]) -> None:
        self.queue.push(step["key"], step["data"], step["deadline"], now=0)


class ByJournal(ByQueue):
    def __init__(self) -> None:
        self.queue = JournaledQueue("", files=Disk())


class ByReopenedJournal(ByQueue):
    """The journal is closed and opened before every step, and every item is acknowledged."""

    def __init__(self) -> None:
        self.disk = Disk()
        self.queue = JournaledQueue("", files=self.disk)

    def push(self, step: dict[str, Any]) -> None:
        self._reopen()
        super().push(step)

    def evict(self, step: dict[str, Any]) -> dict[str, Any] | None:
        self._reopen()
        assert isinstance(self.queue, JournaledQueue)
        item = self.queue.evict(step["now"])
        if item is not None:
            assert self.queue.done(item.ticket)
        return _told(item)

    def drain(self, step: dict[str, Any]) -> list[dict[str, Any] | None]:
        answers: list[dict[str, Any] | None] = []
        while (answer := self.evict(step)) is not None:
            answers.append(answer)
        return answers

    def _reopen(self) -> None:
        assert isinstance(self.queue, JournaledQueue)
        self.queue.close()
        self.queue = JournaledQueue("", files=self.disk)


class ByModel:
    def __init__(self) -> None:
        self.model = Model()

    def push(self, step: dict[str, Any]) -> None:
        self.model.push(step["key"], step["data"], step["deadline"])

    def evict(self, step: dict[str, Any]) -> dict[str, Any] | None:
        return next(iter(map(_row_told, self.model.drain(step["now"], 1))), None)

    def drain(self, step: dict[str, Any]) -> list[dict[str, Any]]:
        return [_row_told(row) for row in self.model.drain(step["now"])]

    def size(self, step: dict[str, Any]) -> int:
        return len(self.model.rows)


def _told(item: Item | None) -> dict[str, Any] | None:
    return None if item is None else _row_told((item.key, item.data, item.deadline))


def _row_told(row: Row) -> dict[str, Any]:
    return dict(zip(("key", "data", "deadline"), row, strict=True))


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
@pytest.mark.parametrize("make", [ByQueue, ByQueueWithPast, ByJournal, ByReopenedJournal, ByModel])
def test_every_implementation_agrees_with_the_table(make: Callable[[], Any], case: dict[str, Any]) -> None:
    implementation = make()
    for step in case["steps"]:
        assert getattr(implementation, step["op"])(step) == step.get("expect"), step
