"""A Spark session on this machine, with settings that suit the pipeline.

Any other session will do as well: `route` and its kin take the one that their tables belong to.
"""

from __future__ import annotations

import os
import sys

from pyspark.sql import SparkSession

from ramify.pipeline.java import find_java

SETTINGS = {
    # The vectorised index works best on batches of this size.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "50000",
    # Times mean the same on every machine.
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": str(2 * (os.cpu_count() or 1)),
    "spark.driver.memory": "2g",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # A laptop's name often leads nowhere; its own address always does.
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


def local_session(
    master: str = "local[*]", name: str = "ramify", settings: dict[str, str] | None = None
) -> SparkSession:
    """The running session, or a new one on this machine; raises `NoJava` if there is no Java for it."""
    running = SparkSession.getActiveSession()
    if running is not None:
        return running
    os.environ["JAVA_HOME"] = str(find_java().home)
    # Workers must be of the same Python, and see the same packages.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(master).appName(name)
    for key, value in {**SETTINGS, **(settings or {})}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()
