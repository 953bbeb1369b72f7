"""Real servers for tests: a Redis and a Mosquitto on free ports of this machine, gone at the end."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE = 20.0


def free_port() -> int:
    """A port that nobody has at this moment."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@contextmanager
def redis_server(folder: Path, *options: str) -> Iterator[str]:
    """The URL of a Redis that keeps nothing on disk."""
    port = free_port()
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", *options]
    with running([*command, "--dir", str(folder), "--loglevel", "warning"], port):
        yield f"redis://127.0.0.1:{port}/0"


@contextmanager
def mosquitto(folder: Path, *settings: str) -> Iterator[str]:
    """The URL of a Mosquitto that queues as much as it is sent."""
    port = free_port()
    usual = [f"listener {port} 127.0.0.1", "max_queued_messages 0", "max_inflight_messages 1000"]
    if os.geteuid() == 0:
        # It would become another user, who may not read the folders of a test.
        usual.append("user root")
    access = () if any("password_file" in line for line in settings) else ("allow_anonymous true",)
    (folder / "mosquitto.conf").write_text("\n".join([*usual, *access, *settings]) + "\n")
    program = shutil.which("mosquitto") or "/usr/sbin/mosquitto"
    with running([program, "-c", str(folder / "mosquitto.conf")], port):
        yield f"mqtt://127.0.0.1:{port}"


@contextmanager
def running(command: list[str], port: int) -> Iterator[subprocess.Popen[bytes]]:
    """A server, from when its port answers until the end of the block."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for_port(port, process)
        yield process
    finally:
        process.kill()
        process.wait()


def wait_for_port(port: int, process: subprocess.Popen[bytes]) -> None:
    """Return once somebody listens there."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        assert process.poll() is None, f"{process.args!r} ended with {process.returncode}"
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.02)
    raise AssertionError(f"nobody listens on port {port}")
