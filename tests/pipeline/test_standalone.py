"""On a master with two workers the deliveries are the same, even while an executor is killed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.pipeline.servers import running

MASTER, WORKER = "org.apache.spark.deploy.master.Master", "org.apache.spark.deploy.worker.Worker"
AT = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real standalone cluster on free ports of this machine."""
    folder = tmp_path_factory.mktemp("cluster")
    with ExitStack() as all_of_them:
        begin = running("spark-class", MASTER, *AT, until=r"Starting Spark master at (\S+)", folder=folder)
        address = all_of_them.enter_context(begin)[1]
        size = ("--cores", "1", "--memory", "1g", "--work-dir", str(folder))
        worker = ("spark-class", WORKER, *AT, *size, address)
        for _ in range(2):
            all_of_them.enter_context(running(*worker, until="Successfully registered", folder=folder))
        yield address


@pytest.mark.slow
def test_two_workers_give_the_same_deliveries_though_an_executor_is_killed(
    master: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.pipeline.survivor", master, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0, done.stderr[-3_000:]
    assert "survived the death of an executor" in done.stdout
