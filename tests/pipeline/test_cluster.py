"""The same rows come from two executors that are processes of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_a_cluster_of_processes_routes_and_coalesces_the_same() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.pipeline.elsewhere", "master", "local-cluster[2,1,1024]"],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0, done.stderr[-3_000:]
    assert "all as the reference says" in done.stdout
