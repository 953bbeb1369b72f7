"""Changes a second that the broker's store makes durable, for as many callers as wait at once.

python -m bench.broker_store [--seconds 2] [--folder DIR]

Each caller keeps a delivery with a payload of 100 bytes, waits until that is safe, ends the delivery,
and waits again: what one event of quality 1 costs a session that lasts.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from pathlib import Path
from time import perf_counter, process_time

from ramify.broker.changes import DeliveryDone, DeliveryKept
from ramify.broker.values import Event
from ramify.store import Durability, SqliteStore

CALLERS = (1, 10, 100, 1_000)
PAYLOAD = b"p" * 100


async def work(store: SqliteStore, name: int, until: float) -> int:
    """Keep and end deliveries until the time is over, and count the changes."""
    client, number = f"client-{name}", 0
    while perf_counter() < until:
        number += 1
        event = Event(f"plant/{name}/temp", PAYLOAD, 1, publisher=client)
        await store.commit([DeliveryKept(client, number, number * 10_000 + name, event, 1, ticket=1)])
        await store.commit([DeliveryDone(client, number)])
    return 2 * number


async def measure(path: Path, durability: Durability, callers: int, seconds: float) -> str:
    store = SqliteStore(path, durability=durability)
    start, used = perf_counter(), process_time()
    changes = sum(await asyncio.gather(*[work(store, name, start + seconds) for name in range(callers)]))
    wall, used = perf_counter() - start, process_time() - used
    transactions = store.transactions
    await store.close()
    return (
        f"| {durability} | {callers:,} | {changes / wall:,.0f} | {changes / transactions:,.1f} "
        f"| {wall / transactions * 1e3:.1f} | {used / changes * 1e6:.1f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--folder", default=None, help="where the store is made; the disk that counts")
    options = parser.parse_args()
    print(
        "| durability | callers | changes/s | changes per transaction | ms per transaction | CPU µs/change |"
    )
    print("| --- | --- | --- | --- | --- | --- |")
    for durability in Durability:
        for callers in CALLERS:
            with tempfile.TemporaryDirectory(dir=options.folder) as folder:
                path = Path(folder) / "store.db"
                print(asyncio.run(measure(path, durability, callers, options.seconds)), flush=True)


if __name__ == "__main__":
    main()
