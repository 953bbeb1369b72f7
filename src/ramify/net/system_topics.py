"""The `$SYS` topics: what the server tells about itself, retained, as brokers usually do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from msgspec.structs import replace

from ramify.broker import Event, Holdings
from ramify.net.mqtt_hub import Hub

Reading = Callable[[Hub, Holdings, float], object]

TOPICS: dict[str, Reading] = {
    "$SYS/broker/uptime": lambda hub, held, uptime: f"{uptime:.0f} seconds",
    "$SYS/broker/clients/connected": lambda hub, held, uptime: hub.connected,
    "$SYS/broker/clients/total": lambda hub, held, uptime: held.sessions,
    "$SYS/broker/clients/disconnected": lambda hub, held, uptime: held.sessions - held.connected,
    "$SYS/broker/clients/maximum": lambda hub, held, uptime: hub.counts.most_clients,
    "$SYS/broker/messages/received": lambda hub, held, uptime: hub.received,
    "$SYS/broker/messages/sent": lambda hub, held, uptime: hub.deliveries,
    "$SYS/broker/publish/messages/dropped": lambda hub, held, uptime: hub.broker.counters.dropped,
    "$SYS/broker/bytes/received": lambda hub, held, uptime: hub.counts.bytes_received,
    "$SYS/broker/bytes/sent": lambda hub, held, uptime: hub.counts.bytes_sent,
    "$SYS/broker/subscriptions/count": lambda hub, held, uptime: held.subscriptions,
    "$SYS/broker/retained messages/count": lambda hub, held, uptime: held.retained,
}


class SystemTopics:
    """Publishes them at intervals."""

    def __init__(self, hub: Hub, version: str) -> None:
        self._hub, self._start = hub, hub.now()
        self._timer: asyncio.TimerHandle | None = None
        if hub.settings.system_interval:
            self._publish("$SYS/broker/version", f"ramify {version}")
            self._tell()

    def stop(self) -> None:
        """Tell nothing more."""
        if self._timer is not None:
            self._timer.cancel()

    def _tell(self) -> None:
        hub = self._hub
        held, uptime = hub.broker.holdings(), hub.now() - self._start
        for topic, reading in TOPICS.items():
            self._publish(topic, str(reading(hub, held, uptime)))
        hub.schedule()
        self._timer = asyncio.get_running_loop().call_later(hub.settings.system_interval, self._tell)

    def _publish(self, topic: str, text: str) -> None:
        event = Event(topic, text.encode(), is_retained=True)
        reply = self._hub.broker.announce(event, self._hub.now(), is_local=True)
        self._hub.counts.announced += 1
        # They are about this run of the server: a store need not keep them.
        self._hub.turns.take(replace(reply, changes=()))
