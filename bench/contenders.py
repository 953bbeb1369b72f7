"""Installs the peers, and starts us and them as child processes that are asked the same things."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

FOLDER = Path(__file__).parent
PEERS = FOLDER / "peers"
PYTHON = PEERS / "python"
NODE = PEERS / "node"
PYTHON_PEERS = ("crossbar", "paho-mqtt")
NODE_PEERS = ("wild-pare@5",)


@dataclass(frozen=True, slots=True)
class Run:
    """What one request took by the clock and of the processor, and how many matches it found."""

    seconds: float
    cpu: float
    count: int
    found: int

    @property
    def rate(self) -> float:
        """How many a second."""
        return self.count / self.seconds

    @property
    def cpu_rate(self) -> float:
        """How many a second of the processor: what a machine with nothing else to do would show."""
        return self.count / self.cpu


class Contender:
    """A store in a child process."""

    def __init__(self, name: str, command: list[str], environment: dict[str, str] | None = None) -> None:
        self.name = name
        environment = {**os.environ, **(environment or {})}
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def insert(self, patterns: list[str], criteria: list[str] | None = None) -> Run:
        """Subscribe to each pattern, with the criteria beside it if there are any."""
        return self._run(do="insert", patterns=patterns, criteria=criteria)

    def match(self, topics: list[str], fields: list[dict[str, Any]] | None = None) -> Run:
        """Match each topic once."""
        return self._run(do="match", topics=topics, fields=fields)

    def remove(self, places: list[int]) -> Run:
        """Remove, each by its id, the subscriptions that were inserted at these places."""
        return self._run(do="remove", places=places)

    def settle(self) -> int:
        """Collect what is garbage, keep the collector off the rest; the bytes resident then."""
        return int(self._ask(do="settle")["bytes"])

    def __enter__(self) -> Contender:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.kill()
        self._process.wait()

    def _run(self, **request: Any) -> Run:
        said = self._ask(**request)
        return Run(said["seconds"], said["cpu"], int(said["count"]), int(said["found"]))

    def _ask(self, **request: Any) -> dict[str, float]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} has died; what it said is above")
        said: dict[str, float] = json.loads(line)
        return said


def ramify(**options: Any) -> Contender:
    """Us: a router, with these options for it (`cache`) and for every subscription."""
    return Contender("ramify", [sys.executable, str(FOLDER / "contender.py"), "ramify", json.dumps(options)])


def python_peer(name: str, **options: Any) -> Contender:
    """A peer from PyPI."""
    _set_up_python()
    command = [str(PYTHON / "bin/python"), str(FOLDER / "contender.py"), name, json.dumps(options)]
    return Contender(name, command)


def wild_pare() -> Contender:
    """The peer from npm."""
    _set_up_node()
    command = ["node", "--expose-gc", "--max-old-space-size=8192", str(FOLDER / "contender.js")]
    return Contender("wild-pare", command, {"NODE_PATH": str(NODE / "node_modules")})


def _set_up_python() -> None:
    # In a venv of its own: Crossbar brings a hundred packages, some older than ours.
    if (PYTHON / ".installed").exists():
        return
    print(f"installing {' and '.join(PYTHON_PEERS)} in {PYTHON}", flush=True)
    subprocess.run([sys.executable, "-m", "venv", str(PYTHON)], check=True)
    subprocess.run([str(PYTHON / "bin/python"), "-m", "pip", "install", "-qq", *PYTHON_PEERS], check=True)
    (PYTHON / ".installed").touch()


def _set_up_node() -> None:
    if (NODE / ".installed").exists():
        return
    print(f"installing {' and '.join(NODE_PEERS)} in {NODE}", flush=True)
    NODE.mkdir(parents=True, exist_ok=True)
    npm = ["npm", "install", "--silent", "--no-fund", "--no-audit", "--prefix", str(NODE), *NODE_PEERS]
    subprocess.run(npm, check=True)
    (NODE / ".installed").touch()
