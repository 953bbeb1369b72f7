"""The composition root: puts broker, store, sockets and signals together, and runs them until stopped."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from resource import RLIM_INFINITY, RLIMIT_NOFILE, getrlimit, setrlimit
from typing import Any

import structlog
import uvloop
from msgspec import structs

from ramify.broker import Broker
from ramify.net.listeners import Listener, check_reach, listen
from ramify.net.mqtt_hub import Hub
from ramify.net.mqtt_settings import Settings
from ramify.net.storing import Store
from ramify.net.system_topics import SystemTopics

OnReady = Callable[[list[Listener]], None]
OTHER_FILES = 128
"""Files that are open beside connections."""
SIGNALS = (signal.SIGTERM, signal.SIGINT)


def serve(
    listeners: Sequence[Listener],
    settings: Settings,
    *,
    store: Store | None = None,
    on_ready: OnReady,
    log: Any,
) -> None:
    """Serve MQTT clients until SIGTERM or SIGINT; a second one ends without goodbye."""
    for listener in listeners:
        check_reach(listener)
    settings = _with_room_for_files(settings, log)
    # Nearly all that is made here is let go in the same second; looking for cycles in it takes long.
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(Application(settings, store, log).run(listeners, on_ready))


class Application:
    """A broker on its sockets."""

    def __init__(self, settings: Settings, store: Store | None, log: Any) -> None:
        self._settings, self._store, self._log = settings, store, log
        self._broker = Broker(settings.broker)
        self._is_asked_to_stop = asyncio.Event()

    async def run(self, listeners: Sequence[Listener], on_ready: OnReady) -> None:
        """Restore what was kept, listen, and go on until a signal or a failure."""
        hub = Hub(self._broker, self._settings, self._log, self._store)
        servers: list[asyncio.Server] = []
        told: SystemTopics | None = None
        try:
            await self._restore(hub)
            self._take_signals()
            bound = []
            for listener in listeners:
                server, where = await listen(listener, hub)
                servers.append(server)
                bound.append(where)
            told = SystemTopics(hub, version("ramify"))
            self._log.info("server.started", listeners=[each.url for each in bound])
            on_ready(bound)
            await self._until_asked(hub)
        finally:
            await self._stop(hub, servers, told)

    async def _restore(self, hub: Hub) -> None:
        if self._store is None:
            return
        now = hub.now()
        changes = (*self._broker.restore(self._store.load(), now).changes, *self._broker.tick(now).changes)
        if changes:
            await self._store.commit(changes)

    def _take_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            loop.add_signal_handler(number, self._asked_to_stop)

    def _asked_to_stop(self) -> None:
        self._is_asked_to_stop.set()
        for number in SIGNALS:
            asyncio.get_running_loop().remove_signal_handler(number)

    async def _until_asked(self, hub: Hub) -> None:
        asked = asyncio.create_task(self._is_asked_to_stop.wait())
        await asyncio.wait((asked, hub.failure), return_when=asyncio.FIRST_COMPLETED)
        asked.cancel()
        if hub.failure.done():
            hub.failure.result()

    async def _stop(self, hub: Hub, servers: list[asyncio.Server], told: SystemTopics | None) -> None:
        for server in servers:
            server.close()
        if told is not None:
            told.stop()
        await hub.stop()
        if self._store is not None:
            await self._store.close()
        self._log.info("server.stopped")


def _with_room_for_files(settings: Settings, log: Any) -> Settings:
    """Ask the system for as many open files as connections need, and promise no more than it gives."""
    soft, hard = getrlimit(RLIMIT_NOFILE)
    needed = settings.connections + OTHER_FILES
    if soft < needed:
        soft = needed if hard == RLIM_INFINITY else min(needed, hard)
        setrlimit(RLIMIT_NOFILE, (soft, hard))
    if soft >= needed:
        return settings
    log.warning("server.few_files", connections=soft - OTHER_FILES, wanted=settings.connections)
    return structs.replace(settings, connections=max(1, soft - OTHER_FILES))


def json_log(level: str) -> Any:
    """A log of JSON lines on standard error, from a level on."""
    return structlog.wrap_logger(
        structlog.PrintLogger(sys.stderr),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        context_class=dict,
    )
