"""Processes to be killed: they keep deliveries and end them, and print what was confirmed.

    python -m tests.store.victim PATH

For each number on standard input a process is forked (so that the imports are paid for once) that
begins with this number, and says `pid N`. When it is dead, `gone 0` follows. Of a living one, a line
`+ N` says that delivery N is kept, `? N` that it is about to be ended, `- N` that it is gone
for good; eight tasks do so at once, each with numbers of its own.
"""

from __future__ import annotations

import asyncio
import os
import sys

from ramify.broker.changes import DeliveryDone, DeliveryKept, SessionSaved
from ramify.broker.values import Event
from ramify.store import SqliteStore

TASKS = 8


def main(path: str) -> None:
    for line in iter(sys.stdin.readline, ""):
        if not (child := os.fork()):
            asyncio.run(live(path, int(line)))
        os.waitpid(child, 0)
        tell("gone", 0)


async def live(path: str, first: int) -> None:
    tell("pid", os.getpid())
    store = SqliteStore(path, durability="process")
    await store.commit([SessionSaved("ann", None, 60.0, None)])
    await asyncio.gather(*[work(store, first + task) for task in range(TASKS)])


async def work(store: SqliteStore, number: int) -> None:
    while True:
        # Two of them share an event.
        event = Event("t", b"%d" % (number // 2), 1)
        await store.commit([DeliveryKept("ann", number, number // 2, event, 1)])
        tell("+", number)
        if number % 3 == 0:
            tell("?", number)
            await store.commit([DeliveryDone("ann", number)])
            tell("-", number)
        number += TASKS


def tell(sign: str, number: int) -> None:
    sys.stdout.write(f"{sign} {number}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
