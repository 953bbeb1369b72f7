"""A real server in a process of its own, to be talked to and killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from resource import RLIMIT_FSIZE, setrlimit

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


def start(*options: str, inbound: str = ANY, outbound: str = ANY, file_size: int | None = None) -> Served:
    """Start a server, and wait until it listens; with a file size, its disk is full from there on."""
    command = [sys.executable, "-m", "ramify", "deferred", "serve"]
    process = subprocess.Popen(
        [*command, "--inbound", inbound, "--outbound", outbound, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=None if file_size is None else partial(setrlimit, RLIMIT_FSIZE, (file_size, file_size)),
    )
    assert process.stdout is not None
    said: dict[str, str] = {}
    while "outbound" not in said:
        line = process.stdout.readline()
        assert line, process.communicate()[1]
        name, _, where = line.strip().partition(" ")
        said[name] = where
    return Served(process, **said)


class Forked:
    """The same server as `start` makes, in a process that need not load Python and all libraries first."""

    def __init__(self, *options: str, inbound: str, outbound: str) -> None:
        self.inbound, self.outbound = inbound, outbound
        context = get_context("forkserver")
        context.set_forkserver_preload(["__main__", "ramify.cli", "ramify.net.deferred", "tests.net.served"])
        arguments = ["deferred", "serve", "--inbound", inbound, "--outbound", outbound, *options]
        self.process = context.Process(target=_run, args=(arguments,))
        self.process.start()

    def kill(self) -> None:
        """Kill it as `kill -9` does."""
        self.process.kill()
        self.process.join(SECONDS)

    def terminate(self) -> tuple[int | None, str]:
        """Ask it to end; gives its exit status."""
        self.process.terminate()
        self.process.join(SECONDS)
        return self.process.exitcode, ""


def _run(arguments: list[str]) -> None:
    from ramify.cli import app

    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    app(arguments)


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
