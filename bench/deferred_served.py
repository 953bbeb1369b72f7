"""A served queue end to end, over ZeroMQ on one machine: pushed, delivered, acknowledged, and all answered.

python -m bench.deferred_served [--messages 300000] [--repeats 3] [--folder DIR]

A producer, the server and a consumer are processes of their own. Every message has a key of its
own, so that as many go out as come in. The time runs from the first push until the server has
confirmed the last acknowledgement; with a journal everything confirmed is on the disk.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

from msgspec import Raw

from ramify.deferred import wire
from ramify.net.deferred_clients import ConsumerClient, ProducerClient

TARGET = 60_000
PER_REQUEST = 500
UNDER_WAY = 8
WINDOW = 5_000
PAYLOAD = Raw(wire.encode_data(b"forty bytes of payload for every push..."))


async def produce(endpoint: str, messages: int) -> None:
    """Push all messages, several requests under way."""
    starts = iter(range(0, messages, PER_REQUEST))

    async def work(client: ProducerClient) -> None:
        for start in starts:
            keys = range(start, min(start + PER_REQUEST, messages))
            answer = await client.push([wire.Push(f"key-{key}", PAYLOAD, 0.0) for key in keys], timeout=60.0)
            if answer.refused:
                raise RuntimeError(f"refused: {answer.refused[0]}")

    async with ProducerClient(endpoint) as client:
        await asyncio.gather(*(work(client) for _ in range(UNDER_WAY)))


async def consume(endpoint: str, messages: int) -> None:
    """Take and acknowledge all messages, and wait until that is confirmed."""
    async with ConsumerClient(endpoint, WINDOW) as client:
        print("ready", flush=True)
        taken = 0
        async for items in client.batches():
            await client.acknowledge(items)
            taken += len(items)
            if taken >= messages:
                break
        await client.settle(60.0)
        if client.done != messages:
            raise RuntimeError(f"{client.done} of {messages} acknowledgements were confirmed")


def start(*options: str) -> tuple[subprocess.Popen[str], str, str]:
    """Start a server, and say where it listens."""
    anywhere = ["--inbound", "tcp://127.0.0.1:0", "--outbound", "tcp://127.0.0.1:0"]
    command = [sys.executable, "-m", "ramify", "deferred", "serve", *anywhere, *options]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    if server.stdout is None:
        raise RuntimeError("no output")
    inbound, outbound = (server.stdout.readline().split()[1] for _ in range(2))
    return server, inbound, outbound


def messages_per_second(messages: int, *options: str) -> float:
    """Run all three processes once."""
    server, inbound, outbound = start(*options)
    try:
        command = [sys.executable, "-m", "bench.deferred_served", "--messages", str(messages)]
        with subprocess.Popen([*command, "--consume", outbound], stdout=subprocess.PIPE) as consumer:
            if consumer.stdout is None or consumer.stdout.readline() != b"ready\n":
                raise RuntimeError("the consumer did not start")
            begin = perf_counter()
            asyncio.run(produce(inbound, messages))
            if consumer.wait(120):
                raise RuntimeError("the consumer failed")
            return messages / (perf_counter() - begin)
    finally:
        server.terminate()
        server.wait(30)


def report(name: str, figures: list[float]) -> None:
    low, middle, high = min(figures), median(figures), max(figures)
    print(
        f"{name}: {middle:,.0f} messages/s in and out   spread {low:,.0f}–{high:,.0f}"
        f"   {middle / TARGET:.2f} of the target {TARGET:,}"
    )


def main(quick: bool = False) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=50_000 if quick else 300_000)
    parser.add_argument("--repeats", type=int, default=1 if quick else 3)
    parser.add_argument("--folder", default=str(Path.cwd()), help="where the journal is written")
    parser.add_argument("--consume", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.consume:
        asyncio.run(consume(options.consume, options.messages))
        return
    report("in memory", [messages_per_second(options.messages) for _ in range(options.repeats)])
    figures = []
    for _ in range(options.repeats):
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            figures.append(messages_per_second(options.messages, "--journal", folder))
    report("with a journal", figures)


if __name__ == "__main__":
    main()
