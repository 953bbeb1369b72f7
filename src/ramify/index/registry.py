"""Who is subscribed: every match by its id, its subscriber and its pattern's text."""

from __future__ import annotations

from ramify.errors import InvalidSubscription, UnknownSubscription
from ramify.index.buckets import Held, count_of, drop, items_of, put
from ramify.model import Match, Subscription


class Registry:
    """The matches of all live subscriptions."""

    def __init__(self) -> None:
        self.by_id: dict[str, Match] = {}
        self._by_subscriber: dict[str, Held] = {}
        self._by_pattern: dict[str, Held] = {}

    def add(self, match: Match) -> None:
        """Enter a match; if its id is taken, the id is its own from now on."""
        subscription = match.subscription
        self.by_id[subscription.id] = match
        put(self._by_subscriber, subscription.subscriber, match)
        put(self._by_pattern, subscription.pattern.text, match)

    def remove(self, match: Match) -> None:
        """Strike a match out."""
        subscription = match.subscription
        if self.by_id.get(subscription.id) is match:
            del self.by_id[subscription.id]
        drop(self._by_subscriber, subscription.subscriber, match)
        drop(self._by_pattern, subscription.pattern.text, match)

    def match_of(self, id: str) -> Match:
        """The match of the subscription with this id."""
        match = self.by_id.get(id)
        if match is None:
            raise UnknownSubscription(id)
        return match

    def chosen(self, id: str | None, pattern: str | None, subscriber: str | None) -> list[Match]:
        """The matches with all that is given; at least one thing must be."""
        if id is None and pattern is None and subscriber is None:
            raise InvalidSubscription("say which to remove: an id, a pattern, a subscriber")
        found = [
            held
            for asked, held in (
                (id, None if id is None else self.by_id.get(id)),
                (pattern, None if pattern is None else self._by_pattern.get(pattern)),
                (subscriber, None if subscriber is None else self._by_subscriber.get(subscriber)),
            )
            if asked is not None
        ]
        # Only the fewest are looked at: one subscriber leaves a pattern of a million quickly.
        fewest = items_of(min(found, key=count_of))
        return [match for match in fewest if _has(match.subscription, id, pattern, subscriber)]


def _has(subscription: Subscription, id: str | None, pattern: str | None, subscriber: str | None) -> bool:
    return (
        (id is None or subscription.id == id)
        and (pattern is None or subscription.pattern.text == pattern)
        and (subscriber is None or subscription.subscriber == subscriber)
    )
