"""Live subscriptions that follow their file: looked at from time to time, read again if it has changed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from ramify.errors import RamifyError
from ramify.jobs.description import Source
from ramify.jobs.faults import told_plainly
from ramify.jobs.formats import local_path
from ramify.jobs.reading import read_subscriptions
from ramify.model import Statistics
from ramify.pipeline.refreshing import LiveSubscriptions

Print = tuple[tuple[str, int, int], ...]
"""The files below a path, with their sizes and times."""


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What a look at the subscriptions has brought."""

    version: int
    count: int
    bad: int
    failure: str | None = None
    """Why they could not be read; those from before stay in force."""


class WatchedSubscriptions:
    """Subscriptions that are read again whenever their files have changed."""

    def __init__(
        self, spark: SparkSession, source: Source, statistics: Statistics | None, every: float, now: float
    ) -> None:
        self._source, self._every, self._next = source, every, now + every
        self._spark = spark
        self._bad: DataFrame | None = None
        self._seen = fingerprint(source)
        self.live = LiveSubscriptions(spark, self._read, statistics)

    def look(self, now: float) -> Refreshed | None:
        """Read the subscriptions again, if it is time to look and they have changed."""
        if now < self._next:
            return None
        self._next = now + self._every
        found = fingerprint(self._source)
        if found is not None and found == self._seen:
            return None
        # What changes while it is being read is seen by the next look.
        self._seen = found
        try:
            with told_plainly(self._source.path or "subscriptions"):
                self.live.refresh()
                return self.refreshed()
        except RamifyError as refusal:
            return Refreshed(self.live.version, self.live.count, 0, str(refusal))

    def refreshed(self) -> Refreshed:
        """How many there are now, and how many rows of them are bad."""
        bad = self.live.rejects.count() + (0 if self._bad is None else self._bad.count())
        return Refreshed(self.live.version, self.live.count, bad)

    def _read(self) -> DataFrame:
        table = read_subscriptions(self._spark, self._source)
        self._bad = table.rejects
        return table.rows


def fingerprint(source: Source) -> Print | None:
    """What changes when files do; nothing, where only Spark can look, and so each look reads them."""
    path = None if source.path is None else local_path(source.path)
    if path is None or source.format in ("delta", "iceberg", "kafka"):
        return None
    files = _files(path)
    return tuple(sorted((str(file), *_stamp(file)) for file in files))


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return [file for file in path.rglob("*") if file.is_file()]
    if path.is_file():
        return [path]
    return [file for file in Path(path.anchor or ".").glob(str(path).lstrip("/")) if file.is_file()]


def _stamp(file: Path) -> tuple[int, int]:
    try:
        found = file.stat()
    except OSError:  # it was there a moment ago
        return -1, -1
    return found.st_size, found.st_mtime_ns
