"""Through Spark Connect every transform gives what it gives elsewhere."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.pipeline.elsewhere import SETTINGS
from tests.pipeline.servers import running

SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    settings = SETTINGS | {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": "0",
        "spark.ui.enabled": "false",
    }
    given = [part for key, value in settings.items() for part in ("--conf", f"{key}={value}")]
    command = ("spark-submit", "--master", "local[2]", "--class", SERVER, *given, "spark-internal")
    folder = tmp_path_factory.mktemp("connect")
    with running(*command, until=r"server started at: 127\.0\.0\.1:(\d+)", folder=folder) as ready:
        yield f"sc://127.0.0.1:{ready[1]}"


def test_every_transform_gives_the_same_through_spark_connect(server: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.pipeline.elsewhere", "remote", server],
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0, done.stderr[-3_000:]
    assert "pyspark.sql.connect" in done.stdout
