"""The figures of a served queue, for Prometheus."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from resource import getpagesize

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from ramify.deferred.server import Server
from ramify.deferred.serving import Counts
from ramify.errors import EndpointFailed

COUNTERS = {
    "accepted": "Pushes that were accepted",
    "added": "Accepted pushes whose key was not waiting",
    "refused": "Pushes that were refused",
    "bad": "Messages that could not be read",
    "delivered": "Items given to consumers, again included",
    "redelivered": "Items given to a consumer once more",
    "done": "Items acknowledged",
    "unknown": "Acknowledgements of what was not in flight",
    "expired": "Consumers that fell silent",
}
GAUGES: dict[str, tuple[str, Callable[[Server], float]]] = {
    "waiting": ("Items that wait", lambda server: server.waiting),
    "in_flight": ("Items that consumers hold", lambda server: server.in_flight),
    "held_bytes": ("Bytes of data that wait or are in flight", lambda server: server.held_bytes),
    "consumers": ("Consumers that are there", lambda server: server.consumers),
    "unanswered": ("Answers that wait for the disk", lambda server: server.unanswered),
}


class ServerCollector(Collector):
    """Reads a server's figures when they are asked for."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def collect(self) -> Iterator[Metric]:
        """Give every figure."""
        for field in fields(Counts):
            value = getattr(self._server.counts, field.name)
            yield CounterMetricFamily(f"ramify_deferred_{field.name}", COUNTERS[field.name], value)
        for name, (words, read) in GAUGES.items():
            yield GaugeMetricFamily(f"ramify_deferred_{name}", words, read(self._server))
        yield GaugeMetricFamily("process_resident_memory_bytes", "Memory of the process", resident_bytes())


def expose(server: Server, host: str, port: int) -> tuple[int, Callable[[], None]]:
    """Serve the figures over HTTP, from a thread; gives the port and a way to stop."""
    registry = CollectorRegistry()
    registry.register(ServerCollector(server))
    try:
        http, thread = start_http_server(port, host, registry)
    except OSError as error:
        raise EndpointFailed(f"{host}:{port}", f"cannot be bound: {error.strerror}") from None

    def stop() -> None:
        http.shutdown()
        http.server_close()
        thread.join()

    return http.server_port, stop


def resident_bytes() -> int:
    """How much memory this process has."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * getpagesize()
