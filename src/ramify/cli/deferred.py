"""`ramify deferred`: serve a deferred queue, push to it, and take from it."""

from __future__ import annotations

import asyncio
import gc
import signal
import sys
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

import typer

from ramify.cli import exits
from ramify.cli.deferred_consume import consume
from ramify.cli.deferred_options import (
    AllowRemote,
    CommitDelay,
    CommitRecords,
    ConsumerTimeout,
    EdgeName,
    Grace,
    Inbound,
    InFlight,
    Journal,
    MaxBytes,
    MaxCount,
    MaxKeys,
    MaxWait,
    MergeName,
    Metrics,
    Outbound,
    Quiet,
    SpeakText,
    Tick,
    needs_zeromq,
)
from ramify.cli.deferred_produce import produce
from ramify.cli.inputs import bar
from ramify.cli.tables import counted

if TYPE_CHECKING:
    from ramify.deferred import JournaledQueue, Policy
    from ramify.deferred.server import Server
    from ramify.deferred.serving import Limits
    from ramify.net.deferred import DeferredService, Serving

app = typer.Typer(
    help="Serve a deferred queue: push often, act once.", no_args_is_help=True, rich_markup_mode=None
)


@app.command(epilog=exits.EPILOG)
def serve(
    inbound: Inbound = "tcp://127.0.0.1:4444",
    outbound: Outbound = "tcp://127.0.0.1:5444",
    journal: Journal = None,
    text: SpeakText = False,
    metrics: Metrics = None,
    allow_remote: AllowRemote = False,
    quiet: Quiet = None,
    max_wait: MaxWait = None,
    max_count: MaxCount = None,
    edge: EdgeName = "trailing",
    merge: MergeName = "last",
    max_keys: MaxKeys = 1_000_000,
    max_bytes: MaxBytes = 1 << 30,
    in_flight: InFlight = 20_000,
    consumer_timeout: ConsumerTimeout = 10.0,
    commit_records: CommitRecords = 2_000,
    commit_delay: CommitDelay = 0.005,
    tick: Tick = 0.0,
    grace: Grace = 5.0,
) -> None:
    """Serve a deferred queue to producers and consumers over ZeroMQ.

    It says where it listens, and on a terminal every second how it is doing. SIGTERM or Ctrl-C ends
    it: nothing more is accepted, what is in flight may still be acknowledged, and a journal is
    committed. Without a journal, what still waits is lost.

    \b
    Example:
      ramify deferred serve --quiet 5 --journal orders.journal
    """
    needs_zeromq()
    from ramify.deferred.encoded import policy_of
    from ramify.deferred.endpoints import checked_address, checked_endpoint
    from ramify.deferred.serving import Limits
    from ramify.deferred.wire import PushPolicy
    from ramify.net.deferred import Serving

    policy = policy_of(PushPolicy(quiet, max_wait, max_count, edge, merge))
    limits = Limits(max_keys, max_bytes, in_flight, silence=consumer_timeout)
    serving = Serving(
        checked_endpoint(inbound, allow_remote=allow_remote),
        checked_endpoint(outbound, allow_remote=allow_remote),
        commit_records,
        commit_delay,
        tick,
        grace,
    )
    address = None if metrics is None else checked_address(metrics, allow_remote=allow_remote)
    _serve(policy, limits, serving, journal, text, address)


def _serve(
    policy: Policy,
    limits: Limits,
    serving: Serving,
    journal: str | None,
    speaks_text: bool,
    metrics: tuple[str, int] | None,
) -> None:
    from ramify.deferred.server import Server
    from ramify.deferred.ticketed import TicketedQueue

    with ExitStack() as stack:
        kept = None if journal is None else stack.enter_context(_opened(journal, policy))
        # Tickets of an earlier run must not be mistaken for ours.
        first = int(time.time() * 1000) << 20
        queue = TicketedQueue(policy, first_ticket=first) if kept is None else kept
        server = Server(queue, policy, limits, speaks_text=speaks_text)
        # Nearly all that is made here is let go in the same second; looking for cycles in it takes a fifth
        # of the time.
        gc.freeze()
        gc.set_threshold(100_000, 50, 100)
        asyncio.run(_run(server, kept, serving, metrics, stack))


def _opened(path: str, policy: Policy) -> JournaledQueue:
    from ramify.deferred import JournaledQueue
    from ramify.net.deferred import UNBOUNDED

    with bar(f"reading {path}") as on_progress:
        queue = JournaledQueue(
            path, policy, group=UNBOUNDED, progress=lambda done, total: on_progress(done / max(1, total))
        )
    for damage in queue.damage:
        typer.echo(f"ramify: {damage}", err=True)
    typer.echo(f"{counted(len(queue), 'item')} in {path}", err=True)
    return queue


async def _run(
    server: Server,
    journal: JournaledQueue | None,
    serving: Serving,
    metrics: tuple[str, int] | None,
    stack: ExitStack,
) -> None:
    from ramify.deferred.serving import Side
    from ramify.net.deferred import DeferredService

    service = DeferredService(server, journal, serving)
    if metrics is not None:
        from ramify.net.deferred_metrics import expose

        port, stop = expose(server, *metrics)
        stack.callback(stop)
        typer.echo(f"metrics http://{metrics[0]}:{port}/metrics")
    for side in Side:
        typer.echo(f"{side.value} {service.endpoint(side)}")
    sys.stdout.flush()
    await _until_stopped(service, server)
    lost = server.waiting + server.in_flight if journal is None else 0
    if lost:
        typer.echo(f"ramify: {counted(lost, 'item')} lost: there was no --journal", err=True)


async def _until_stopped(service: DeferredService, server: Server) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, service.stop)
    live = asyncio.create_task(_show_live(server)) if sys.stderr.isatty() else None
    try:
        await service.run()
    finally:
        if live is not None:
            live.cancel()
            sys.stderr.write("\n")


async def _show_live(server: Server) -> None:
    """Write a line over itself every second."""
    pushed, done, before = 0, 0, time.monotonic()
    while True:
        await asyncio.sleep(1.0)
        seconds = time.monotonic() - before
        counts = server.counts
        line = live_line(server, (counts.accepted - pushed) / seconds, (counts.done - done) / seconds)
        pushed, done, before = counts.accepted, counts.done, before + seconds
        sys.stderr.write(f"\r{line}\x1b[K")
        sys.stderr.flush()


def live_line(server: Server, pushes: float, done: float) -> str:
    """How a server is doing, in one line."""
    from ramify.net.deferred_metrics import resident_bytes

    counts = server.counts
    return (
        f"in {counts.accepted:,} ({pushes:,.0f}/s)  out {counts.delivered:,} ({done:,.0f}/s done)  "
        f"waiting {server.waiting:,}  in flight {server.in_flight:,}  consumers {server.consumers}  "
        f"refused {counts.refused:,}  bad {counts.bad:,}  {resident_bytes() >> 20:,} MiB"
    )


app.command(epilog=exits.EPILOG)(produce)
app.command(epilog=exits.EPILOG)(consume)
