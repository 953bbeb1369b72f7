"""Addresses of Redis and MQTT: read from a URL, and shown without who may enter.

Names and passwords come from the URL, or from the environment of the driver
(`RAMIFY_REDIS_USERNAME`, `RAMIFY_REDIS_PASSWORD`, `RAMIFY_MQTT_USERNAME`, `RAMIFY_MQTT_PASSWORD`).
An address is shown in errors, plans and logs, so its text and its `repr` never hold them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import SplitResult, unquote, urlsplit

from ramify.errors import InvalidEndpoint

REDIS, MQTT = "redis", "mqtt"

SCHEMES: dict[str, tuple[str, int, bool]] = {
    "redis": (REDIS, 6379, False),
    "rediss": (REDIS, 6379, True),
    "mqtt": (MQTT, 1883, False),
    "mqtts": (MQTT, 8883, True),
}
"""What a scheme stands for: the server, its usual port, and whether the way there is encrypted."""

_NO_PORT = "there is no port that is a number; in a name or password, / is written as %2F and : as %3A"


@dataclass(frozen=True, slots=True)
class Address:
    """A server, and who we are to it."""

    scheme: str
    host: str
    port: int
    database: int = 0
    username: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)

    @property
    def kind(self) -> str:
        """Which server it is: `redis` or `mqtt`."""
        return SCHEMES[self.scheme][0]

    @property
    def is_secure(self) -> bool:
        """Whether the way there is encrypted."""
        return SCHEMES[self.scheme][2]

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        database = f"/{self.database}" if self.kind == REDIS else ""
        return f"{self.scheme}://{host}:{self.port}{database}"


def parse_address(url: str, environment: Mapping[str, str]) -> Address:
    """Read a URL such as `redis://127.0.0.1:6379/0` or `mqtts://name:password@broker`."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        # Python's own words would quote what may be a piece of the password.
        raise InvalidEndpoint(without_credentials(url), _NO_PORT) from None
    if parts.scheme not in SCHEMES:
        raise InvalidEndpoint(without_credentials(url), f"a url begins with {', '.join(SCHEMES)} and ://")
    if not host:
        raise InvalidEndpoint(without_credentials(url), "names no host")
    kind, usual, _ = SCHEMES[parts.scheme]
    return Address(
        parts.scheme,
        host,
        usual if port is None else port,
        _database(url, parts, kind),
        _said(parts.username) or environment.get(f"RAMIFY_{kind.upper()}_USERNAME") or None,
        _said(parts.password) or environment.get(f"RAMIFY_{kind.upper()}_PASSWORD") or None,
    )


def without_credentials(url: str) -> str:
    """A URL as it may be shown: nothing stands before the host."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        return url.rpartition("@")[2]
    # A password may hold any sign, a slash too; so all up to the last @ may be one.
    return f"{scheme}://{rest.rpartition('@')[2]}"


def _said(text: str | None) -> str | None:
    return None if text is None else unquote(text)


def _database(url: str, parts: SplitResult, kind: str) -> int:
    path = parts.path.strip("/")
    if parts.query or parts.fragment or (kind == MQTT and path):
        raise InvalidEndpoint(without_credentials(url), "goes on behind the port; options are given apart")
    if not path:
        return 0
    if not path.isdecimal() or len(path) > 9:
        raise InvalidEndpoint(without_credentials(url), f"the database is a number, not {path!r}")
    return int(path)
