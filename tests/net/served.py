"""A real server in a process of its own, to be talked to and killed."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

ANY = "tcp://127.0.0.1:0"
SECONDS = 30.0
"""How long a test waits for what should come in a moment."""


@dataclass(slots=True)
class Served:
    """A server that has said where it listens."""

    process: subprocess.Popen[str]
    inbound: str
    outbound: str
    metrics: str = ""

    def kill(self) -> None:
        """Kill it as `kill -9` does."""
        self.process.kill()
        self.process.wait(SECONDS)
        self._close()

    def terminate(self) -> tuple[int, str]:
        """Ask it to end; gives its exit status and what it said on standard error."""
        self.process.send_signal(signal.SIGTERM)
        _, said = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, said

    def _close(self) -> None:
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()


def start(*options: str, inbound: str = ANY, outbound: str = ANY) -> Served:
    """Start a server, and wait until it listens."""
    command = [sys.executable, "-m", "ramify", "deferred", "serve"]
    process = subprocess.Popen(
        [*command, "--inbound", inbound, "--outbound", outbound, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    said: dict[str, str] = {}
    while "outbound" not in said:
        line = process.stdout.readline()
        assert line, process.communicate()[1]
        name, _, where = line.strip().partition(" ")
        said[name] = where
    return Served(process, **said)


@contextmanager
def serving(*options: str) -> Iterator[Served]:
    """A server for the length of a test."""
    served = start(*options)
    try:
        yield served
    finally:
        if served.process.poll() is None:
            served.kill()
        served._close()
