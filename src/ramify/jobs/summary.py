"""What a job did, in numbers: counted while it ran, not by running it again."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, to_builtins

from ramify.jobs.progress import Phase


class Rejected(Struct, frozen=True):
    """How many rows were set aside for one reason."""

    source: str
    reason: str
    count: int


class Summary(Struct, frozen=True, kw_only=True):
    """A job that is done."""

    job: str
    out: tuple[str, ...]
    counts: dict[str, int]
    """What went in and came out, by name, in the order of the way: `events`, `deliveries`, `fired`."""
    rejects: tuple[Rejected, ...]
    strategy: str | None
    """Which one, and why."""
    phases: tuple[Phase, ...]

    @property
    def bad(self) -> int:
        """How many rows were set aside."""
        return sum(each.count for each in self.rejects)

    @property
    def seconds(self) -> float:
        """How long all of it took, the start of Spark left out."""
        return sum(phase.seconds for phase in self.phases)

    @property
    def rows_per_second(self) -> float | None:
        """How many of the rows that went in were done a second, in the phase that reads them all."""
        rows = next(iter(self.counts.values()), 0)
        spent = next((phase.seconds for phase in self.phases if phase.name == MAIN), 0.0)
        return rows / spent if spent else None

    def document(self) -> dict[str, Any]:
        """The same for scripts."""
        return {
            "job": self.job,
            "out": list(self.out),
            "counts": self.counts,
            "bad": self.bad,
            "rejects": [to_builtins(each) for each in self.rejects],
            "strategy": self.strategy,
            "seconds": round(self.seconds, 3),
            "rows_per_second": None if self.rows_per_second is None else round(self.rows_per_second, 1),
            "phases": [_phase_document(phase) for phase in self.phases],
        }


MAIN = "running"
"""The phase in which the rows that went in become those that come out."""


def _phase_document(phase: Phase) -> dict[str, Any]:
    stages = [{"id": each.id, "tasks": each.tasks, "seconds": each.seconds} for each in phase.stages]
    return {
        "name": phase.name,
        "seconds": round(phase.seconds, 3),
        "tasks": phase.tasks,
        "stages": stages,
    }
