"""Who is subscribed: every match by its id, its subscriber and its pattern's text."""

from __future__ import annotations

from ramify.errors import InvalidSubscription, UnknownSubscription
from ramify.index.buckets import Held, drop, items_of, put
from ramify.model import Match


class Registry:
    """The matches of all live subscriptions."""

    def __init__(self) -> None:
        self.by_id: dict[str, Match] = {}
        self._by_subscriber: dict[str, Held] = {}
        self._by_pattern: dict[str, Held] = {}

    def add(self, match: Match) -> None:
        """Enter a match; an id that is taken must have been removed before."""
        subscription = match.subscription
        self.by_id[subscription.id] = match
        put(self._by_subscriber, subscription.subscriber, match)
        put(self._by_pattern, subscription.pattern.text, match)

    def remove(self, match: Match) -> None:
        """Strike a match out."""
        subscription = match.subscription
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
            [self.by_id[id]] if id in self.by_id else [] if id is not None else None,
            None if pattern is None else list(items_of(self._by_pattern.get(pattern))),
            None if subscriber is None else list(items_of(self._by_subscriber.get(subscriber))),
        ]
        fewest, *others = sorted((matches for matches in found if matches is not None), key=len)
        wanted = [frozenset(matches) for matches in others]
        return [match for match in fewest if all(match in matches for matches in wanted)]
