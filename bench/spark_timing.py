"""Times jobs of Spark in turns, with the processor's seconds that they take, and the workers' memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

import pyarrow as pa
from pyspark.sql import DataFrame

from bench.report import Report

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Timed:
    """One run of a job over so many events."""

    events: int
    seconds: float
    cpu: float
    """Seconds of the processor: of Spark, and of the workers that it started."""

    @property
    def rate(self) -> float:
        """Events a second."""
        return self.events / self.seconds

    @property
    def cost(self) -> float:
        """Microseconds of the processor for an event."""
        return self.cpu / self.events * 1e6


def timed(job: DataFrame, events: int) -> Timed:
    """Run a job, the answer written to nowhere."""
    start, cpu = perf_counter(), _cpu_of_children()
    job.write.format("noop").mode("overwrite").save()
    return Timed(events, perf_counter() - start, _cpu_of_children() - cpu)


def in_turns(jobs: dict[str, DataFrame], events: int, repeats: int) -> dict[str, list[Timed]]:
    """Each job in each round, so that a slow moment is slow for all; one round warms up."""
    runs: dict[str, list[Timed]] = {name: [] for name in jobs}
    for turn in range(repeats + 1):
        for name, job in jobs.items():
            run = timed(job, events)
            if turn:
                runs[name].append(run)
    return runs


def tell(report: Report, what: str, runs: list[Timed], target: float | None = None) -> None:
    """A row of figures: the rate, and the processor's time beside it."""
    rate, cost = median(run.rate for run in runs), median(run.cost for run in runs)
    aim = () if target is None else (f"≥ {target:,.0f}/s", "reached" if rate >= target else "missed")
    report.figure(what, f"{rate:,.0f}/s, {cost:.2f} µs cpu", *aim)


def verdict(report: Report, what: str, ratio: float, target: float) -> None:
    """A row that says how many times something is something else."""
    report.figure(what, f"{ratio:,.2f}×", f"≥ {target:,g}×", "reached" if ratio >= target else "missed")


def identity(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def tell_memory(report: Report) -> None:
    """The memory of the Python workers that are left: their share of it all, and the most each ever had."""
    for at, pid in enumerate(_workers(), 1):
        share, peak = _kilobytes(pid, "smaps_rollup", "Pss"), _kilobytes(pid, "status", "VmHWM")
        report.figure(f"python worker {at}: share of memory, peak", f"{share >> 10:,} MB, {peak >> 10:,} MB")


# ── what the system knows of our processes ────────────────────────────────────────────────


def _stat(pid: str) -> tuple[int, float]:
    """The parent of a process, and the time that it and its ended children took."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return int(fields[1]), sum(map(int, fields[11:15])) / _TICKS


def _children() -> dict[int, float]:
    """Every process below this one, with its time."""
    stats = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stats[int(entry.name)] = _stat(entry.name)
            except OSError:  # it has just ended
                continue
    below: set[int] = set()
    found = {os.getpid()}
    while found:
        found = {pid for pid, (parent, _) in stats.items() if parent in found}
        below |= found
    return {pid: stats[pid][1] for pid in below}


def _cpu_of_children() -> float:
    return sum(_children().values())


def _workers() -> list[int]:
    """The workers; the process that starts them is none."""
    python = [pid for pid in sorted(_children()) if b"pyspark.daemon" in _read(pid, "cmdline")]
    return [pid for pid in python if _stat(str(pid))[0] in python]


def _read(pid: int, file: str) -> bytes:
    return Path(f"/proc/{pid}/{file}").read_bytes()


def _kilobytes(pid: int, file: str, name: str) -> int:
    for line in _read(pid, file).decode().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1])
    return 0
