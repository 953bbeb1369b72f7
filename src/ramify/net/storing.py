"""The port to whatever keeps the broker's state: rows come back at the start, changes go in by groups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from ramify.broker.changes import Change, Row


class Store(Protocol):
    """Keeps what must survive a crash; without one, all is in memory and goes with the process."""

    def load(self) -> Iterable[Row]:
        """Every row that was kept, in any order."""
        ...

    async def commit(self, changes: Sequence[Change]) -> None:
        """Make changes durable, all or none; they are safe when this returns."""
        ...

    async def close(self) -> None:
        """Let go of the files."""
        ...
