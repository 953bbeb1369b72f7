"""The same rows come from two executors that are processes of their own."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
from random import Random
from ramify import pipeline
from tests.pipeline.made import SUBSCRIPTIONS, as_json, event_rows, expected, pairs, subscription_rows

quick = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
settings = {
    "spark.sql.shuffle.partitions": "2", "spark.default.parallelism": "2", "spark.executor.memory": "600m",
    "spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.driver.extraJavaOptions": quick, "spark.executor.extraJavaOptions": quick,
}
spark = pipeline.local_session("local-cluster[2,1,1024]", "ramify cluster test", settings)
spark.sparkContext.setLogLevel("ERROR")
dice = Random(7)
subscriptions, events = subscription_rows(dice, 100), event_rows(dice, 100)
wanted = sorted(expected(subscriptions, events))
table = spark.createDataFrame(subscriptions, SUBSCRIPTIONS)
for strategy in ("broadcast", "join"):
    found = pairs(pipeline.route(as_json(spark, events), table, strategy=strategy))
    assert found == wanted, strategy
print("executors", spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1, "pairs", len(wanted))
spark.stop()
"""


def test_a_cluster_of_processes_gives_the_same_deliveries() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False, timeout=180
    )
    assert done.returncode == 0, done.stderr[-3_000:]
    assert "executors 2" in done.stdout
