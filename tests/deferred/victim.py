"""A process to be killed: pushes, takes and acknowledges, and prints what was confirmed.

    python -m tests.deferred.victim FOLDER FIRST

A line `+ N` says that all pushes up to number N are durable, `? N` that item N is about to be
acknowledged, and `- N` that it is done for good.
"""

from __future__ import annotations

import sys
from itertools import count

from ramify.deferred import GroupCommit, JournaledQueue

KEYS = 500


def main(folder: str, first: int) -> None:
    queue = JournaledQueue(folder, group=GroupCommit(records=64), compact_slack=2_000)
    for number in count(first):
        queue.push(f"key-{number}", number, deadline=number)
        if number % 32 == 0:
            acknowledged = queue.drain(number - KEYS, limit=40)[::2]
            tell("?", [item.data for item in acknowledged])
            for item in acknowledged:
                queue.done(item.ticket)
            queue.commit()
            tell("+", [number])
            tell("-", [item.data for item in acknowledged])


def tell(sign: str, numbers: list[int]) -> None:
    sys.stdout.writelines(f"{sign} {number}\n" for number in numbers)
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
