"""How far Spark has come with a job, in its own numbers: phases, stages, tasks.

A Spark of our own is asked by its status tracker; one behind Spark Connect tells by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from secrets import token_hex
from threading import Event, Thread
from time import perf_counter
from typing import Any, Protocol, cast

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.sql import SparkSession, is_remote

EVERY = 0.2
"""So many seconds lie between two looks."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The tasks of a phase that are known of, and those that are done."""

    phase: str
    stages: int = 0
    tasks: int = 0
    done: int = 0


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage that has run."""

    id: int
    tasks: int
    seconds: float | None
    """`None` where Spark does not tell."""


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of a job that is over."""

    name: str
    seconds: float
    stages: tuple[Stage, ...] = ()

    @property
    def tasks(self) -> int:
        """How many tasks ran."""
        return sum(stage.tasks for stage in self.stages)


OnProgress = Callable[[Progress], None]


class Watch:
    """Times the phases of a job, and tells how far each has come."""

    def __init__(self, spark: SparkSession, on_progress: OnProgress | None = None) -> None:
        self._spark, self._on_progress = spark, on_progress
        self.phases: list[Phase] = []

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """All that Spark does meanwhile belongs to this phase."""
        status: _Status = _Told(self._spark) if is_remote() else _Asked(self._spark)
        started = perf_counter()
        with status.followed(), self._told(name, status):
            yield
        self.phases.append(Phase(name, perf_counter() - started, status.stages()))

    @contextmanager
    def _told(self, name: str, status: _Status) -> Iterator[None]:
        on_progress = self._on_progress
        if on_progress is None:
            yield
            return
        is_over = Event()

        def look() -> None:
            while not is_over.wait(EVERY):
                # A look that fails costs the bar a step, not the job its life.
                with suppress(Py4JError, OSError):
                    on_progress(status.progress(name))

        thread = Thread(target=look, name="ramify progress", daemon=True)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()


class _Status(Protocol):
    def followed(self) -> Any: ...
    def progress(self, phase: str) -> Progress: ...
    def stages(self) -> tuple[Stage, ...]: ...


class _Asked:
    """The status tracker of a Spark of our own; its jobs are known by their group."""

    def __init__(self, spark: SparkSession) -> None:
        self._context = spark.sparkContext
        self._group = f"ramify-{token_hex(4)}"

    @contextmanager
    def followed(self) -> Iterator[None]:
        before = self._context.getLocalProperty(_GROUP)
        self._context.setLocalProperty(_GROUP, self._group)
        try:
            yield
        finally:
            # What the caller does later is not of this phase; null takes the property away.
            self._context.setLocalProperty(_GROUP, cast("str", before))

    def _infos(self) -> list[Any]:
        tracker = self._context.statusTracker()
        jobs = (tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(self._group))
        ids = sorted({id for job in jobs if job is not None for id in job.stageIds})
        found = (tracker.getStageInfo(id) for id in ids)
        # A stage that was skipped has no tasks that ever start.
        return [info for info in found if info is not None]

    def progress(self, phase: str) -> Progress:
        infos = self._infos()
        done = sum(info.numCompletedTasks for info in infos)
        return Progress(phase, len(infos), sum(info.numTasks for info in infos), done)

    def stages(self) -> tuple[Stage, ...]:
        ran = [info for info in self._infos() if info.numCompletedTasks]
        return tuple(Stage(info.stageId, info.numCompletedTasks, self._seconds(info.stageId)) for info in ran)

    def _seconds(self, stage: int) -> float | None:
        try:
            data = self._context._jsc.sc().statusStore().lastStageAttempt(stage)
            begin, end = data.submissionTime(), data.completionTime()
            if begin.isDefined() and end.isDefined():
                return float(end.get().getTime() - begin.get().getTime()) / 1_000
        except (Py4JError, AttributeError):
            pass
        return None


_GROUP = "spark.jobGroup.id"


class _Told:
    """What a server of Spark Connect tells of the operations that run."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._seen: dict[tuple[str, int], tuple[int, int]] = {}

    @contextmanager
    def followed(self) -> Iterator[None]:
        handler: Any = self._take
        self._spark.registerProgressHandler(handler)
        try:
            yield
        finally:
            self._spark.removeProgressHandler(handler)

    def _take(self, stages: Any, inflight_tasks: int, operation_id: str | None, done: bool) -> None:
        for stage in stages or ():
            self._seen[operation_id or "", stage.stage_id] = (stage.num_tasks, stage.num_completed_tasks)

    def progress(self, phase: str) -> Progress:
        seen = list(self._seen.values())
        return Progress(phase, len(seen), sum(tasks for tasks, _ in seen), sum(done for _, done in seen))

    def stages(self) -> tuple[Stage, ...]:
        seen = sorted((id, done) for (_, id), (_, done) in self._seen.items())
        return tuple(Stage(id, done, None) for id, done in seen if done)
