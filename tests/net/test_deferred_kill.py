"""A server is killed with `kill -9` fifty times under load, with a producer and two consumers.

Every accepted item is delivered at least once, and one is delivered again only after a kill:
because it was in flight then, or because the kill left its push unanswered, so that it was
pushed again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from random import Random

import zmq
from msgspec import Raw

from ramify.deferred import JournaledQueue, wire
from ramify.net.deferred_clients import ConsumerClient, ProducerClient
from tests.net.served import Forked, Served, start

KILLS = 50
MOST_SECONDS = 150.0
"""It takes about 20; this only keeps a failure from hanging."""
PER_REQUEST = 20
UNDER_WAY = 4
MOST_AHEAD = 2_000


class Witness:
    """What the producer and the consumers saw."""

    def __init__(self) -> None:
        self.run = 0
        """How many servers there were; one more as soon as all that the killed one sent was seen."""
        self.pushed = 0
        self.accepted: set[int] = set()
        self.pushed_again: set[int] = set()
        self.runs_of: dict[int, list[int]] = {}
        self.deliveries = 0
        self.is_enough = False

    def see(self, items: list[wire.Delivery]) -> None:
        self.deliveries += len(items)
        for item in items:
            self.runs_of.setdefault(wire.decode_data(item.data), []).append(self.run)

    def unexplained(self) -> list[int]:
        """Items that came twice within the life of one server, though they were pushed once."""
        return [
            number
            for number, runs in self.runs_of.items()
            if len(set(runs)) < len(runs) and number not in self.pushed_again
        ]


async def until(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(0.004)


async def produce(endpoint: str, seen: Witness, random: Random) -> None:
    async def request(client: ProducerClient, numbers: range) -> None:
        pushes = [
            wire.Push(f"k{number}", Raw(wire.encode_data(number)), random.random() * 0.05)
            for number in numbers
        ]
        losses = client.losses
        answer = await client.push(pushes, timeout=None)
        assert answer.accepted == len(pushes)
        seen.accepted.update(numbers)
        if client.losses != losses:
            seen.pushed_again.update(numbers)

    async def work(client: ProducerClient) -> None:
        while not seen.is_enough:
            await until(lambda: seen.pushed - len(seen.runs_of) < MOST_AHEAD or seen.is_enough)
            numbers = range(seen.pushed, seen.pushed + PER_REQUEST)
            seen.pushed += PER_REQUEST
            await request(client, numbers)

    async with ProducerClient(endpoint) as client, asyncio.TaskGroup() as group:
        for _ in range(UNDER_WAY):
            group.create_task(work(client))


async def consume(client: ConsumerClient, seen: Witness) -> None:
    async for items in client.batches():
        seen.see(items)
        await client.acknowledge(items)


async def kill_and_restart(
    served: Served | Forked, seen: Witness, consumers: list[ConsumerClient], *options: str
) -> Forked:
    await until(lambda: all(client.is_connected for client in consumers))
    await asyncio.to_thread(served.kill)
    # All that the killed server sent is seen once the loss is known and nothing is left to read.
    await until(lambda: not any(client.is_connected for client in consumers))
    await until(lambda: not any(int(c._socket.get(zmq.EVENTS)) & zmq.POLLIN for c in consumers))
    seen.run += 1
    return Forked(*options, inbound=served.inbound, outbound=served.outbound)


async def scenario(journal: Path, seen: Witness, random: Random) -> None:
    options = ("--journal", str(journal), "--commit-records", "100", "--commit-delay", "0.002")
    served: Served | Forked = await asyncio.to_thread(start, *options)
    try:
        async with ConsumerClient(served.outbound, 200) as one, ConsumerClient(served.outbound, 200) as two:
            reading = [asyncio.create_task(consume(client, seen)) for client in (one, two)]
            producing = asyncio.create_task(produce(served.inbound, seen, random))
            for _ in range(KILLS):
                wanted = len(seen.accepted) + random.randint(20, 300)
                await until(lambda wanted=wanted: len(seen.accepted) >= wanted)  # type: ignore[misc]
                served = await kill_and_restart(served, seen, [one, two], *options)
            seen.is_enough = True
            await producing
            await until(lambda: seen.accepted <= seen.runs_of.keys())
            for task in reading:
                task.cancel()
            await asyncio.gather(*reading, return_exceptions=True)
        assert (await asyncio.to_thread(served.terminate))[0] == 0
    finally:
        served.kill()


def test_fifty_kills_lose_nothing_and_only_a_kill_makes_a_duplicate(tmp_path: Path) -> None:
    async def within_time(seen: Witness) -> None:
        async with asyncio.timeout(MOST_SECONDS):
            await scenario(tmp_path / "journal", seen, Random(4))

    seen = Witness()
    asyncio.run(within_time(seen))
    assert seen.run == KILLS
    assert seen.accepted <= seen.runs_of.keys(), "something accepted was lost"
    assert seen.unexplained() == []
    assert len(seen.accepted) >= 20 * KILLS
    with JournaledQueue(tmp_path / "journal") as queue:
        assert queue.damage == []
        left = {wire.decode_data(item.data) for item in queue}
    assert left <= seen.runs_of.keys()
