"""MQTT over WebSocket: binary frames of the subprotocol `mqtt`, whose borders mean nothing. [MQTT-6.0.0-2]"""

from __future__ import annotations

import asyncio
import re
from typing import cast

from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol
from websockets.typing import Origin, Subprotocol

from ramify.net.mqtt_clients import Client
from ramify.net.mqtt_hub import Hub
from ramify.net.mqtt_server import address_of, hear, watch_for_dead_peers

MQTT = Subprotocol("mqtt")
OWN_PAGES = re.compile(r"https?://(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?")
"""Browsers let every page in the world connect to this machine: only its own pages are welcome unasked."""
FRAME_TO_PACKET = 4
"""How much larger than a packet a message may be: some clients put several packets into one."""
NO_TEXT = 1003
"""The close code for a kind of data that is not taken."""
PATIENCE = 2.0
"""Seconds to wait for the other side's goodbye."""


class WebSocketProtocol(asyncio.Protocol):
    """One socket: first a request, then frames; to its client it is a wire like any other."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._client: Client | None = None
        self._frames = ServerProtocol(
            origins=[None, OWN_PAGES, *map(Origin, hub.settings.origins)],
            subprotocols=[MQTT],
            select_subprotocol=_selected,
            max_size=FRAME_TO_PACKET * hub.settings.mqtt.maximum_packet_size,
        )
        self._transport: asyncio.Transport

    # ── the socket ────────────────────────────────────────────────────────────────────────

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Somebody is there."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=self._hub.settings.write_buffer)
        watch_for_dead_peers(transport)
        self._client = self._hub.arrive(self, address_of(transport))

    def data_received(self, data: bytes) -> None:
        """Something was read."""
        self._frames.receive_data(data)
        for event in self._frames.events_received():
            if isinstance(event, Request):
                self._frames.send_response(self._frames.accept(event))
            elif isinstance(event, Frame):
                self._take(event)
        self._send()

    def _take(self, frame: Frame) -> None:
        if frame.opcode is Opcode.TEXT:
            self._frames.fail(NO_TEXT, "MQTT is sent in binary frames")  # [MQTT-6.0.0-1]
        elif frame.opcode in (Opcode.BINARY, Opcode.CONT) and self._client is not None:
            hear(self._hub, self._client, bytes(frame.data))

    def eof_received(self) -> None:
        """The other side says no more."""
        self._frames.receive_eof()
        self._send()

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

    def _send(self) -> None:
        for data in self._frames.data_to_send():
            if data:
                self._transport.write(data)
            else:
                self._transport.close()
        if self._frames.close_expected():
            asyncio.get_running_loop().call_later(PATIENCE, self._transport.close)

    # ── the wire ──────────────────────────────────────────────────────────────────────────

    def write(self, data: bytes) -> None:
        """Send a frame."""
        if self._frames.state.name == "OPEN":
            self._frames.send_binary(data)
            self._send()

    def can_write_eof(self) -> bool:
        """No: a WebSocket says goodbye in its own way."""
        return False

    def write_eof(self) -> None:
        """Never asked for."""

    def close(self) -> None:
        """Say goodbye, and hang up when the other side does."""
        if self._frames.state.name == "OPEN":
            self._frames.send_close(1000)
            self._send()
        else:
            self._transport.close()

    def abort(self) -> None:
        """Hang up."""
        self._transport.abort()

    def pause_reading(self) -> None:
        """Hear no more for now."""
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Hear again."""
        self._transport.resume_reading()


def _selected(_: ServerProtocol, offered: object) -> Subprotocol | None:
    """The one we speak; whoever offers others only is answered without one, and hangs up. [MQTT-6.0.0-3]"""
    return MQTT if MQTT in cast("list[Subprotocol]", offered) else None
