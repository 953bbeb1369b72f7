"""All MQTT clients of one server around one broker: who is connected, what is due, what is to be written.

Whatever happens in one turn of the event loop is gathered: at its end changes are committed
together, and every socket that has something to say is written to once. There is one timer for all
deadlines, of clients and of the broker.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from math import inf
from typing import Any

from msgspec import Struct

from ramify.broker import Broker, Close, Effect, FanOut, Forward, Hold, Release, Resume
from ramify.broker.audiences import OWN_TOPICS
from ramify.mqtt import Reason
from ramify.mqtt.packets import Connect
from ramify.net.arrivals import Arrivals
from ramify.net.clock import Clock
from ramify.net.fan_out import FanOuts
from ramify.net.mqtt_clients import Client
from ramify.net.mqtt_settings import Settings
from ramify.net.mqtt_words import TO_DISCONNECT
from ramify.net.storing import Store
from ramify.net.turns import Turns
from ramify.net.wire import Wire

MOST_READ = 262_144
"""Bytes that are heard before answers go out, however many more wait in the sockets."""


class Counts(Struct):
    """What went through the sockets since the start."""

    bytes_received: int = 0
    bytes_sent: int = 0
    connections: int = 0
    turned_away: int = 0
    """Connections that were closed before a word was said."""
    most_clients: int = 0
    announced: int = 0
    """Events that the server itself published."""


class Hub:
    """Joins clients and broker; everything happens in the event loop's thread."""

    def __init__(
        self,
        broker: Broker,
        settings: Settings,
        log: Any,
        store: Store | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.broker, self.settings, self.log = broker, settings, log
        self.now = clock or Clock()
        self.counts = Counts()
        self.turns = Turns(store, self.carry_out, self._fail)
        self.failure: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Ends with an exception when nothing more can be promised."""
        self._loop = asyncio.get_running_loop()
        self._links: dict[int, Client] = {}
        """Every connection, by its number."""
        self._clients: dict[str, Client] = {}
        """Those that were let in, by name."""
        self._dirty: set[Client] = set()
        self._fan_outs = FanOuts(self._clients, self._dirty, self.now)
        self._arrivals = Arrivals(settings.connects_per_second)
        self._watched: list[tuple[float, int]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = inf
        self._is_scheduled = self._is_stopping = False
        self._read = 0
        self._is_empty = asyncio.Event()
        self._effects: dict[type, Callable[[Any], None]] = {
            FanOut: self._fan_outs.carry_out,
            Release: self._release,
            Close: self._close,
            Hold: lambda effect: self._hold(effect.client, True),
            Resume: lambda effect: self._hold(effect.client, False),
            Forward: lambda effect: None,
        }

    # ── coming and going ──────────────────────────────────────────────────────────────────

    @property
    def connected(self) -> int:
        """How many clients are let in."""
        return len(self._clients)

    @property
    def received(self) -> int:
        """How many events came from clients."""
        return self.broker.counters.published - self.counts.announced

    @property
    def deliveries(self) -> int:
        """How many deliveries went out."""
        return self._fan_outs.sent

    def arrive(self, wire: Wire, address: str) -> Client | None:
        """A new connection; `None` if there is no place for it, and it is closed."""
        links = len(self._links)
        strangers = links - len(self._clients)
        if self._is_stopping or links >= self.settings.connections or strangers >= self.settings.strangers:
            self.counts.turned_away += 1
            self.log.warning(
                "connection.turned_away", address=address, connections=links, strangers=strangers
            )
            wire.abort()
            return None
        self.counts.connections += 1
        client = Client(self.counts.connections, wire, address, self)
        self._links[client.number] = client
        self.watch(client)
        return client

    def depart(self, client: Client) -> None:
        """A connection's socket is gone."""
        client.lost()
        self._links.pop(client.number, None)
        self._dirty.discard(client)
        self.schedule()
        if not self._links:
            self._is_empty.set()

    def admission(self, client: Client, packet: Connect) -> tuple[Reason, str] | None:
        """Why a client is not let in, whatever the broker would say."""
        if not self._arrivals.admit(client.address, self.now()):
            return Reason.CONNECTION_RATE_EXCEEDED, "too many connections in too short a time"
        if packet.will is not None and packet.will.topic.startswith(OWN_TOPICS):
            return Reason.NOT_AUTHORIZED, f"nobody but the server publishes below {OWN_TOPICS}"
        return None

    def let_in(self, client: Client) -> None:
        """The client is its name's connection from now on."""
        self._clients[client.name] = client
        self._fan_outs.forget()
        self.counts.most_clients = max(self.counts.most_clients, len(self._clients))
        self.log.debug(
            "client.connected", client=client.name, address=client.address, version=int(client.version)
        )
        if client.is_congested:
            client.congest(True)

    def is_in(self, client: Client) -> bool:
        """Whether it is its name's connection."""
        return self._clients.get(client.name) is client

    def leave(self, client: Client) -> None:
        """The client is not to be delivered to any more."""
        if self.is_in(client):
            del self._clients[client.name]
            self._fan_outs.forget()
            self.log.debug("client.disconnected", client=client.name, address=client.address)

    # ── effects ───────────────────────────────────────────────────────────────────────────

    def carry_out(self, effects: tuple[Effect, ...]) -> None:
        """Do what the broker wants done, in order."""
        if not self._is_scheduled:
            self.schedule()
        for effect in effects:
            self._effects[type(effect)](effect)

    def _release(self, effect: Release) -> None:
        client = self._clients.get(effect.client)
        if client is not None:
            client.release(effect.ticket)

    def _close(self, effect: Close) -> None:
        client = self._links.get(effect.connection)  # type: ignore[call-overload]
        if client is not None:
            self.log.info(
                "client.closed", client=effect.client, address=client.address, reason=effect.reason.value
            )
            client.disconnect(TO_DISCONNECT[effect.reason], effect.reason.value)

    def _hold(self, name: str, is_held: bool) -> None:
        client = self._clients.get(name)
        if client is not None:
            self.log.debug("client.held" if is_held else "client.resumed", client=name)
            client.hold(is_held)

    # ── turns of the loop ─────────────────────────────────────────────────────────────────

    def heard(self, size: int) -> None:
        """So many bytes were heard; after many, answers go out before more is."""
        self.counts.bytes_received += size
        self._read += size
        if self._read >= MOST_READ:
            self.flush()

    def mark(self, client: Client) -> None:
        """The client has something to be written."""
        self._dirty.add(client)
        if not self._is_scheduled:
            self.schedule()

    def schedule(self) -> None:
        """End this turn soon."""
        if not self._is_scheduled:
            self._is_scheduled = True
            self._loop.call_soon(self._end_turn)

    def later(self, call: Callable[[], None]) -> None:
        """Do something when what is being done is done."""
        self._loop.call_soon(call)

    def _end_turn(self) -> None:
        self._is_scheduled = False
        self.flush()

    def flush(self) -> None:
        """Begin to commit what has gathered, and write to every socket that has something to say."""
        self._read = 0
        self._fan_outs.turn += 1
        self.turns.end()
        while self._dirty:
            dirty = list(self._dirty)
            self._dirty.clear()
            for client in dirty:
                client.flush()
        self._plan()

    # ── deadlines ─────────────────────────────────────────────────────────────────────────

    def watch(self, client: Client) -> None:
        """Look at the client's deadline in time; a later one is found when the earlier has come."""
        deadline = client.deadline
        if (
            deadline is None
            or deadline == inf
            or (client.watched_at is not None and client.watched_at <= deadline)
        ):
            return
        client.watched_at = deadline
        heapq.heappush(self._watched, (deadline, client.number))
        if deadline < self._timer_at:
            self.schedule()

    def _plan(self) -> None:
        """Set the timer for whatever is due first."""
        due = self.broker.next_deadline()
        if self._watched and (due is None or self._watched[0][0] < due):
            due = self._watched[0][0]
        if due is not None and due < self._timer_at:
            if self._timer is not None:
                self._timer.cancel()
            self._timer_at = due
            self._timer = self._loop.call_later(max(0.0, due - self.now()), self._wake)

    def _wake(self) -> None:
        self._timer, self._timer_at = None, inf
        now = self.now()
        due = self.broker.next_deadline()
        if due is not None and due <= now:
            self.turns.take(self.broker.tick(now))
        while self._watched and self._watched[0][0] <= now:
            when, number = heapq.heappop(self._watched)
            client = self._links.get(number)
            if client is not None and client.watched_at == when:
                self._look_at(client, now)
        self.flush()

    def _look_at(self, client: Client, now: float) -> None:
        client.watched_at = None
        deadline = client.deadline
        if deadline is not None and deadline <= now:
            client.expire(now)
        self.watch(client)

    # ── the end ───────────────────────────────────────────────────────────────────────────

    async def stop(self) -> None:
        """Say goodbye to everyone; sessions stay as they are, for the next start."""
        self._is_stopping = True
        self.flush()
        deadline = self._loop.time() + self.settings.grace
        while not self.turns.is_idle and self._loop.time() < deadline and not self.failure.done():
            await asyncio.sleep(0.005)
        for client in list(self._links.values()):
            client.disconnect(Reason.SERVER_SHUTTING_DOWN, "the server is stopping")
        self.flush()
        await self._emptied(deadline)
        if self._timer is not None:
            self._timer.cancel()

    async def _emptied(self, deadline: float) -> None:
        if self._links:
            self._is_empty.clear()
            try:
                await asyncio.wait_for(self._is_empty.wait(), max(0.1, deadline - self._loop.time()))
            except TimeoutError:
                for client in list(self._links.values()):
                    client.wire.abort()

    def _fail(self, failure: BaseException) -> None:
        self.log.error("store.failed", reason=str(failure))
        if not self.failure.done():
            self.failure.set_exception(failure)
