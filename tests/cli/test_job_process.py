"""A real `ramify route` on a terminal: its bar, its silence, and its end by Ctrl-C."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ramify.cli import exits

DEADLINE = 180.0


@pytest.mark.slow
def test_an_interrupt_cancels_the_job_and_nothing_of_spark_is_shown(tmp_path: Path) -> None:
    """The bar is seen first, so the interrupt meets a job that runs."""
    topics = pa.array([f"plant/{number}/temp" for number in range(400_000)])
    pq.write_table(pa.table({"topic": topics}), tmp_path / "events.parquet", row_group_size=1_000)
    (tmp_path / "all.jsonl").write_text(
        "".join(f'{{"id": "s{at}", "subscriber": "a", "pattern": "plant/#"}}\n' for at in range(300))
    )
    ours, theirs = pty.openpty()
    command = [
        sys.executable,
        "-m",
        "ramify",
        "route",
        "-e",
        "events.parquet",
        "-s",
        "all.jsonl",
        "-o",
        "out",
    ]
    with subprocess.Popen([*command, "--master", "local[1]"], cwd=tmp_path, stderr=theirs) as process:
        os.close(theirs)
        shown = _read_until(ours, b"running", time.monotonic() + DEADLINE)
        process.send_signal(signal.SIGINT)
        shown += _read_to_the_end(ours)
        assert process.wait(DEADLINE) == exits.INTERRUPTED
    os.close(ours)
    assert b"tasks" in shown
    assert not any(noise in shown for noise in (b"WARN", b"ERROR", b"Traceback", b"Exception", b"\tat "))
    assert not (tmp_path / "out" / "_SUCCESS").exists()


@pytest.mark.slow
def test_the_doctor_starts_a_spark_and_times_it() -> None:
    command = [sys.executable, "-m", "ramify", "doctor", "--spark"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=DEADLINE)
    assert (done.returncode, done.stderr) == (exits.FINE, "")
    assert "a job with Python takes" in done.stdout


def _read_until(terminal: int, wanted: bytes, deadline: float) -> bytes:
    shown = b""
    while wanted not in shown:
        assert time.monotonic() < deadline, shown
        shown += os.read(terminal, 65_536)
    return shown


def _read_to_the_end(terminal: int) -> bytes:
    shown = b""
    try:
        while piece := os.read(terminal, 65_536):
            shown += piece
    except OSError:  # Linux's way to say that the other end is closed
        pass
    return shown
