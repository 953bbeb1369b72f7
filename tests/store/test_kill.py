"""A process is killed with `kill -9` again and again, in the middle of its commits.

This tests the process's death: what the kernel has is not lost. That a commit waits for the disk
as well is SQLite's own promise, asked for in `test_store`.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random

from ramify.broker.changes import DeliveryKept
from ramify.store import SqliteStore

KILLS = 30
SEED = 11


def test_nothing_confirmed_is_lost_and_nothing_ended_comes_back(tmp_path: Path) -> None:
    path, random, first = tmp_path / "store.db", Random(SEED), 1
    told: dict[str, set[int]] = {"+": set(), "?": set(), "-": set()}
    command = [sys.executable, "-m", "tests.store.victim", str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as victims:
        for kill in range(KILLS):
            for sign, number in _life_of_one(victims, first, random.randint(0, 400)):
                told[sign].add(number)
            kept = _kept(path)
            where = f"seed {SEED}, kill {kill}"
            assert told["+"] - kept.keys() <= told["?"], f"something was lost: {where}"
            assert not kept.keys() & told["-"], f"something that was ended came back: {where}"
            assert all(row.event.payload == b"%d" % row.sequence for row in kept.values()), where
            first = max({0, *kept, *told["+"]}) + 1
    assert len(told["+"]) > 500
    assert told["-"]


def _life_of_one(victims: subprocess.Popen[str], first: int, lines: int) -> Iterator[tuple[str, int]]:
    """Let one live until it has said that many lines, kill it, and give all it said."""
    assert victims.stdin is not None
    assert victims.stdout is not None
    victims.stdin.write(f"{first}\n")
    victims.stdin.flush()
    said = (line.split() for line in iter(victims.stdout.readline, "gone 0\n"))
    _, process = next(said)
    yield from ((sign, int(number)) for sign, number in islice(said, lines))
    os.kill(int(process), signal.SIGKILL)
    yield from ((sign, int(number)) for sign, number in said)


def _kept(path: Path) -> dict[int, DeliveryKept]:
    async def read() -> dict[int, DeliveryKept]:
        store = SqliteStore(path, durability="process")
        rows = {row.number: row for row in store.load() if isinstance(row, DeliveryKept)}
        await store.close()
        return rows

    return asyncio.run(read())
