"""Producers and consumers of a served queue, over ZeroMQ.

When the connection is lost, ZeroMQ makes a new one by itself. A producer then says again what
was not answered, and a consumer that it is there.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from itertools import count
from types import TracebackType
from typing import Any, Self

import zmq
import zmq.asyncio
from zmq.utils.monitor import recv_monitor_message

from ramify.deferred import wire
from ramify.errors import BadMessage, Unanswered

RECONNECT = 10
"""Milliseconds until the first attempt to connect anew."""


class _Link:
    """A connection that says when it was made and lost."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self._context = zmq.asyncio.Context()
        self._tasks: list[asyncio.Task[None]] = []
        self.is_connected = False
        self.losses = 0
        """How often the connection was lost."""
        socket = self._context.socket(zmq.DEALER)
        socket.setsockopt(zmq.RECONNECT_IVL, RECONNECT)
        socket.setsockopt(zmq.RECONNECT_IVL_MAX, 10 * RECONNECT)
        socket.setsockopt(zmq.IPV6, int("[" in endpoint))
        self._socket = socket
        self._monitor = socket.get_monitor_socket(zmq.Event.HANDSHAKE_SUCCEEDED | zmq.Event.DISCONNECTED)
        try:
            socket.connect(endpoint)
        except zmq.ZMQError as error:
            self._context.destroy(linger=0)
            raise Unanswered(endpoint, f"cannot be connected to: {error.strerror}") from None
        self._keep(self._watch())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self, linger: int = 1_000) -> None:
        """Say what is left to say, and let go."""
        if self._socket.closed:
            return
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._socket.disable_monitor()
        self._monitor.close(linger=0)
        self._socket.close(linger=linger)
        await asyncio.to_thread(self._context.term)

    def _keep(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.append(asyncio.create_task(work))

    async def _watch(self) -> None:
        while True:
            if (await recv_monitor_message(self._monitor))["event"] == zmq.Event.DISCONNECTED:
                self.losses, self.is_connected = self.losses + 1, False
                await self._on_loss()
            else:
                self.is_connected = True
                await self._on_connection()

    async def _on_connection(self) -> None:
        """Act when a connection was made."""

    async def _on_loss(self) -> None:
        """Act when a connection was lost."""


class ProducerClient(_Link):
    """Pushes to a served queue."""

    def __init__(self, endpoint: str) -> None:
        super().__init__(endpoint)
        self._requests = count(1)
        self._unanswered: dict[int, tuple[bytes, asyncio.Future[wire.Pushed]]] = {}
        self.resent = 0
        """How many requests were said again after the connection was lost."""
        self._keep(self._listen())

    async def push(self, pushes: Sequence[wire.Push], timeout: float | None = 10.0) -> wire.Pushed:
        """Push, and wait for the answer; requests keep their order, and several may be under way."""
        number = next(self._requests)
        frame = wire.encode(wire.Pushes(wire.VERSION, number, list(pushes)))
        answer: asyncio.Future[wire.Pushed] = asyncio.get_running_loop().create_future()
        self._unanswered[number] = frame, answer
        try:
            async with asyncio.timeout(timeout):
                await self._socket.send(frame)
                return await answer
        except TimeoutError:
            raise Unanswered(self.endpoint, f"no answer within {timeout:g} seconds") from None
        finally:
            del self._unanswered[number]

    async def _listen(self) -> None:
        while True:
            message = wire.read_to_producer(await self._socket.recv())
            if isinstance(message, wire.Pushed):
                _, answer = self._unanswered.get(message.request, (b"", None))
                if answer is not None and not answer.done():
                    answer.set_result(message)
            else:
                self._fail(message)

    def _fail(self, failure: wire.Failed) -> None:
        """Tell whoever sent what the server could not take; if that is unknown, tell all."""
        numbers = list(self._unanswered) if failure.request is None else [failure.request]
        for number in numbers:
            _, answer = self._unanswered.get(number, (b"", None))
            if answer is not None and not answer.done():
                answer.set_exception(BadMessage(failure.code, failure.reason, failure.request))

    async def _on_loss(self) -> None:
        for frame, _ in list(self._unanswered.values()):
            self.resent += 1
            await self._socket.send(frame)


class ConsumerClient(_Link):
    """Takes items from a served queue."""

    def __init__(self, endpoint: str, window: int = 1_000, heartbeat: float = 1.0) -> None:
        super().__init__(endpoint)
        self._take = wire.encode(wire.Take(wire.VERSION, window))
        self._heartbeat = heartbeat
        self._said = 0
        self.done = 0
        """How many acknowledgements the server has confirmed."""
        self.unknown = 0
        """How many it did not know: another consumer got the item meanwhile."""
        self._keep(self._beat())

    async def batches(self) -> AsyncIterator[list[wire.Delivery]]:
        """Items as they come; each is held until it is acknowledged."""
        while True:
            if items := await self._next():
                yield items

    async def acknowledge(self, items: Sequence[wire.Delivery]) -> None:
        """Say that items are done."""
        ack = wire.Ack(wire.VERSION, [(item.ticket, item.key) for item in items])
        self._said += len(items)
        await self._socket.send(wire.encode(ack))

    async def settle(self, timeout: float = 5.0) -> None:
        """Wait until the server has answered what was acknowledged, and leave the rest to others."""
        try:
            async with asyncio.timeout(timeout):
                while self.done + self.unknown < self._said:
                    await self._next()
        except TimeoutError:
            pass  # It may have been restarted in between; then it gives out again what it did not hear.
        await self.leave()

    async def leave(self) -> None:
        """Say that what was not acknowledged is for others."""
        await self._socket.send(wire.encode(wire.Leave(wire.VERSION)))

    async def _next(self) -> list[wire.Delivery]:
        """Hear one message, and give the items in it."""
        match wire.read_to_consumer(await self._socket.recv()):
            case wire.Deliver(items=items):
                return items
            case wire.Acked(done=done, unknown=unknown):
                self.done += done
                self.unknown += len(unknown)
            case wire.Failed(code="silent"):
                await self._announce()
            case wire.Failed(code=code, reason=reason):
                raise BadMessage(code, reason)
        return []

    async def _on_connection(self) -> None:
        await self._announce()

    async def _announce(self) -> None:
        await self._socket.send(self._take)

    async def _beat(self) -> None:
        while True:
            await self._announce()
            await asyncio.sleep(self._heartbeat)
