"""The retained events: found without looking at all of them, and the same ones as if."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ramify.broker import Event
from ramify.broker.retained import OVERHEAD, Retained
from ramify.model import Pattern
from ramify.patterns import parse_pattern, pattern_matches
from tests import strategies


def kept(retained: Retained, pattern: str, dialect: str = "mqtt", now: float = 0.0) -> list[str]:
    return [event.topic for event, _ in retained.find(parse_pattern(pattern, dialect), now)]


def filled(*topics: str) -> Retained:
    retained = Retained(1_000, 1_000_000)
    for number, topic in enumerate(topics):
        retained.keep(Event(topic, b"x"), number)
    return retained


@given(
    st.lists(strategies.topics(), max_size=12),
    st.lists(strategies.topics(), max_size=6),
    strategies.parsed_patterns(),
)
def test_a_pattern_finds_what_a_scan_finds(added: list[str], cleared: list[str], pattern: Pattern) -> None:
    retained, plain = filled(), dict[str, int]()
    for number, topic in enumerate(added):
        retained.keep(Event(topic, b"x"), number)
        plain[topic] = number
    for topic in cleared:
        assert retained.clear(topic) is (plain.pop(topic, None) is not None)
    expected = sorted((number, topic) for topic, number in plain.items() if pattern_matches(pattern, topic))
    assert [event.topic for event, _ in retained.find(pattern, 0.0)] == [topic for _, topic in expected]
    assert len(retained) == len(plain)
    for topic in list(plain):
        retained.clear(topic)
    assert (retained._trie, retained.bytes, len(retained)) == ({}, 0, 0)


def test_a_pattern_of_levels_does_not_look_at_other_branches() -> None:
    retained = filled(*[f"other/{number}" for number in range(500)], "plant/7/temp", "plant/8/temp")
    form = parse_pattern("plant/+/temp").form
    assert sorted(retained._candidates(form)) == ["plant/7/temp", "plant/8/temp"]


def test_a_leading_wildcard_does_not_see_internal_topics() -> None:
    # [MQTT-4.7.2-1]
    retained = filled("$SYS/uptime", "a/b")
    assert kept(retained, "#") == ["a/b"]
    assert kept(retained, "+/uptime") == []
    assert kept(retained, "$SYS/#") == ["$SYS/uptime"]


def test_what_has_expired_is_not_found() -> None:
    retained = filled()
    retained.keep(Event("t", b"x", expires_at=5.0), 1)
    assert kept(retained, "t", now=4.9) == ["t"]
    assert kept(retained, "t", now=5.0) == []


def test_events_come_in_the_order_in_which_they_were_published() -> None:
    retained = filled("b", "a", "c")
    retained.keep(Event("b", b"y"), 9)
    assert kept(retained, "#") == ["a", "c", "b"]


def test_there_is_room_for_so_many_and_so_much() -> None:
    retained = Retained(2, 3 * OVERHEAD)
    retained.keep(Event("a", b"x"), 1)
    retained.keep(Event("b", b"x"), 2)
    assert not retained.has_room(Event("c", b"x"))
    assert retained.has_room(Event("a", b"xyz"))
    assert not retained.has_room(Event("a", b"x" * 2 * OVERHEAD))
    retained.clear("a")
    assert retained.has_room(Event("c", b"x" * (OVERHEAD - 10)))
