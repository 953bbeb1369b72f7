"""The ZeroMQ endpoints of a served queue: read, let the server decide, write, sleep until the next deadline.

One task does all of it, so nothing here needs a lock. Only flushing to the disk happens in a
thread, while messages go on being read; what they promise is answered after the flush.
"""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import inf

import zmq

from ramify.deferred import GroupCommit, JournaledQueue
from ramify.deferred.journal import Commit
from ramify.deferred.server import Server
from ramify.deferred.serving import Sent, Side
from ramify.errors import EndpointFailed

READING = 0.01
"""Seconds for which one side is heard before the other has its turn, and answers go out."""
MOST_UNCOMMITTED = 100_000
"""Records that may wait for the disk; beyond this nothing is read from producers for a while."""
LONGEST_SLEEP = 60.0
COMPACTION_EVERY = 1.0
LINGER = 2_000
"""Milliseconds in which last answers may still reach their peers."""
UNBOUNDED = GroupCommit(records=1 << 62, bytes=1 << 62, delay=inf)
"""For a journal whose commits are begun here."""


@dataclass(frozen=True, slots=True)
class Serving:
    """Where and how a queue is served."""

    inbound: str = "tcp://127.0.0.1:4444"
    outbound: str = "tcp://127.0.0.1:5444"
    commit_records: int = 2_000
    commit_delay: float = 0.005
    tick: float = 0.0
    """Seconds between two evictions at least; 0 evicts exactly at each deadline."""
    grace: float = 5.0
    """Seconds in which consumers may still acknowledge after a stop was asked for."""


