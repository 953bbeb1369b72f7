"""The values of a served queue: its limits, its counts, and what it sends."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ramify.deferred.consumers import Peer


@dataclass(frozen=True, slots=True)
class Limits:
    """What the server takes at most."""

    keys: int = 1_000_000
    held: int = 1 << 30
    """Bytes of data, waiting and in flight."""
    in_flight: int = 20_000
    message: int = 4 << 20
    per_message: int = 10_000
    """Pushes or acknowledgements."""
    item: int = 1 << 20
    key: int = 1024
    consumers: int = 1_000
    silence: float = 10.0
    """Seconds after which a consumer that says nothing is taken for dead."""


@dataclass(slots=True)
class Counts:
    """What has happened since the start."""

    accepted: int = 0
    added: int = 0
    refused: int = 0
    bad: int = 0
    delivered: int = 0
    redelivered: int = 0
    done: int = 0
    unknown: int = 0
    expired: int = 0


class Side(Enum):
    """Which endpoint a message goes out by."""

    PRODUCERS = "inbound"
    CONSUMERS = "outbound"


@dataclass(frozen=True, slots=True)
class Sent:
    """A message to be sent."""

    side: Side
    peer: Peer
    frame: bytes
