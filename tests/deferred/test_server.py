"""What a served queue gives out, and what becomes of it; the time is whatever the test says."""

from __future__ import annotations

from ramify.deferred import GroupCommit, wire
from ramify.deferred.serving import Limits
from tests.deferred.serving import Played

UNBOUNDED = GroupCommit(records=1 << 62, bytes=1 << 62, delay=float("inf"))


# ── giving out ──────────────────────────────────────────────────────────────────────────


def test_an_item_goes_out_at_its_deadline_and_not_before() -> None:
    played = Played()
    played.take("a")
    assert played.push("k", {"x": 1}, 5.0) == "accepted"
    assert played.keys() == {}
    played.now = 1004.999
    assert played.keys() == {}
    assert played.server.next_wake() == 1005.0, "asked once after a first look, the wake is exact"
    played.now = 1005.0
    (item,) = played.delivered()["a"]
    assert (item.key, wire.decode_data(item.data), item.deadline) == ("k", {"x": 1}, 1005.0)


def test_pushing_often_delivers_once() -> None:
    played = Played()
    played.take("a")
    for number in range(5):
        played.push("k", number, 5.0)
        played.now += 1.0
    played.now = 1009.0
    (item,) = played.delivered()["a"]
    assert wire.decode_data(item.data) == 4
    assert played.keys() == {}


def test_items_are_spread_evenly_and_no_consumer_gets_more_than_its_window() -> None:
    played = Played()
    played.take("a", 3)
    played.take("b", 100)
    for number in range(20):
        played.push(str(number), None, 0.0)
    got = played.keys()
    assert (len(got["a"]), len(got["b"])) == (3, 17)


def test_no_more_is_in_flight_than_allowed_until_something_is_done() -> None:
    played = Played(limits=Limits(in_flight=2))
    played.take("a")
    for key in "xyz":
        played.push(key, None, 0.0)
    first = played.delivered()["a"]
    assert [item.key for item in first] == ["x", "y"]
    assert played.keys() == {}
    assert played.server.next_wake() >= 1010.0, "it does not spin on what nobody may take"
    played.ack("a", first[0])
    assert played.keys() == {"a": ["z"]}


# ── acknowledging ───────────────────────────────────────────────────────────────────────


def test_what_is_acknowledged_never_comes_back() -> None:
    played = Played()
    played.take("a")
    played.push("k", None, 0.0)
    (item,) = played.delivered()["a"]
    played.ack("a", item)
    assert played.told() == {"a": [wire.Acked(wire.VERSION, 1, [])]}
    played.now += 100
    played.take("b")
    assert played.keys() == {}
    assert (played.server.in_flight, played.server.held_bytes) == (0, 0)


def test_an_acknowledgement_needs_the_ticket_with_its_key() -> None:
    played = Played()
    played.take("a")
    played.push("k", None, 0.0)
    (item,) = played.delivered()["a"]
    played.consume("a", wire.Ack(wire.VERSION, [(item.ticket, "other"), (12345, "k")]))
    assert played.told() == {"a": [wire.Acked(wire.VERSION, 0, [item.ticket, 12345])]}
    assert played.server.in_flight == 1
    assert played.server.counts.unknown == 2


def test_items_of_a_consumer_that_falls_silent_go_to_another() -> None:
    played = Played(limits=Limits(silence=10.0))
    played.take("a")
    played.push("k", None, 0.0)
    (item,) = played.delivered()["a"]
    played.now = 1005.0
    played.take("b")
    played.now = 1009.9
    assert played.keys() == {}
    assert played.server.next_wake() == 1010.0
    played.now = 1010.0
    (again,) = played.delivered()["b"]
    assert (again.ticket, again.key) == (item.ticket, "k")
    counts = played.server.counts
    assert (counts.expired, counts.redelivered) == (1, 1)


def test_a_heartbeat_keeps_a_slow_consumer_alive() -> None:
    played = Played()
    played.take("a")
    played.push("k", None, 0.0)
    assert played.keys() == {"a": ["k"]}
    for _ in range(10):
        played.now += 9.0
        played.take("a")
        assert played.keys() == {}


def test_a_consumer_thought_dead_can_still_acknowledge_and_come_back() -> None:
    played = Played()
    played.take("a")
    played.push("k", None, 0.0)
    (item,) = played.delivered()["a"]
    played.now = 1010.0
    (told,) = played.told()["a"]
    assert isinstance(told, wire.Failed)
    assert told.code == "silent"
    played.ack("a", item)
    assert played.told() == {"a": [wire.Acked(wire.VERSION, 1, [])]}
    played.take("a")
    assert played.keys() == {}


def test_what_a_leaving_or_unreachable_consumer_holds_goes_to_another_at_once() -> None:
    played = Played()
    played.take("a")
    played.push("k", None, 0.0)
    assert played.keys() == {"a": ["k"]}
    played.consume("a", wire.Leave(wire.VERSION))
    played.take("b")
    assert played.keys() == {"b": ["k"]}
    played.server.unreachable((b"b",))
    played.take("c")
    assert played.keys() == {"c": ["k"]}
