"""`ramify serve`: a broker that ordinary MQTT clients connect to."""

from __future__ import annotations

import sys
from enum import StrEnum
from math import inf
from typing import TYPE_CHECKING, Annotated

import typer

from ramify.errors import InvalidEndpoint, NotInstalled

if TYPE_CHECKING:
    from ramify.net.listeners import Listener
    from ramify.store import SqliteStore


class LogLevel(StrEnum):
    """From which level on something is logged."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class DurabilityName(StrEnum):
    """What a store survives."""

    FULL = "full"
    PROCESS = "process"


_Port = {"min": 0, "max": 65_535}

Host = Annotated[str, typer.Option(help="The address to listen on: one of this machine's own.")]
Port = Annotated[int, typer.Option(**_Port, help="The port for MQTT over TCP; 0 takes a free one.")]
TlsPort = Annotated[int | None, typer.Option(**_Port, help="A port for MQTT over TLS.")]
WsPort = Annotated[int | None, typer.Option(**_Port, help="A port for MQTT over WebSocket.")]
WssPort = Annotated[int | None, typer.Option(**_Port, help="A port for MQTT over WebSocket and TLS.")]
WsOrigin = Annotated[
    list[str] | None,
    typer.Option(help="A web site whose pages may connect over WebSocket, such as https://example.org."),
]
TlsCert = Annotated[str | None, typer.Option(help="The certificate chain for TLS, a PEM file.")]
TlsKey = Annotated[str | None, typer.Option(help="Its private key, a PEM file without a password.")]
TlsClientCa = Annotated[str | None, typer.Option(help="Clients need a certificate of this authority.")]
StoreFile = Annotated[
    str | None,
    typer.Option("--store", help="A file that keeps sessions and events through a restart or crash."),
]
Durable = Annotated[
    DurabilityName,
    typer.Option("--durability", help="What it survives: a power cut (full), or a crash (process)."),
]
MaxConnections = Annotated[int, typer.Option(min=1, help="Connections at most.")]
MaxPacket = Annotated[int, typer.Option(min=128, help="Bytes of a packet at most.")]
MaxQueued = Annotated[int, typer.Option(min=1, help="Deliveries that wait for one client at most.")]
MaxSubscriptions = Annotated[int, typer.Option(min=1, help="Subscriptions of one client at most.")]
ConnectTimeout = Annotated[float, typer.Option(min=0.1, help="Seconds that a client has to say who it is.")]
ConnectRate = Annotated[
    float, typer.Option(min=0, help="Connects per second from one address; 0: any number.")
]
WriteBuffer = Annotated[int, typer.Option(min=1024, help="Bytes unsent from which on a client is slow.")]
KeepAlive = Annotated[
    int, typer.Option(min=0, max=65_535, help="The longest keep alive, in seconds; 0: any.")
]
SessionExpiry = Annotated[
    float | None, typer.Option(min=0, help="The longest that a session waits, in seconds.")
]
SysInterval = Annotated[float, typer.Option(min=0, help="Seconds between updates of $SYS topics; 0: never.")]
Grace = Annotated[
    float, typer.Option(min=0, help="Seconds that clients have to take their leave at the end.")
]
Level = Annotated[LogLevel, typer.Option(help="What is logged, as JSON lines on standard error.")]


def serve(
    host: Host = "127.0.0.1",
    port: Port = 1883,
    tls_port: TlsPort = None,
    ws_port: WsPort = None,
    wss_port: WssPort = None,
    ws_origin: WsOrigin = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    tls_client_ca: TlsClientCa = None,
    store: StoreFile = None,
    durability: Durable = DurabilityName.FULL,
    max_connections: MaxConnections = 16_000,
    max_packet: MaxPacket = 1_048_576,
    max_queued: MaxQueued = 10_000,
    max_subscriptions: MaxSubscriptions = 10_000,
    connect_timeout: ConnectTimeout = 10.0,
    connect_rate: ConnectRate = 2_000.0,
    write_buffer: WriteBuffer = 262_144,
    keep_alive: KeepAlive = 0,
    session_expiry: SessionExpiry = None,
    sys_interval: SysInterval = 10.0,
    grace: Grace = 5.0,
    log_level: Level = LogLevel.INFO,
) -> None:
    """Serve MQTT 3.1.1 and 5.0 clients, on this machine.

    It says where it listens, one address a line. SIGTERM or Ctrl-C ends it: clients are told, and have a
    few seconds to hang up. Without --store, everything is in memory. MQTT 5 clients may subscribe with the
    user properties where, dialect, debounce-quiet and others, and publish with defer and key.

    \b
    Example:
      ramify serve --port 1883 --ws-port 8080
      mosquitto_sub -V mqttv5 -t 'plant/+/temp' -D subscribe user-property where 'celsius > 80'
    """
    _need_broker()
    from ramify.app import json_log
    from ramify.app import serve as run
    from ramify.broker import Limits as BrokerLimits
    from ramify.mqtt import Limits as MqttLimits
    from ramify.net.mqtt_settings import Settings

    settings = Settings(
        MqttLimits(maximum_packet_size=max_packet, connect_timeout=connect_timeout),
        BrokerLimits(
            queued=max_queued,
            subscriptions=max_subscriptions,
            session_expiry=inf if session_expiry is None else session_expiry,
        ),
        connections=max_connections,
        connects_per_second=connect_rate,
        write_buffer=write_buffer,
        origins=tuple(ws_origin or ()),
        keep_alive=keep_alive,
        system_interval=sys_interval,
        grace=grace,
    )
    ports = {"mqtt": port, "mqtts": tls_port, "ws": ws_port, "wss": wss_port}
    listeners = _listeners(host, ports, tls_cert, tls_key, tls_client_ca)
    kept = None if store is None else _opened(store, durability)
    run(listeners, settings, store=kept, on_ready=_say_where, log=json_log(log_level))


def _opened(path: str, durability: str) -> SqliteStore:
    from ramify.store import SqliteStore

    return SqliteStore(path, durability=durability)


def _listeners(
    host: str, ports: dict[str, int | None], cert: str | None, key: str | None, authority: str | None
) -> list[Listener]:
    from ramify.net.listeners import Certificate, Listener, check_reach

    files = Certificate(cert, key, authority) if cert is not None and key is not None else None
    listeners = [
        Listener(scheme, host, number, files if scheme in ("mqtts", "wss") else None)
        for scheme, number in ports.items()
        if number is not None
    ]
    for listener in listeners:
        check_reach(listener)
        if listener.scheme in ("mqtts", "wss") and files is None:
            raise InvalidEndpoint(listener.url, "TLS needs --tls-cert and --tls-key")
    if files is not None and not any(listener.certificate for listener in listeners):
        raise InvalidEndpoint("--tls-cert", "a certificate without --tls-port or --wss-port is used nowhere")
    return listeners


def _say_where(listeners: list[Listener]) -> None:
    for listener in listeners:
        typer.echo(listener.url)
    sys.stdout.flush()


def _need_broker() -> None:
    try:
        import structlog  # noqa: F401
        import uvloop  # noqa: F401
        import websockets  # noqa: F401
    except ImportError as missing:
        raise NotInstalled(
            "ramify serve", f"{missing.name} is not installed: pip install 'ramify[broker]'"
        ) from None
