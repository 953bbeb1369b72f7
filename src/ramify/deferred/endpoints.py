"""Which addresses are served: those of this machine, and others only if that was asked for."""

from __future__ import annotations

from ipaddress import ip_address

from ramify.errors import InvalidEndpoint

TCP, IPC = "tcp://", "ipc://"


def checked_endpoint(endpoint: str, *, allow_remote: bool = True) -> str:
    """An endpoint that ZeroMQ understands; one that others could reach only if that is allowed."""
    if endpoint.startswith(IPC) and len(endpoint) > len(IPC):
        return endpoint
    if not endpoint.startswith(TCP):
        raise InvalidEndpoint(endpoint, "an endpoint is tcp://HOST:PORT or ipc://PATH")
    host, port = checked_address(endpoint.removeprefix(TCP), endpoint, allow_remote=allow_remote)
    return f"{TCP}{f'[{host}]' if ':' in host else host}:{port}"


def checked_address(address: str, shown: str | None = None, *, allow_remote: bool) -> tuple[str, int]:
    """The host and the port of HOST:PORT; `localhost` is 127.0.0.1."""
    shown = shown or address
    host, colon, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not host or not (port.isascii() and port.isdecimal() and int(port) < 1 << 16):
        raise InvalidEndpoint(shown, "there is no HOST:PORT, with a port from 0 to 65535")
    host = "127.0.0.1" if host == "localhost" else host
    if not allow_remote and not _is_loopback(host):
        raise InvalidEndpoint(
            shown,
            "others could connect here, and there is no password; --allow-remote binds it all the same",
        )
    return host, int(port)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
