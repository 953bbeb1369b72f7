"""What must survive a crash, as a list of small changes that a store applies in one transaction.

A store keeps a table for each kind of thing; a change sets or removes a row of it:

    table           key                    set by                                       removed by
    sessions        client                 SessionSaved                                 SessionDropped
    subscriptions   client, identity       SubscriptionSaved                            SubscriptionDropped
    deliveries      client, number         DeliveryKept, DeliverySent, DeliveryReceived DeliveryDone
    tickets         client, ticket         TicketNoted                                  TicketReleased
    wills           client                 WillSet                                      WillCleared
    retained        topic                  RetainedSet                                  RetainedCleared
    waiting         key                    ItemKept                                     ItemDropped

`SessionDropped` removes every row of its client but those of `retained` and `waiting`, which
have removals of their own. What a store hands to `Broker.restore` are the rows themselves, as
the values that set them: for a delivery one `DeliveryKept` with its present ticket and stage.

Only what outlives its connection makes changes: sessions that expire later, in qualities 1
and 2, and whatever is retained or waits. All else costs a store nothing.
"""

from __future__ import annotations

from msgspec import Struct

from ramify.broker.values import Defer, Event, Identity, Will, Wish


class SessionSaved(Struct, frozen=True, gc=False):
    """A session that outlives its connection."""

    client: str
    user: str | None
    expiry: float
    away_since: float | None
    """When its connection was lost; `None` while it is connected."""


class SessionDropped(Struct, frozen=True, gc=False):
    """A session has ended, or will end with its connection."""

    client: str


class SubscriptionSaved(Struct, frozen=True, gc=False):
    """A subscription of a session, in place of the one with the same identity."""

    client: str
    wish: Wish


class SubscriptionDropped(Struct, frozen=True, gc=False):
    """A session is not subscribed any more."""

    client: str
    identity: Identity


class DeliveryKept(Struct, frozen=True, gc=False):
    """A delivery that a session has not acknowledged; in a session they go out by number."""

    client: str
    number: int
    sequence: int
    """The number of its event: one event may be kept for many sessions."""
    event: Event
    quality: int
    is_retained: bool = False
    identifiers: tuple[int, ...] = ()
    ticket: int = 0
    """The ticket that it was sent with; 0 if it was not sent yet."""
    is_received: bool = False
    """Whether the client has acknowledged the first half of it."""


class DeliverySent(Struct, frozen=True, gc=False):
    """A kept delivery goes out with this ticket."""

    client: str
    number: int
    ticket: int


class DeliveryReceived(Struct, frozen=True, gc=False):
    """The first half of a delivery of quality 2 is acknowledged; its event is not needed any more."""

    client: str
    number: int


class DeliveryDone(Struct, frozen=True, gc=False):
    """A delivery is acknowledged, expired or dropped."""

    client: str
    number: int


class TicketNoted(Struct, frozen=True, gc=False):
    """An event of quality 2 was accepted from a client under its ticket."""

    client: str
    ticket: int


class TicketReleased(Struct, frozen=True, gc=False):
    """The client has let go of its ticket."""

    client: str
    ticket: int


class WillSet(Struct, frozen=True, gc=False):
    """What is published should the client be lost."""

    client: str
    will: Will


class WillCleared(Struct, frozen=True, gc=False):
    """The will was published, or is not wanted any more."""

    client: str


class RetainedSet(Struct, frozen=True, gc=False):
    """The event that is retained for its topic, in place of the one before."""

    event: Event
    sequence: int


class RetainedCleared(Struct, frozen=True, gc=False):
    """Nothing is retained for the topic any more."""

    topic: str


class ItemKept(Struct, frozen=True, gc=False):
    """Events that wait to become fewer, in place of what waited under the same key."""

    key: str
    events: tuple[tuple[Event, int], ...]
    """The events and their sequence numbers."""
    deadline: float
    first: float | None
    count: int
    defer: Defer | None = None
    """How they wait to be routed; `None` if they wait to be delivered."""
    client: str = ""
    identity: Identity | None = None
    """The subscription that they wait to be delivered to."""


class ItemDropped(Struct, frozen=True, gc=False):
    """Nothing waits under the key any more."""

    key: str


Row = SessionSaved | SubscriptionSaved | DeliveryKept | TicketNoted | WillSet | RetainedSet | ItemKept
"""What a store hands back."""

Change = (
    Row
    | SessionDropped
    | SubscriptionDropped
    | DeliverySent
    | DeliveryReceived
    | DeliveryDone
    | TicketReleased
    | WillCleared
    | RetainedCleared
    | ItemDropped
)
