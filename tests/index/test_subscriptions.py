"""First the topic, then the fields: together they find each match once."""

from __future__ import annotations

from ramify.criteria import parse_criteria
from ramify.index.cache import TopicCache
from ramify.index.subscriptions import Found, SubscriptionIndex
from ramify.model import Fields, Match, Subscription
from ramify.patterns import parse_pattern


def match(pattern: str, where: str = "") -> Match:
    return Match(Subscription(f"{pattern} {where}", "someone", parse_pattern(pattern), parse_criteria(where)))


def filled(*matches: Match, cache: TopicCache[Found] | None = None) -> SubscriptionIndex:
    index = SubscriptionIndex(cache)
    for each in matches:
        index.add(each)
    return index


def found(index: SubscriptionIndex, topic: str, fields: Fields | None = None) -> list[str]:
    return sorted(each.subscription.id for each in index.find(topic, fields))


def test_a_match_of_several_clauses_is_found_once() -> None:
    index = filled(match("a", "x = 1 or y = 1 or z > 0"), match("+", "x = 1 or y = 1"), match("a"))
    assert len(found(index, "a", {"x": 1, "y": 1, "z": 1})) == 3


def test_criteria_that_always_hold_are_no_criteria() -> None:
    always = match("a", "   ")
    index = filled(always)
    assert index.candidates_of(always) == []
    assert found(index, "a") == [always.subscription.id]


def test_criteria_that_never_hold_come_and_go_without_a_trace() -> None:
    never, other = match("a", "x = 1 and x = 2 or x = 3 and x = 4"), match("a", "x = 1")
    index = filled(never)
    assert not index._contents
    index.add(other)
    index.remove(never)
    assert found(index, "a", {"x": 1}) == [other.subscription.id]
    index.remove(other)
    assert not index._contents
    assert not index._candidates


def test_what_waits_behind_a_pattern_goes_with_its_last_criteria() -> None:
    one, other = match("a/+", "x = 1"), match("a/+", "x = 2")
    index = filled(one, other)
    content = index.content_of(one)
    assert content is index.content_of(other)
    index.remove(one)
    assert index.content_of(other) is content
    index.remove(other)
    assert index.content_of(other) is None
    assert index._conditional._parts == ()


def test_a_remembered_topic_still_looks_at_the_fields() -> None:
    cache: TopicCache[Found] = TopicCache(3)
    index = filled(match("a", "x = 1"), match("a"), cache=cache)
    assert len(found(index, "a", {"x": 1})) == 2
    assert len(found(index, "a", {"x": 2})) == 1
    assert cache.hits == 1
