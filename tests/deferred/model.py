"""The deferred queue as a plain list that is searched and sorted: slow and obviously right."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import Any

from ramify.deferred import Policy

Row = tuple[str, Any, float]


@dataclass
class Waiting:
    key: str
    data: Any
    deadline: float
    order: int
    first: float | None
    count: int
    version: float | None


@dataclass
class Model:
    """Trailing edges only; leading ones have tables of their own."""

    rows: list[Waiting] = field(default_factory=list)
    orders: Any = field(default_factory=count)

    def push(
        self,
        key: str,
        data: Any,
        deadline: float | None,
        now: float | None = None,
        version: float | None = None,
        policy: Policy | None = None,
    ) -> None:
        policy = policy or Policy()
        if deadline is None:
            assert now is not None
            assert policy.quiet is not None
            deadline = now + policy.quiet
        row = self.find(key)
        if row is None:
            row = Waiting(key, policy.merge.start(data), deadline, next(self.orders), now, 1, version)
            self.rows.append(row)
            self._move(row, deadline, now, policy, is_new=True)
            return
        row.count += 1
        row.first = now if row.first is None else row.first
        if version is not None and row.version is not None and version < row.version:
            row.data = policy.merge.older(row.data, data)
            deadline = row.deadline
        else:
            row.data = policy.merge.newer(row.data, data)
            row.version = row.version if version is None else version
        self._move(row, deadline, now, policy, is_new=False)

    def _move(
        self, row: Waiting, deadline: float, now: float | None, policy: Policy, *, is_new: bool
    ) -> None:
        if policy.max_wait is not None and row.first is not None:
            deadline = min(deadline, row.first + policy.max_wait)
        if policy.max_count is not None and now is not None and row.count >= policy.max_count:
            deadline = min(deadline, now) if is_new else min(deadline, now, row.deadline)
        if deadline != row.deadline:
            row.deadline, row.order = deadline, next(self.orders)

    def find(self, key: str) -> Waiting | None:
        return next((row for row in self.rows if row.key == key), None)

    def listing(self) -> list[Row]:
        self.rows.sort(key=lambda row: (row.deadline, row.order))
        return [(row.key, row.data, row.deadline) for row in self.rows]

    def drain(self, now: float, limit: int | None = None) -> list[Row]:
        due = [row for row in self.listing() if row[2] <= now][:limit]
        for key, _, _ in due:
            self.remove(key)
        return due

    def remove(self, key: str) -> Row | None:
        row = self.find(key)
        if row is None:
            return None
        self.rows.remove(row)
        return row.key, row.data, row.deadline
