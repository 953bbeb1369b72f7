"""MQTT over TCP and TLS: sockets that bring bytes to clients and tell when they take no more."""

from __future__ import annotations

import asyncio
import socket
from typing import cast

from ramify.net.mqtt_clients import Client
from ramify.net.mqtt_hub import Hub

CHUNK = 65_536
"""Bytes that are read at once: so much that it is many packets, so little that others have their turn."""
_READ = bytearray(CHUNK)
_VIEW = memoryview(_READ)


class MqttProtocol(asyncio.BufferedProtocol):
    """One socket; what is read into the buffer that all share is taken out of it at once."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._client: Client | None = None
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Somebody is there."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=self._hub.settings.write_buffer)
        watch_for_dead_peers(self._transport)
        self._client = self._hub.arrive(self._transport, address_of(self._transport))

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where to read to."""
        return _VIEW

    def buffer_updated(self, nbytes: int) -> None:
        """Something was read."""
        if self._client is not None:
            hear(self._hub, self._client, bytes(_VIEW[:nbytes]))

    def eof_received(self) -> None:
        """The other side says no more: the connection is closed."""

    def pause_writing(self) -> None:
        """The other side does not keep up."""
        if self._client is not None:
            self._client.congest(True)

    def resume_writing(self) -> None:
        """It does again."""
        if self._client is not None:
            self._client.congest(False)

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket is gone."""
        if self._client is not None:
            self._hub.depart(self._client)


def hear(hub: Hub, client: Client, data: bytes) -> None:
    """Let a client say something; a fault of ours costs it its connection, and nobody else anything."""
    try:
        client.hear(data)
        hub.heard(len(data))
    except Exception:
        hub.log.exception("client.failed", client=client.name, address=client.address)
        client.wire.abort()


def watch_for_dead_peers(transport: asyncio.BaseTransport) -> None:
    """Let the system find out about peers that vanished, also of clients without keep alive."""
    peer = transport.get_extra_info("socket")
    if peer is not None and peer.family in (socket.AF_INET, socket.AF_INET6):
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)


def address_of(transport: asyncio.BaseTransport) -> str:
    """The other side's address, without its port."""
    peer = transport.get_extra_info("peername")
    return str(peer[0]) if peer else ""
