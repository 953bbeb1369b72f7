"""What the broker has counted since it began, and what it holds now."""

from __future__ import annotations

from msgspec import Struct


class Counters(Struct):
    """Plain numbers that only grow; the broker adds to them, everyone may read them."""

    published: int = 0
    """Events that clients and wills brought, refused ones included."""
    refused: int = 0
    """Events that were not accepted."""
    repeated: int = 0
    """Events of quality 2 that a client sent again, and that were not routed again."""
    unmatched: int = 0
    """Accepted events that nobody wanted."""
    delivered: int = 0
    """Deliveries handed to connections, repeated ones included."""
    queued: int = 0
    """Deliveries that had to wait for their client."""
    dropped: int = 0
    """Deliveries that found a full queue, or were pushed out of it."""
    expired: int = 0
    """Deliveries and retained events that grew too old."""
    unreadable: int = 0
    """Events whose payload has no fields though some subscription asked for them."""
    shadowed: int = 0
    """Matches of subscriptions that are only counted."""
    coalesced: int = 0
    """Events and deliveries that were taken up into a waiting one."""


class Holdings(Struct, frozen=True):
    """How much the broker holds at this moment."""

    sessions: int
    connected: int
    subscriptions: int
    retained: int
    retained_bytes: int
    waiting: int
    """Events and deliveries that wait to be coalesced."""
    sequence: int
    """The number of the last event that was accepted."""
