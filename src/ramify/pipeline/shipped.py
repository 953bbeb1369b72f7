"""Frozen subscriptions on their way to the workers: one file, mapped into memory by each of them.

Spark copies the file to every machine once; the workers of a machine share its memory. It stays
until this process ends, because an executor that comes later asks for it then. A set that changes
is shipped again under the next version's name, and a worker takes the newest that it has.
"""

from __future__ import annotations

import atexit
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from secrets import randbits, token_hex

import numpy as np
import pyarrow as pa
from pyspark import SparkFiles
from pyspark.sql import SparkSession, is_remote

from ramify.errors import InvalidFile
from ramify.frozen import FrozenIndex, file
from ramify.frozen.build import build_arrays
from ramify.frozen.csr import Lists
from ramify.frozen.texts import I32
from ramify.model import Statistics
from ramify.pipeline.content import faults, without
from ramify.pipeline.gathered import Gathered, uncollected
from ramify.pipeline.roster import Batch, Pairs, Roster
from ramify.pipeline.schema import DEFAULT_REALM

KEPT = 3
"""So many versions stay: a task that began with one of them may still be opening it."""


def new_name() -> str:
    """A name for a set of subscriptions, unlike any other."""
    return f"ramify-{token_hex(8)}"


@uncollected()
def ship(
    spark: SparkSession, gathered: Gathered, statistics: Statistics | None, name: str, version: int = 1
) -> None:
    """Freeze subscriptions and give the file to every worker, as a version of the set with this name."""
    arrays, about = build_arrays(gathered.subscriptions, DEFAULT_REALM, statistics, randbits(63))
    path = _folder() / _file_name(name, version)
    file.write(path, arrays | gathered.roster.to_arrays(), about)
    hand_over(spark, path)


def hand_over(spark: SparkSession, path: Path) -> None:
    """Give a file to every worker, where `SparkFiles` finds it by its name."""
    if is_remote():
        spark.addArtifact(str(path), file=True)
    else:
        spark.sparkContext.addFile(str(path))


def retire(name: str, version: int) -> None:
    """Empty the file of a version that no worker opens any more."""
    path = _folder() / _file_name(name, version)
    if not path.exists():
        return
    # An executor that comes later still asks for every file: this one costs it nothing. The copy on
    # the driver goes first, or Spark would find that they differ.
    if not is_remote():
        Path(SparkFiles.get(path.name)).unlink(missing_ok=True)
    path.write_bytes(b"")


def _file_name(name: str, version: int) -> str:
    return f"{name}.{version:08}.arrow"


@cache
def _folder() -> Path:
    """Where this process keeps its files."""
    folder = tempfile.TemporaryDirectory(prefix="ramify-")
    atexit.register(folder.cleanup)
    return Path(folder.name)


# ── in the workers ────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Shipped:
    """An index and its roster, out of one file."""

    index: FrozenIndex
    roster: Roster

    def matches(self, batch: Batch) -> Iterator[Pairs]:
        """The rows of a batch and the numbers of the subscriptions that want them, in steps."""
        contents = batch.contents if self.roster.has_criteria else None
        if contents is None:
            yield from self.index.match_steps(batch.topics)
            return
        found = faults(contents)
        is_good = np.array([fault is None for fault in found]) if any(found) else None
        for rows, numbers in self.index.match_steps(batch.topics, without(contents, found)):
            kept = slice(None) if is_good is None else is_good[rows]
            yield rows[kept], numbers[kept]

    def deliveries(self, batch: Batch) -> Iterator[Pairs]:
        """The same, of those who get the event: its realm, its time, one of each share group."""
        return (self.roster.decide(rows, numbers, batch) for rows, numbers in self.matches(batch))


def opened(name: str) -> Shipped:
    """The newest version of a set that this worker has."""
    files = sorted(Path(SparkFiles.getRootDirectory()).glob(f"{name}.*.arrow"), reverse=True)
    for old in files[KEPT:]:
        old.unlink(missing_ok=True)
    for each in files[:KEPT]:
        try:
            return _mapped(str(each))
        except InvalidFile:
            continue  # it is still being copied to this machine, so no task waits for it
    raise InvalidFile(name, "no version of it was handed to this worker")


@lru_cache(maxsize=4)
def _mapped(path: str) -> Shipped:
    arrays, about = file.read(path)
    return Shipped(FrozenIndex(arrays, about), Roster.from_arrays(arrays))


def by_row(found: Iterable[Pairs], size: int) -> tuple[pa.Array, I32]:
    """Where the numbers of each row begin, and the numbers in the order of the rows."""
    pairs = list(found)
    rows = np.concatenate([rows for rows, _ in pairs]) if pairs else np.zeros(0, np.int64)
    numbers = np.concatenate([numbers for _, numbers in pairs]) if pairs else np.zeros(0, np.int32)
    laid = Lists.by_position(rows, numbers, size)
    return pa.array(laid.starts.astype(np.int32)), laid.items
