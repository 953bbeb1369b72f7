"""Every implementation of routing, behind one small function, so that all answer the same tables."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Protocol

import pyarrow as pa

from ramify.criteria import holds
from ramify.frozen import FrozenIndex
from ramify.model import Criteria, Fields, Pattern, Subscription
from ramify.patterns import parse_pattern, pattern_matches
from ramify.router import Router


class Answer(Protocol):
    """Says which subscriptions want an event, groups not collapsed."""

    __name__: str

    def __call__(self, subscriptions: Iterable[Subscription], topic: str, fields: Fields) -> set[str]: ...


def by_reference(subscriptions: Iterable[Subscription], topic: str, fields: Fields) -> set[str]:
    return {each.id for each in subscriptions if wants(each, topic, fields)}


def by_router(subscriptions: Iterable[Subscription], topic: str, fields: Fields) -> set[str]:
    return ids_found(_filled(Router(), subscriptions), topic, fields)


def by_router_with_cache(subscriptions: Iterable[Subscription], topic: str, fields: Fields) -> set[str]:
    router = _filled(Router(cache=2), subscriptions)
    first = ids_found(router, topic, fields)
    assert ids_found(router, topic, fields) == first
    return first


def by_frozen_index(subscriptions: Iterable[Subscription], topic: str, fields: Fields) -> set[str]:
    frozen = FrozenIndex.build(subscriptions)
    # Twice in one batch, so that topics that repeat are tried too.
    batch = frozen.match_batch(pa.array([topic] * 2), pa.array([json.dumps(fields)] * 2))
    rows, ids = batch.column("row").to_pylist(), batch.column("subscription_id").to_pylist()
    first, second = ([id for row, id in zip(rows, ids, strict=True) if row == wanted] for wanted in (0, 1))
    assert sorted(first) == sorted(second)
    assert len(first) == len(set(first)), "a subscription was found twice"
    return set(first)


IMPLEMENTATIONS: list[Answer] = [by_reference, by_router, by_router_with_cache, by_frozen_index]


def wants(subscription: Subscription, topic: str, fields: Fields) -> bool:
    """The plain meaning of a subscription."""
    return pattern_matches(subscription.pattern, topic) and holds(subscription.criteria, fields)


def ids_found(router: Router, topic: str, fields: Fields | None = None) -> set[str]:
    """What a router finds, each once."""
    found = [match.subscription.id for match in router.match(topic, fields, collapse_groups=False)]
    assert len(found) == len(set(found)), "a subscription was found twice"
    return set(found)


def subscribed(
    *patterns: str | Pattern, dialect: str = "mqtt", where: Criteria | None = None
) -> list[Subscription]:
    """A subscription for each pattern, with its place for an id."""
    parsed = [each if isinstance(each, Pattern) else parse_pattern(each, dialect) for each in patterns]
    criteria = {} if where is None else {"criteria": where}
    return [
        Subscription(str(number), "someone", pattern, group=pattern.group, **criteria)
        for number, pattern in enumerate(parsed)
    ]


def _filled(router: Router, subscriptions: Iterable[Subscription]) -> Router:
    for subscription in subscriptions:
        router.add(subscription)
    return router
