"""Spark's own servers as processes of a test: started, waited for by what they say, and always ended."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from threading import Thread
from time import monotonic

import pyspark

from ramify.pipeline import find_java

SPARK = Path(pyspark.__file__).parent
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Little data and short lives: compiling much costs more than it saves."""


@contextmanager
def running(*command: str, until: str, folder: Path, deadline: float = 60) -> Iterator[re.Match[str]]:
    """Run one of Spark's programs; gives what it said when it was ready."""
    environment = {
        **os.environ,
        "SPARK_HOME": str(SPARK),
        "JAVA_HOME": str(find_java().home),
        "SPARK_DAEMON_JAVA_OPTS": QUICK,
        "SPARK_DAEMON_MEMORY": "600m",
        "PYSPARK_PYTHON": sys.executable,
    }
    program, *rest = command
    process = subprocess.Popen(
        [SPARK / "bin" / program, *rest],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=folder,
        env=environment,
    )
    lines: Queue[str | None] = Queue()
    reader = Thread(target=_read, args=(process, lines))
    reader.start()
    try:
        yield _waited_for(until, lines, monotonic() + deadline)
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
        reader.join()
        process.wait()


def _read(process: subprocess.Popen[str], lines: Queue[str | None]) -> None:
    assert process.stdout is not None
    with process.stdout as said:
        for line in said:
            lines.put(line)
    lines.put(None)


def _waited_for(text: str, lines: Queue[str | None], deadline: float) -> re.Match[str]:
    seen: list[str] = []
    while True:
        line = lines.get(timeout=max(deadline - monotonic(), 0.01))
        if line is None:
            raise AssertionError(f"it ended without saying {text!r}: {''.join(seen)[-3_000:]}")
        seen.append(line)
        if found := re.search(text, line):
            return found