class DeferredService:
    """A server on its sockets."""

    def __init__(self, server: Server, journal: JournaledQueue | None, serving: Serving) -> None:
        self._server, self._journal, self._serving = server, journal, serving
        self._context = zmq.Context()
        self._wake = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, "ramify-journal")
        self._commit: tuple[Commit, asyncio.Future[None]] | None = None
        self._uncommitted_since: float | None = None
        self._compact_at = self._evict_at = 0.0
        self._stop_at: float | None = None
        self.unsent = 0
        """Answers that no producer was there to take."""
        try:
            self._sockets = {
                Side.PRODUCERS: self._bound(serving.inbound, answers=1_000),
                Side.CONSUMERS: self._bound(serving.outbound, answers=20_000),
            }
        except BaseException:
            self._context.destroy(linger=0)
            raise

    def endpoint(self, side: Side) -> str:
        """Where a side is bound, with the port that was chosen if none was asked for."""
        return self._sockets[side].getsockopt_string(zmq.LAST_ENDPOINT)

    def stop(self) -> None:
        """Accept nothing more, wait for what is in flight, and end; asked twice, end at once."""
        self._server.close()
        grace = self._serving.grace if self._stop_at is None else 0.0
        self._stop_at = asyncio.get_running_loop().time() + grace
        self._wake.set()

    async def run(self) -> None:
        """Serve until stopped."""
        loop = asyncio.get_running_loop()
        for socket in self._sockets.values():
            loop.add_reader(socket.fileno(), self._wake.set)
        linger = 0
        try:
            while not self._is_over(loop.time()):
                self._wake.clear()
                has_read = self._read()
                self._write(self._outgoing(loop.time()))
                await self._commit_step(loop)
                if has_read:
                    await asyncio.sleep(0)
                else:
                    await self._sleep(loop)
            linger = LINGER
        finally:
            await self._close(loop, linger)

    # ── sockets ───────────────────────────────────────────────────────────────────────────

    def _bound(self, endpoint: str, answers: int) -> zmq.Socket[bytes]:
        socket = self._context.socket(zmq.ROUTER)
        # Whom nobody can reach any more is an error here, not a silent loss.
        socket.setsockopt(zmq.ROUTER_MANDATORY, 1)
        socket.setsockopt(zmq.SNDHWM, answers)
        # Somewhat too long is answered with an error; much too long is cut off by ZeroMQ.
        socket.setsockopt(zmq.MAXMSGSIZE, 4 * self._server.limits.message)
        socket.setsockopt(zmq.IPV6, int("[" in endpoint))
        try:
            socket.bind(endpoint)
        except zmq.ZMQError as error:
            raise EndpointFailed(endpoint, f"cannot be bound: {error.strerror}") from None
        return socket

    def _read(self) -> bool:
        """Let the server hear what has come, and say whether anything had."""
        hear = {Side.PRODUCERS: self._server.from_producer, Side.CONSUMERS: self._server.from_consumer}
        has_read = False
        for side in self._readable_sides():
            until = time.monotonic() + READING
            while time.monotonic() < until:
                try:
                    *peer, frame = self._sockets[side].recv_multipart(zmq.NOBLOCK)
                except zmq.Again:
                    break
                has_read = True
                hear[side](tuple(peer), frame, time.time())
        return has_read

    def _write(self, messages: list[Sent]) -> None:
        for sent in messages:
            try:
                self._sockets[sent.side].send_multipart((*sent.peer, sent.frame), zmq.NOBLOCK)
            except zmq.ZMQError as error:
                if error.errno not in (zmq.EHOSTUNREACH, zmq.EAGAIN):
                    raise
                self._miss(sent)

    def _miss(self, sent: Sent) -> None:
        if sent.side is Side.PRODUCERS:
            self.unsent += 1
        else:
            self._server.unreachable(sent.peer)
            self._wake.set()

    def _readable_sides(self) -> tuple[Side, ...]:
        """Producers are not heard while the disk is far behind; ZeroMQ holds them up then."""
        journal = self._journal
        if journal is not None and journal.appended - journal.committed > MOST_UNCOMMITTED:
            return (Side.CONSUMERS,)
        return (Side.PRODUCERS, Side.CONSUMERS)

    # ── the disk ──────────────────────────────────────────────────────────────────────────

    async def _commit_step(self, loop: asyncio.AbstractEventLoop) -> None:
        """End the commit that has run, and begin the next if it is time."""
        journal = self._journal
        if journal is None:
            return
        if self._commit is not None and self._commit[1].done():
            commit, self._commit = self._commit[0], None
            journal.end_commit(commit)
            self._wake.set()  # There are answers to send.
        if self._commit is None and loop.time() >= self._compact_at:
            # Beginning a compaction flushes too; nothing else touches the queue meanwhile.
            self._compact_at = loop.time() + COMPACTION_EVERY
            await loop.run_in_executor(self._thread, journal.compact_if_worthwhile)
        if self._commit is None and self._commit_at(loop.time()) <= loop.time():
            self._begin_commit(loop, journal)

    def _commit_at(self, now: float) -> float:
        """When the next commit begins, if none is under way."""
        journal = self._journal
        if journal is None or journal.appended == journal.committed:
            self._uncommitted_since = None
            return inf
        if self._uncommitted_since is None:
            self._uncommitted_since = now
        is_full = journal.appended - journal.committed >= self._serving.commit_records
        return now if is_full else self._uncommitted_since + self._serving.commit_delay

    def _begin_commit(self, loop: asyncio.AbstractEventLoop, journal: JournaledQueue) -> None:
        self._uncommitted_since = None
        if (commit := journal.begin_commit()) is not None:
            running = loop.run_in_executor(self._thread, commit.run)
            running.add_done_callback(lambda _: self._wake.set())
            self._commit = commit, running

    # ── time ──────────────────────────────────────────────────────────────────────────────

    def _outgoing(self, now: float) -> list[Sent]:
        """What is to be sent: answers always, and what is due if the tick allows it."""
        if now < self._evict_at:
            return self._server.answers()
        self._evict_at = now + self._serving.tick
        return self._server.outgoing(time.time())

    async def _sleep(self, loop: asyncio.AbstractEventLoop) -> None:
        """Sleep until something comes in or is due."""
        # Sending may have used up the signal that something came in, so ask once more.
        for side in self._readable_sides():
            if int(self._sockets[side].getsockopt(zmq.EVENTS)) & zmq.POLLIN:
                return
        until_due = max(self._server.next_wake() - time.time(), self._evict_at - loop.time())
        seconds = min(until_due, LONGEST_SLEEP)
        if self._commit is None:
            seconds = min(seconds, self._commit_at(loop.time()) - loop.time())
        if self._stop_at is not None:
            seconds = min(seconds, self._stop_at - loop.time())
        alarm = loop.call_later(max(0.0, seconds), self._wake.set)
        await self._wake.wait()
        alarm.cancel()

    def _is_over(self, now: float) -> bool:
        if self._stop_at is None:
            return False
        journal, server = self._journal, self._server
        is_committed = journal is None or journal.appended == journal.committed
        is_settled = server.in_flight == 0 and server.unanswered == 0 and is_committed
        return is_settled or now >= self._stop_at

    async def _close(self, loop: asyncio.AbstractEventLoop, linger: int) -> None:
        for socket in self._sockets.values():
            loop.remove_reader(socket.fileno())
        if self._commit is not None and self._journal is not None:
            commit, running = self._commit
            await running
            self._journal.end_commit(commit)
        if self._journal is not None and linger:
            await loop.run_in_executor(self._thread, self._journal.commit)
            self._write(self._server.outgoing(time.time()))
        self._thread.shutdown()
        await asyncio.to_thread(self._context.destroy, linger)
