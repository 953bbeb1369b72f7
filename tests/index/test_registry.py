"""Every subscription is known by its id, its subscriber and its pattern."""

import pytest

from ramify.errors import InvalidSubscription, UnknownSubscription
from ramify.index.registry import Registry
from ramify.model import Match, Subscription
from ramify.patterns import parse_pattern


def match(id: str, subscriber: str, pattern: str) -> Match:
    return Match(Subscription(id, subscriber, parse_pattern(pattern)))


ROWS = [match("1", "alice", "a"), match("2", "alice", "b"), match("3", "bob", "a")]


def filled() -> Registry:
    registry = Registry()
    for row in ROWS:
        registry.add(row)
    return registry


@pytest.mark.parametrize(
    ("id", "pattern", "subscriber", "expected"),
    [
        ("1", None, None, [0]),
        (None, "a", None, [0, 2]),
        (None, None, "alice", [0, 1]),
        (None, "a", "alice", [0]),
        ("3", "a", "bob", [2]),
        ("3", "b", None, []),
        ("4", None, None, []),
        (None, "c", "alice", []),
    ],
)
def test_all_that_is_given_must_fit(
    id: str | None, pattern: str | None, subscriber: str | None, expected: list[int]
) -> None:
    assert filled().chosen(id, pattern, subscriber) == [ROWS[number] for number in expected]


def test_nothing_given_is_refused() -> None:
    with pytest.raises(InvalidSubscription):
        filled().chosen(None, None, None)


def test_an_unknown_id_is_refused() -> None:
    with pytest.raises(UnknownSubscription, match="'4'"):
        filled().match_of("4")


def test_a_replaced_id_is_never_without_a_match() -> None:
    registry, other = filled(), match("1", "carol", "c")
    registry.add(other)
    registry.remove(ROWS[0])
    assert registry.match_of("1") is other
    assert registry.chosen(None, None, "carol") == [other]
    assert registry.chosen(None, "a", None) == [ROWS[2]]


def test_what_is_struck_out_leaves_nothing() -> None:
    registry = filled()
    for row in ROWS:
        registry.remove(row)
    assert not registry.by_id
    assert not registry._by_subscriber
    assert not registry._by_pattern
