"""Where clients come in: addresses, and the certificates behind them."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from ipaddress import ip_address

from msgspec import Struct

from ramify.errors import EndpointFailed, InvalidEndpoint, InvalidFile
from ramify.net.mqtt_hub import Hub
from ramify.net.mqtt_server import MqttProtocol
from ramify.net.websocket import WebSocketProtocol

BACKLOG = 1_024

PROTOCOLS: dict[str, Callable[[Hub], asyncio.BaseProtocol]] = {
    "mqtt": MqttProtocol,
    "mqtts": MqttProtocol,
    "ws": WebSocketProtocol,
    "wss": WebSocketProtocol,
}
"""What is spoken at the addresses of a scheme; those that end in s are encrypted."""


class Certificate(Struct, frozen=True):
    """The files that prove who we are, and whose clients we believe."""

    certificate: str
    key: str
    client_authority: str | None = None
    """If given, clients need a certificate of it."""


class Listener(Struct, frozen=True):
    """An address, and what is spoken there."""

    scheme: str
    host: str
    port: int
    certificate: Certificate | None = None

    @property
    def url(self) -> str:
        """The address as clients write it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


def check_reach(listener: Listener, *, has_authentication: bool = False) -> None:
    """Refuse to serve others than this machine's own programs while anybody could come in."""
    if has_authentication or listener.host == "localhost" or _is_loopback(listener.host):
        return
    raise InvalidEndpoint(
        listener.url,
        "others could connect here, and no authentication is configured; use an address of this machine "
        "such as 127.0.0.1",
    )


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


async def listen(listener: Listener, hub: Hub) -> tuple[asyncio.Server, Listener]:
    """Open an address; with the port that was chosen, if 0 was asked for."""
    context = None if listener.certificate is None else tls_context(listener.certificate)
    timeout = None if context is None else hub.settings.mqtt.connect_timeout
    protocol = PROTOCOLS[listener.scheme]
    try:
        server = await asyncio.get_running_loop().create_server(
            lambda: protocol(hub),
            listener.host,
            listener.port,
            ssl=context,
            ssl_handshake_timeout=timeout,
            backlog=BACKLOG,
        )
    except OSError as failure:
        reason = f"cannot be bound: {failure.strerror or failure}"
        raise EndpointFailed(listener.url, reason) from None
    port = server.sockets[0].getsockname()[1]
    return server, Listener(listener.scheme, listener.host, port, listener.certificate)


def tls_context(files: Certificate) -> ssl.SSLContext:
    """TLS 1.2 or newer with our certificate, and the clients' if there is an authority for them."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    _load(
        files.certificate,
        lambda: context.load_cert_chain(files.certificate, files.key, password=_no_password),
    )
    authority = files.client_authority
    if authority is not None:
        _load(authority, lambda: context.load_verify_locations(authority))
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def _load(path: str, load: Callable[[], None]) -> None:
    try:
        load()
    except OSError as failure:  # ssl.SSLError is one
        raise InvalidFile(path, f"cannot be used for TLS: {failure.strerror or failure}") from None


def _no_password() -> str:
    """Keys with a password are refused, not asked about in the middle of a start."""
    return ""
