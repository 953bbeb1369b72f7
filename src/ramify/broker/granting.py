"""Grants what clients wish for, and hands them what is retained for it."""

from __future__ import annotations

from ramify.broker.access import Action
from ramify.broker.changes import SubscriptionSaved
from ramify.broker.effects import Granted, Turn
from ramify.broker.fields import fields_of
from ramify.broker.interests import Interest
from ramify.broker.lifecycle import Lifecycle
from ramify.broker.outcomes import Outcome
from ramify.broker.realm import Realm
from ramify.broker.routing import Routing
from ramify.broker.sessions import Session
from ramify.broker.values import Event, Identity, Wish
from ramify.broker.wishes import read_wish
from ramify.criteria import holds
from ramify.model import ALWAYS


class Granting:
    """Subscribes and unsubscribes the sessions of one realm."""

    def __init__(self, realm: Realm, routing: Routing, lifecycle: Lifecycle) -> None:
        self._realm = realm
        self._routing = routing
        self._lifecycle = lifecycle

    def grant(self, session: Session, wish: Wish, turn: Turn) -> Granted:
        """Subscribe a session, in place of what it had under the same identity. [MQTT-3.8.4-3]"""
        limits = self._realm.limits
        meaning = read_wish(wish, limits)
        if isinstance(meaning, Granted):
            return meaning
        if not session.rights.allow_pattern(meaning.pattern):
            return Granted(Outcome.NOT_AUTHORIZED, reason=f"no right to {wish.pattern!r}")
        is_new = wish.identity not in session.interests
        if is_new and len(session.interests) >= limits.subscriptions:
            reason = f"a session has at most {limits.subscriptions} subscriptions"
            return Granted(Outcome.QUOTA_EXCEEDED, reason=reason)
        interest = self._realm.interests.add(session, wish, meaning)
        if session.is_durable:
            turn.changes.append(SubscriptionSaved(session.client, wish))
        # [MQTT-3.3.1-9] [MQTT-3.3.1-10] [MQTT-3.3.1-11]
        if wish.retain_handling == 0 or (wish.retain_handling == 1 and is_new):
            self._deliver_retained(interest, turn)
        return Granted(Outcome.SUCCESS, wish.quality)

    def withdraw(self, session: Session, name: Identity, turn: Turn) -> Outcome:
        """Unsubscribe a session."""
        interest = session.interests.get(name)
        if interest is None:
            return Outcome.NOT_SUBSCRIBED
        self._lifecycle.unsubscribe(interest, turn)
        return Outcome.SUCCESS

    def _deliver_retained(self, interest: Interest, turn: Turn) -> None:
        """Deliver what is retained; not to a share, whose members would each get all of it."""
        if interest.group is not None or interest.wish.is_shadow:
            return
        for event, sequence in self._realm.retained.find(interest.subscription.pattern, turn.now):
            if _is_wanted(interest, event):
                self._routing.deliver_one(interest, event, sequence, turn, is_retained=True)


def _is_wanted(interest: Interest, event: Event) -> bool:
    session, criteria = interest.session, interest.subscription.criteria
    if interest.wish.no_local and event.publisher == session.client:
        return False
    if not session.rights.allow(Action.SUBSCRIBE, event.topic):
        return False
    if criteria.term == ALWAYS.term:
        return True
    fields = fields_of(event)
    return fields is not None and holds(criteria, fields)
