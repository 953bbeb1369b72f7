"""A process is killed with `kill -9` again and again, in the middle of its work.

This tests the process's death: what the kernel has is not lost. Power cuts are played in
`test_journal_crashes`.
"""

from __future__ import annotations

import subprocess
import sys
from itertools import islice
from pathlib import Path
from random import Random

from ramify.deferred import JournaledQueue

KILLS = 12


def test_nothing_confirmed_is_lost_and_nothing_done_comes_back(tmp_path: Path) -> None:
    random, first = Random(4), 1
    told: dict[str, set[int]] = {"+": {0}, "?": set(), "-": set()}
    for _ in range(KILLS):
        for line in _until_killed(tmp_path, first, random.randint(20, 4_000)):
            told[line[0]].add(int(line[2:]))
        with JournaledQueue(tmp_path) as queue:
            there = {item.data for item in queue}
        accepted = max(told["+"])
        missing = set(range(1, accepted + 1)) - there
        assert missing <= told["?"], "something was lost"
        assert not there & told["-"], "something that was done came back"
        first = max(there | {accepted}) + 1
    assert accepted > 1_000
    assert told["-"]


def _until_killed(folder: Path, first: int, lines: int) -> list[str]:
    """Start a victim, read that many lines of it, kill it, and give all it said."""
    command = [sys.executable, "-m", "tests.deferred.victim", str(folder), str(first)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, bufsize=1 << 20) as victim:
        assert victim.stdout is not None
        said = list(islice(victim.stdout, lines))
        victim.kill()
        rest = victim.stdout.read()
    whole = rest[: rest.rfind("\n") + 1]
    return [*said, *whole.splitlines(keepends=True)]
