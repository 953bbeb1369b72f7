"""The joint of all surfaces: subscriptions in, and for every event the ones that want it.

Any number of threads may call `match`, `search` and `explain` while one changes the set;
changes from several threads wait for each other. A match that runs beside a change sees each
subscription as it was before or as it is after. Only one that is being replaced (by its own
id) may be seen both ways at once; it is never missed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from itertools import count
from secrets import randbits
from threading import RLock
from typing import TYPE_CHECKING, Any

from ramify.criteria import explain, failure, parse_criteria
from ramify.index.cache import TopicCache
from ramify.index.plans import plan_of
from ramify.index.registry import Registry
from ramify.index.shares import collapse, group_of, policy_named
from ramify.index.subscriptions import NO_FIELDS, Found, SubscriptionIndex
from ramify.model import (
    ALWAYS,
    Criteria,
    Dialect,
    Entry,
    Explanation,
    Fields,
    Match,
    Pattern,
    Plan,
    Statistics,
    Subscription,
)
from ramify.patterns import explain_mismatch, parse_pattern
from ramify.patterns.groups import agreed_group

if TYPE_CHECKING:
    from ramify.frozen import FrozenIndex


class Router:
    """The subscriptions of one realm, and who among them wants an event."""

    def __init__(
        self,
        *,
        realm: str = "default",
        cache: int = 0,
        share_policy: str = "round-robin",
        statistics: Statistics | None = None,
        new_id: Callable[[], str] | None = None,
    ) -> None:
        self.realm = realm
        self.cache: TopicCache[Found] | None = TopicCache(cache) if cache else None
        """What recent topics found, if a number of topics to remember was given; see its `hit_rate`."""
        numbers = count(1)
        self._new_id = new_id or (lambda: f"s{next(numbers)}")
        self._statistics = statistics
        self._policy = policy_named(share_policy)
        self._groups: dict[Hashable, int] = {}
        self._registry = Registry()
        self._index = SubscriptionIndex(self.cache, statistics)
        self._lock = RLock()

    # ── the set ───────────────────────────────────────────────────────────────────────────

    def __len__(self) -> int:
        return len(self._registry.by_id)

    def __iter__(self) -> Iterator[Subscription]:
        return iter([match.subscription for match in list(self._registry.by_id.values())])

    def __contains__(self, id: str) -> bool:
        return id in self._registry.by_id

    def get(self, id: str) -> Subscription:
        """The subscription with this id."""
        return self._registry.match_of(id).subscription

    def subscribe(
        self,
        pattern: str | Pattern,
        subscriber: str,
        *,
        dialect: Dialect | str = "mqtt",
        where: str | Criteria | None = None,
        data: Any = None,
        id: str | None = None,
        group: str | None = None,
        match: str | None = None,
    ) -> Subscription:
        """Add a standing interest; one with the same id is replaced."""
        if not isinstance(pattern, Pattern):
            pattern = parse_pattern(pattern, dialect, match=match)
        criteria = (
            ALWAYS if where is None else where if isinstance(where, Criteria) else parse_criteria(where)
        )
        group = agreed_group(pattern, group)
        with self._lock:
            if id is None:
                id = self._free_id()
            subscription = Subscription(id, subscriber, pattern, criteria, data, group)
            self.add(subscription)
        return subscription

    def add(self, subscription: Subscription) -> None:
        """Add a subscription that is made already; one with the same id is replaced."""
        with self._lock:
            replaced = self._registry.by_id.get(subscription.id)
            match = Match(subscription)
            # The new one is filed before the old one goes, so that no event falls between them.
            self._index.add(match)
            if subscription.group is not None:
                self._join(subscription)
            self._registry.add(match)
            if replaced is not None:
                self._withdraw(replaced)

    def unsubscribe(
        self, id: str | None = None, *, pattern: str | None = None, subscriber: str | None = None
    ) -> list[str]:
        """Remove one subscription by id, or all with this pattern text, subscriber, or both."""
        with self._lock:
            chosen = self._registry.chosen(id, pattern, subscriber)
            for match in chosen:
                self._withdraw(match)
        return [match.subscription.id for match in chosen]

    # ── events ────────────────────────────────────────────────────────────────────────────

    def match(self, topic: str, fields: Fields | None = None, *, collapse_groups: bool = True) -> list[Match]:
        """Every subscription that wants the event, in no particular order; one of each share group."""
        if self._groups and collapse_groups:
            return collapse(self._index.find(topic, fields), topic, self._policy)
        found = self._index.find(topic, fields)
        if self._groups and collapse_groups:  # a group may have come meanwhile
            return collapse(found, topic, self._policy)
        return found

    def asks_content(self, topic: str) -> bool:
        """Whether some subscription to this topic has criteria, so that an event's fields have a say."""
        return self._index.asks_content(topic)

    def search(
        self, topic: str, fields: Fields | None = None, *, collapse_groups: bool = True
    ) -> list[Entry]:
        """The same, with all that one subscriber holds on one pattern in one entry."""
        held: dict[tuple[str, Pattern], dict[str, Any]] = {}
        for match in self.match(topic, fields, collapse_groups=collapse_groups):
            subscription = match.subscription
            owner = (subscription.subscriber, subscription.pattern)
            held.setdefault(owner, {})[subscription.id] = subscription.data
        return [Entry(who, pattern.text, len(data), data) for (who, pattern), data in held.items()]

    def explain(self, topic: str, fields: Fields | None, id: str) -> Explanation:
        """Why a subscription wants an event, or the first level or comparison that fails."""
        subscription = self.get(id)
        fields = NO_FIELDS if fields is None else fields
        mismatch = explain_mismatch(subscription.pattern, topic) or failure(subscription.criteria, fields)
        if mismatch is not None:
            return Explanation(subscription, False, mismatch)
        reasons = [f"{subscription.pattern.text!r} matches {topic!r}"]
        if subscription.criteria != ALWAYS:
            reasons.append(explain(subscription.criteria, fields))
        if subscription.group is not None:
            reasons.append(f"one member of the group {subscription.group!r} gets it")
        return Explanation(subscription, True, "; ".join(reasons))

    # ── planning ──────────────────────────────────────────────────────────────────────────

    def plan(self, subscription: Subscription | str) -> Plan:
        """Where a subscription is filed, and what is tested on the events that get there."""
        id = subscription if isinstance(subscription, str) else subscription.id
        with self._lock:
            return plan_of(self._registry.match_of(id), self._index, self._statistics)

    def replan(self, statistics: Statistics) -> None:
        """Choose anew where every subscription is filed, by what is known of the traffic now."""
        with self._lock:
            index = SubscriptionIndex(self.cache, statistics)
            for match in self._registry.by_id.values():
                index.add(match)
            self._statistics, self._index = statistics, index
            if self.cache is not None:
                self.cache.forget_all()  # what readers kept until now leads into the old index

    # ── in bulk ───────────────────────────────────────────────────────────────────────────

    def freeze(self, *, seed: int | None = None) -> FrozenIndex:
        """The subscriptions of this moment as an immutable index that takes whole batches.

        The seed salts its hashes; without one it is unguessable, and with one it is repeatable.
        """
        # Not before it is needed: numpy and Arrow take longer to import than all the rest.
        from ramify.frozen import FrozenIndex

        seed = randbits(63) if seed is None else seed
        return FrozenIndex.build(self, realm=self.realm, statistics=self._statistics, seed=seed)

    # ── in private ────────────────────────────────────────────────────────────────────────

    def _free_id(self) -> str:
        id = self._new_id()
        while id in self._registry.by_id:
            id = self._new_id()
        return id

    def _withdraw(self, match: Match) -> None:
        self._registry.remove(match)
        self._index.remove(match)
        if match.subscription.group is not None:
            self._leave(match.subscription)

    def _join(self, subscription: Subscription) -> None:
        group = group_of(subscription)
        self._groups[group] = self._groups.get(group, 0) + 1

    def _leave(self, subscription: Subscription) -> None:
        group = group_of(subscription)
        self._groups[group] -= 1
        if not self._groups[group]:
            del self._groups[group]
            self._policy.forget(group)
