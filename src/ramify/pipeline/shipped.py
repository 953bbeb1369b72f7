"""A frozen index on its way to the workers: one file, mapped into memory by each of them.

Spark copies the file to every machine once; the workers of a machine share its memory. It stays
until this process ends, because an executor that comes later asks for it then.
"""

from __future__ import annotations

import atexit
import tempfile
from functools import cache, lru_cache
from pathlib import Path
from secrets import randbits, token_hex

import numpy as np
import pyarrow as pa
from pyspark import SparkFiles
from pyspark.sql import SparkSession

from ramify.frozen import FrozenIndex
from ramify.frozen.texts import I32, I64
from ramify.model import Statistics, Subscription
from ramify.pipeline.content import faults, without


def ship(spark: SparkSession, subscriptions: list[Subscription], statistics: Statistics | None) -> str:
    """Freeze subscriptions and give the file to every worker; answers the name to open it by."""
    index = FrozenIndex.build(subscriptions, statistics=statistics, seed=randbits(63))
    path = _folder() / f"ramify-{token_hex(8)}.arrow"
    index.save(path)
    spark.sparkContext.addFile(str(path))
    return path.name


@cache
def _folder() -> Path:
    """Where this process keeps its indexes."""
    folder = tempfile.TemporaryDirectory(prefix="ramify-")
    atexit.register(folder.cleanup)
    return Path(folder.name)


@lru_cache(maxsize=4)
def opened(name: str) -> FrozenIndex:
    """The index in this worker, mapped once."""
    return FrozenIndex.open(SparkFiles.get(name))


def matched(name: str, topics: pa.Array, contents: pa.Array | None) -> tuple[I64, I32]:
    """The rows of a batch and the numbers of the subscriptions that want them, ascending by row."""
    if contents is None:
        found, clean = None, None
    else:
        found = faults(contents)
        clean = without(contents, found)
    rows, numbers = opened(name).match_numbers(topics, clean)
    if found is not None and any(found):
        is_good = np.array([fault is None for fault in found])[rows]
        rows, numbers = rows[is_good], numbers[is_good]
    order = np.argsort(rows, kind="stable")
    return rows[order], numbers[order]
