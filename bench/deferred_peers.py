"""The peers of the deferred queue: PHP's heap with two maps, and Redis sorted sets.

Both come from Debian. `set_up()` installs what is missing; nothing else here needs to be root.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, perf_counter

PACKAGES = {"php": "php-cli", "redis-server": "redis-server"}
PIPELINE = 1_000
"""Commands that are sent before their answers are read."""

POP = """
local keys = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
if #keys == 0 then return {} end
local data = redis.call('HMGET', KEYS[2], unpack(keys))
redis.call('ZREM', KEYS[1], unpack(keys))
redis.call('HDEL', KEYS[2], unpack(keys))
return {keys, data}
"""


@dataclass(frozen=True, slots=True)
class Workload:
    """Pushes in order, and a time by which all of them are due."""

    keys: list[str]
    deadlines: list[float]
    end: float


@dataclass(frozen=True, slots=True)
class Timing:
    """What one run took."""

    pushing: float
    evicting: float
    pushes: int
    items: int

    @property
    def rate(self) -> float:
        """Operations a second: every push and every item evicted is one."""
        return (self.pushes + self.items) / (self.pushing + self.evicting)


def set_up() -> None:
    """Install the Debian packages that are missing."""
    missing = [package for command, package in PACKAGES.items() if shutil.which(command) is None]
    if missing:
        subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing], check=True)


def run_php(work: Workload, form: str, *options: str) -> Timing:
    """Run PHP's heap with two maps over the workload, in one of the forms that the script names."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.writelines(
            f"{key} {deadline!r}\n" for key, deadline in zip(work.keys, work.deadlines, strict=True)
        )
        file.flush()
        script = Path(__file__).with_name("deferred_heap.php")
        command = ["php", *options, str(script), file.name, form]
        answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    pushing, evicting, items = answer.split()
    return Timing(float(pushing), float(evicting), len(work.keys), int(items))


def run_redis(work: Workload, items_per_pop: int) -> Timing:
    """Run Redis sorted sets over the workload: ZADD and HSET in pipelines, and a Lua pop.

    Pops are sent in pipelines too, so that together they ask for as many items as a pipeline has.
    """
    with _redis() as connection:
        sha = connection.ask(_command("SCRIPT", "LOAD", POP))[1].decode()
        start = perf_counter()
        for first in range(0, len(work.keys), PIPELINE):
            batch = slice(first, first + PIPELINE)
            connection.push(work.keys[batch], work.deadlines[batch])
        pushed = perf_counter()
        items = 0
        while taken := connection.pop(sha, work.end, items_per_pop):
            items += taken
        return Timing(pushed - start, perf_counter() - pushed, len(work.keys), items)


class _Connection:
    """Redis's own protocol over a socket: less work for the client than any library."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(path)
        self._answers = self._socket.makefile("rb", buffering=1 << 20)

    def ask(self, command: bytes) -> list[bytes]:
        """Send a command whose answer is one bulk text, and give its lines."""
        self._socket.sendall(command)
        return [self._answers.readline().rstrip() for _ in range(2)]

    def push(self, keys: list[str], deadlines: list[float]) -> None:
        """Pipeline ZADD and HSET for each key, and wait for all the answers."""
        commands = []
        for key, deadline in zip(keys, deadlines, strict=True):
            score = repr(deadline)
            commands.append(
                f"*4\r\n$4\r\nZADD\r\n$1\r\nz\r\n${len(score)}\r\n{score}\r\n${len(key)}\r\n{key}\r\n"
                f"*4\r\n$4\r\nHSET\r\n$1\r\nh\r\n${len(key)}\r\n{key}\r\n$7\r\npayload\r\n"
            )
        self._socket.sendall("".join(commands).encode())
        for _ in range(2 * len(keys)):
            if not self._answers.readline().startswith(b":"):
                raise RuntimeError("Redis refused a push")

    def pop(self, sha: str, now: float, items: int) -> int:
        """Take due items, so many a pop, and read each key and its data."""
        pops = PIPELINE // items
        self._socket.sendall(_command("EVALSHA", sha, "2", "z", "h", repr(now), str(items)) * pops)
        taken = 0
        for _ in range(pops):
            if self._answers.readline() != b"*0\r\n":
                taken += len(list(zip(self._texts(), self._texts(), strict=True)))
        return taken

    def _texts(self) -> list[bytes]:
        readline = self._answers.readline
        count = int(readline()[1:])
        return [readline()[:-2] for _ in range(2 * count)][1::2]


def _command(*words: str) -> bytes:
    return (f"*{len(words)}\r\n" + "".join(f"${len(word)}\r\n{word}\r\n" for word in words)).encode()


@contextmanager
def _redis() -> Iterator[_Connection]:
    """Start a Redis of our own that keeps nothing, on a Unix socket, and stop it afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/redis.sock"
        command = ["redis-server", "--port", "0", "--unixsocket", path, "--save", "", "--appendonly", "no"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=folder) as server:
            try:
                yield _connect(path)
            finally:
                server.terminate()


def _connect(path: str) -> _Connection:
    until = monotonic() + 10
    while True:
        try:
            return _Connection(path)
        except (FileNotFoundError, ConnectionRefusedError):
            if monotonic() > until:
                raise
