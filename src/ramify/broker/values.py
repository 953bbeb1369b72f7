"""The values that clients and the broker exchange: events, wishes, wills, terms, deliveries.

They say nothing of any protocol. Quality is how surely an event arrives: 0 at most once, 1 at
least once, 2 exactly once. All are frozen and made of frozen parts, so they can form no cycle
and are hidden from the garbage collector.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from msgspec import Struct

from ramify.model import Dialect

# ── events ────────────────────────────────────────────────────────────────────────────────


class Extras(Struct, frozen=True, gc=False):
    """What an event may carry beside its payload; most carry nothing, and pay nothing for it."""

    content_type: str | None = None
    response_topic: str | None = None
    correlation: bytes | None = None
    is_text: bool | None = None
    """Whether the publisher says that the payload is UTF-8; `None` if it does not say."""
    user_properties: tuple[tuple[str, str], ...] = ()


class Event(Struct, frozen=True, gc=False):
    """Something that happened, as it was published."""

    topic: str
    payload: bytes = b""
    quality: int = 0
    is_retained: bool = False
    """Whether it is to be kept for those who subscribe later."""
    publisher: str = ""
    """The client that published it."""
    expires_at: float | None = None
    extras: Extras | None = None

    def is_expired(self, now: float) -> bool:
        """Whether it is too late to deliver it."""
        return self.expires_at is not None and self.expires_at <= now


class Defer(Struct, frozen=True, gc=False):
    """How a publisher lets events wait for each other: those of one key become one, the last."""

    key: str
    quiet: float
    max_wait: float | None = None


# ── what a client asks for ────────────────────────────────────────────────────────────────


class Identity(NamedTuple):
    """What tells the subscriptions of one client apart; subscribing again under it replaces."""

    pattern: str
    dialect: str = Dialect.MQTT
    group: str | None = None


class Debounce(Struct, frozen=True, gc=False):
    """A delivery waits until its topic has been quiet for so long."""

    quiet: float
    max_wait: float | None = None
    keep: str = "last"
    """Which of the events that came meanwhile are delivered: last, first or list."""


class Wish(Struct, frozen=True, gc=False):
    """A subscription, as a client asks for it."""

    pattern: str
    dialect: str = Dialect.MQTT
    where: str = ""
    quality: int = 0
    no_local: bool = False
    """Not what the client itself published."""
    keeps_retained: bool = False
    """Events show whether they were published to be retained, and not only the retained ones."""
    retain_handling: int = 0
    """Retained events are delivered 0 whenever it is subscribed, 1 only if it is new, 2 never."""
    identifier: int = 0
    """A number to be shown on deliveries; 0 is none."""
    group: str | None = None
    knows_shares: bool = True
    """Whether `$share/group/…` names a group; to old clients it is a pattern like any other."""
    debounce: Debounce | None = None
    is_shadow: bool = False
    """Events are matched and counted, and not delivered."""

    @property
    def identity(self) -> Identity:
        """What it replaces, and what it is removed by."""
        return Identity(self.pattern, self.dialect, self.group)


class Will(Struct, frozen=True, gc=False):
    """An event that the broker publishes when a client is lost."""

    event: Event
    delay: float = 0.0
    expiry: float | None = None
    """How long the event is good for, from when it is published."""


class Terms(Struct, frozen=True, gc=False):
    """What a client asks of its session when it connects."""

    client: str
    user: str | None = None
    is_clean_start: bool = True
    expiry: float = 0.0
    """How long the session outlives its connection; `inf` is for ever."""
    window: int = 65_535
    """How many deliveries it takes before it has acknowledged the first."""


class Limits(Struct, frozen=True, gc=False):
    """What no client may exceed."""

    sessions: int = 100_000
    subscriptions: int = 10_000
    """For each session."""
    pattern_length: int = 4_096
    levels: int = 128
    criteria_length: int = 4_096
    queued: int = 10_000
    """Deliveries that wait for one session; a connected one makes its publishers wait beyond."""
    keeps_quality_0: bool = False
    """Whether events of quality 0 wait for clients that are away."""
    patience: float = 30.0
    """How long publishers are made to wait for a full client before it is let go."""
    retained: int = 100_000
    retained_bytes: int = 256 * 1024 * 1024
    listed: int = 100
    """Events that a debounced subscription with `keep` list collects."""
    deferred: int = 100_000
    """Events that wait to be coalesced, and deliveries that do."""
    longest_wait: float = 86_400.0
    """The longest that anything may be debounced or deferred."""
    session_expiry: float = inf
    window: int = 1_000
    """Deliveries in flight, however many a client would take."""


# ── what a client gets ────────────────────────────────────────────────────────────────────


class Delivery(Struct, frozen=True, gc=False):
    """How one client gets an event."""

    client: str
    quality: int = 0
    ticket: int = 0
    """What the client acknowledges it by: 1 to 65,535, or 0 where nothing is acknowledged."""
    is_retained: bool = False
    is_again: bool = False
    """Whether it was sent before, on a connection that was lost."""
    identifiers: tuple[int, ...] = ()
