"""What a command comes to: an answer, effects to carry out, and changes to make durable first.

The order is the promise. Whoever carries a reply out makes its changes durable, then carries
out its effects and sends its answer; so nothing is acknowledged or delivered that a crash
could take back.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

from msgspec import Struct

from ramify.broker.changes import Change
from ramify.broker.outcomes import Farewell, Outcome
from ramify.broker.values import Delivery, Event

T = TypeVar("T")


class FanOut(Struct, frozen=True, gc=False):
    """One event for all these clients: it is worth encoding once.

    Where a broker tells all, there is one for every event that it accepts, in the order of their
    numbers and even without deliveries; a number that is not new is an event delivered late or again.
    """

    event: Event
    deliveries: tuple[Delivery, ...]
    sequence: int
    """The number of the event among all that the broker accepted."""


class Release(Struct, frozen=True, gc=False):
    """The second half of a delivery of quality 2: the client may forget the ticket."""

    client: str
    ticket: int


class Close(Struct, frozen=True, gc=False):
    """A connection must go; what its client is called may be on another one by now."""

    client: str
    connection: Hashable
    reason: Farewell


class Hold(Struct, frozen=True, gc=False):
    """No more events from this client for now: someone it publishes to is full."""

    client: str


class Resume(Struct, frozen=True, gc=False):
    """Events from this client are welcome again."""

    client: str


class Forward(Struct, frozen=True, gc=False):
    """An event for clients of other nodes."""

    event: Event
    nodes: tuple[str, ...]
    sequence: int


Effect = FanOut | Release | Close | Hold | Resume | Forward


class Reply(Struct, Generic[T], frozen=True, gc=False):
    """The answer to a command, and what is to be done before it is given."""

    answer: T
    effects: tuple[Effect, ...] = ()
    changes: tuple[Change, ...] = ()


class Connected(Struct, frozen=True, gc=False):
    """The answer to a client that connects; its session's deliveries come as effects, after it."""

    outcome: Outcome
    is_session_present: bool = False
    reason: str = ""


class Granted(Struct, frozen=True, gc=False):
    """The answer to one wish."""

    outcome: Outcome
    quality: int = 0
    reason: str = ""
    """What is wrong with it, for people."""


class Turn:
    """What one command has come to so far."""

    __slots__ = ("changes", "effects", "now")

    def __init__(self, now: float) -> None:
        self.now = now
        self.effects: list[Effect] = []
        self.changes: list[Change] = []

    def deliver(self, event: Event, sequence: int, delivery: Delivery) -> None:
        """Let one client get an event."""
        self.effects.append(FanOut(event, (delivery,), sequence))

    def reply(self, answer: T) -> Reply[T]:
        """Close the turn with an answer."""
        return Reply(answer, tuple(self.effects), tuple(self.changes))
