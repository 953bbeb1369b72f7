"""Who is subscribed to what, and for each topic the audience that an event will have.

What a topic alone decides is remembered: which sessions want it, with which quality, which may
receive it. A change under a pattern without wildcards concerns one topic, any other change may
concern all. So an event on a topic that was seen before costs a look-up, unless someone's
criteria ask for its content.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from ramify.broker.audiences import Audience, Seat
from ramify.broker.counters import Counters
from ramify.broker.fields import fields_of
from ramify.broker.sessions import Session
from ramify.broker.values import Event, Wish
from ramify.broker.wishes import Meaning
from ramify.deferred import Policy
from ramify.index.shares import group_of
from ramify.model import ALWAYS, Exact, Explanation, Fields, Match, Subscription
from ramify.router import Router

MOST_REMEMBERED = 1_000_000
"""Seats of remembered audiences; beyond, all are forgotten, and the busy topics are soon back."""

_TOPIC = 16
"""What remembering a topic costs, in seats; a long one costs more."""


class Interest:
    """A subscription of a session."""

    __slots__ = ("group", "policy", "seat", "seen", "session", "subscription", "waiting", "wish")

    def __init__(self, session: Session, wish: Wish, policy: Policy | None) -> None:
        self.session = session
        self.wish = wish
        self.policy = policy
        self.subscription: Subscription
        self.group: Hashable | None = None
        self.seat = Seat(session, [self])
        """Its place in an audience, where its session has no other there."""
        self.seen = 0
        """How many events it matched, where it is a shadow."""
        self.waiting: set[str] = set()
        """The keys under which deliveries to it are waiting."""


class Interests:
    """The subscriptions of all sessions."""

    def __init__(self, counters: Counters) -> None:
        self._router = Router()
        self._counters = counters
        self.audiences: dict[str, Audience] = {}
        """Of topics seen lately; read in the hot path."""
        self.presence = 0
        """Counts the comings and goings of subscribers: what audiences know of them has aged."""
        self.turns: dict[Hashable, int] = {}
        """For each share group, how many events its members have got in turn."""
        self._members: dict[Hashable, int] = {}
        self._remembered_seats = 0

    def __len__(self) -> int:
        return len(self._router)

    def __iter__(self) -> Iterator[Interest]:
        return (subscription.data for subscription in self._router)

    # ── the set ───────────────────────────────────────────────────────────────────────────

    def add(self, session: Session, wish: Wish, meaning: Meaning) -> Interest:
        """Subscribe, in place of what the session had under the same identity."""
        interest = Interest(session, wish, meaning.policy)
        replaced = session.interests.get(wish.identity)
        if replaced is not None:
            interest.waiting, interest.seen = replaced.waiting, replaced.seen
        interest.subscription = self._router.subscribe(
            meaning.pattern,
            session.client,
            where=meaning.criteria,
            data=interest,
            group=meaning.group,
            id=None if replaced is None else replaced.subscription.id,
        )
        interest.group = group_of(interest.subscription)
        self._change_group(None if replaced is None else replaced.group, interest.group)
        session.interests[wish.identity] = interest
        self._forget(interest.subscription)
        return interest

    def remove(self, interest: Interest) -> None:
        """Unsubscribe."""
        self._router.unsubscribe(interest.subscription.id)
        del interest.session.interests[interest.wish.identity]
        if interest.group is not None:
            self._leave(interest.group)
        self._forget(interest.subscription)

    def forget_audiences(self) -> None:
        """Think anew about who gets what."""
        self.audiences.clear()
        self._remembered_seats = 0

    def _change_group(self, before: Hashable | None, after: Hashable | None) -> None:
        """The same text is a share to one version of a protocol and a plain pattern to another."""
        if before == after:
            return
        if before is not None:
            self._leave(before)
        if after is not None:
            self._members[after] = self._members.get(after, 0) + 1

    def _leave(self, group: Hashable) -> None:
        self._members[group] -= 1
        if not self._members[group]:
            del self._members[group]
            self.turns.pop(group, None)

    def _forget(self, subscription: Subscription) -> None:
        form = subscription.pattern.form
        if isinstance(form, Exact):
            self.audiences.pop(form.text, None)
        else:
            self.forget_audiences()

    # ── events ────────────────────────────────────────────────────────────────────────────

    def audience_of(self, event: Event) -> Audience:
        """Who wants an event; where criteria have a say, its payload is read, once."""
        topic = event.topic
        audience = self.audiences.get(topic)
        if audience is None:
            audience = self._remembered(topic)
        if not audience.asks_content:
            return audience
        fields = fields_of(event)
        if fields is None:
            self._counters.unreadable += 1
            return audience
        return Audience(topic, self._router.match(topic, fields, collapse_groups=False))

    def _remembered(self, topic: str) -> Audience:
        asks_content = self._router.asks_content(topic)
        matches = self._router.match(topic, collapse_groups=False)
        if asks_content:
            matches = [match for match in matches if _is_unconditional(match)]
        audience = Audience(topic, matches, asks_content=asks_content)
        cost = _TOPIC + len(audience.seats) + len(topic) // _TOPIC
        if self._remembered_seats + cost > MOST_REMEMBERED:
            self.forget_audiences()
        self._remembered_seats += cost
        self.audiences[topic] = audience
        return audience

    # ── questions ─────────────────────────────────────────────────────────────────────────

    def match(self, topic: str, fields: Fields | None) -> list[Subscription]:
        """Every subscription that wants an event, all members of each share group included."""
        return [match.subscription for match in self._router.match(topic, fields, collapse_groups=False)]

    def explain(self, topic: str, fields: Fields | None, id: str) -> Explanation:
        """Why a subscription wants an event, or why not."""
        return self._router.explain(topic, fields, id)


def _is_unconditional(match: Match) -> bool:
    return match.subscription.criteria.term == ALWAYS.term
