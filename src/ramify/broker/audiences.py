"""Who gets an event on one topic, ordered by how they get it.

    seats      sessions, each with all its ordinary subscriptions that want the event: one delivery
    groups     share groups: one delivery to one member
    patient    debounced subscriptions: a delivery later
    shadows    subscriptions that only count

Sessions that may not receive the topic have no place here.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING

from ramify.broker.access import Action
from ramify.broker.values import Delivery
from ramify.model import Match

if TYPE_CHECKING:
    from ramify.broker.interests import Interest
    from ramify.broker.sessions import Session

_SUBSCRIBE = Action.SUBSCRIBE

OWN_TOPICS = "$SYS/"
"""Where only the broker itself publishes."""


class Seat:
    """One session's place: its overlapping subscriptions as one."""

    __slots__ = ("has_no_local", "identifiers", "interests", "keeps_retained", "plain", "quality", "session")

    def __init__(self, session: Session, interests: list[Interest]) -> None:
        self.session = session
        self.interests = interests
        wishes = [interest.wish for interest in interests]
        # One copy, with the highest quality and every identifier. [MQTT-3.3.4-2] [MQTT-3.3.4-4]
        self.quality = max(wish.quality for wish in wishes)
        self.identifiers = tuple([wish.identifier for wish in wishes if wish.identifier])
        self.keeps_retained = any(wish.keeps_retained for wish in wishes)
        self.has_no_local = any(wish.no_local for wish in wishes)
        self.plain = Delivery(session.client, identifiers=self.identifiers)
        """What it gets of an event of quality 0."""

    def with_another(self, interest: Interest) -> Seat:
        """The seat of one more subscription of the same session."""
        return Seat(self.session, [*self.interests, interest])

    def for_publisher(self) -> Seat | None:
        """The seat where the session itself published the event. [MQTT-3.8.3-3]"""
        others = [interest for interest in self.interests if not interest.wish.no_local]
        return Seat(self.session, others) if others else None


class Audience:
    """Who gets an event."""

    __slots__ = (
        "asks_content",
        "groups",
        "is_empty",
        "is_simple",
        "patient",
        "plain",
        "plain_since",
        "seats",
        "shadows",
    )

    def __init__(self, topic: str, matches: Iterable[Match], *, asks_content: bool = False) -> None:
        self.asks_content = asks_content
        """Whether there are subscriptions with criteria too: they are not among these."""
        self.groups: dict[Hashable, list[Seat]] = {}
        self.patient: list[Interest] = []
        self.shadows: list[Interest] = []
        self.seats = self._placed(topic, matches)
        self.is_empty = not (self.seats or self.groups or self.patient or self.shadows)
        others = self.groups or self.patient or self.shadows or asks_content or topic.startswith(OWN_TOPICS)
        self.is_simple = not others and not any(seat.has_no_local for seat in self.seats)
        """Whether there is nothing but seats, whoever publishes whatever."""
        self.plain: tuple[Delivery, ...] | None = None
        self.plain_since = -1

    def plain_deliveries(self, presence: int) -> tuple[Delivery, ...] | None:
        """What an ordinary event of quality 0 comes to, if that is always the same until someone moves."""
        if self.plain_since != presence:
            self.plain, self.plain_since = self._plain(), presence
        return self.plain

    def _plain(self) -> tuple[Delivery, ...] | None:
        if not self.is_simple:
            return None
        deliveries = []
        for seat in self.seats:
            outbox = seat.session.outbox
            if outbox.is_congested or (outbox.keeps_plain and not outbox.is_open):
                return None
            if outbox.is_open:
                deliveries.append(seat.plain)
        return tuple(deliveries)

    def _placed(self, topic: str, matches: Iterable[Match]) -> list[Seat]:
        """Sort the interests; those of one session that are delivered at once share a seat."""
        seats: dict[str, Seat] = {}
        for match in matches:
            interest: Interest = match.subscription.data
            session, seat = interest.session, interest.seat
            if not session.rights.are_unlimited and not session.rights.allow(_SUBSCRIBE, topic):
                continue
            if interest.wish.is_shadow:
                self.shadows.append(interest)
            elif interest.group is not None:
                self.groups.setdefault(interest.group, []).append(seat)
            elif interest.policy is not None:
                self.patient.append(interest)
            else:
                other = seats.get(session.client)
                seats[session.client] = seat if other is None else other.with_another(interest)
        return list(seats.values())
