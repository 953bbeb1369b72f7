"""One Spark for all tests that need it: two threads on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

from ramify import pipeline

SETTINGS = {
    # Small batches, so that most tests see several of them.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "200",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.driver.memory": "1g",
    # Little data and many plans: compiling them costs more than running them.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


@contextmanager
def running_spark() -> Iterator[SparkSession]:
    """A session, stopped at the end."""
    session = pipeline.session("local[2]", name="ramify tests", settings=SETTINGS)
    yield session
    session.stop()
