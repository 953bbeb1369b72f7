"""Routes on a cluster while one of its executors is killed. Run it in a process of its own:

python -m tests.pipeline.survivor MASTER FOLDER

A gate in the plan tells through files that a task has begun, and in which executor; it opens when
that executor is dead. So the job is known to run when the executor is killed.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic, sleep

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from ramify import pipeline
from tests.pipeline.elsewhere import SETTINGS, check_route, made
from tests.pipeline.made import SUBSCRIPTIONS, as_json, expected, pairs

PATIENCE = 60


def gated(events: DataFrame, folder: Path) -> DataFrame:
    opened = folder / "open"

    def wait(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if not opened.exists():
                (folder / f"began-{executor()}").touch()
                waited_for(opened)
            yield batch

    def executor() -> int:
        """The Java above this worker."""
        process = os.getpid()
        while Path(f"/proc/{process}/comm").read_text().strip() != "java":
            process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
        return process

    def waited_for(file: Path) -> None:
        deadline = monotonic() + PATIENCE
        while not file.exists():
            assert monotonic() < deadline, f"{file} never came"
            sleep(0.02)

    return events.mapInArrow(wait, events.schema)


def begun(folder: Path) -> list[int]:
    """The executors that two tasks have begun in."""
    deadline = monotonic() + PATIENCE
    while len(found := sorted(folder.glob("began-*"))) < 2:
        assert monotonic() < deadline, f"only {found} began"
        sleep(0.02)
    return [int(file.name.partition("-")[2]) for file in found]


def check_survival(spark: SparkSession, folder: Path) -> None:
    subscriptions, events = made()
    table = spark.createDataFrame(subscriptions, SUBSCRIPTIONS)
    slowed = gated(as_json(spark, events), folder)
    with ThreadPoolExecutor(1) as others:
        found = others.submit(lambda: pairs(pipeline.route(slowed, table)))
        victim = begun(folder)[0]
        os.kill(victim, signal.SIGKILL)
        (folder / "open").touch()
        assert found.result() == sorted(expected(subscriptions, events))


def main(master: str, folder: str) -> None:
    spark = pipeline.session(master, settings=SETTINGS | {"spark.executor.cores": "1"})
    subscriptions, events = made()
    check_survival(spark, Path(folder))
    check_route(spark, subscriptions, events)
    print("survived the death of an executor")
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
