"""Debounced subscriptions and deferred events: many become one, or wait together."""

from __future__ import annotations

import pytest

from ramify.broker import Debounce, Defer, Limits
from tests.broker.played import Played


@pytest.fixture
def played() -> Played:
    played = Played(Limits(listed=4, deferred=5))
    for client in ("ann", "bob"):
        played.connect(client, expiry=1_000)
    return played


def publish(played: Played, *payloads: bytes, topic: str = "t", quality: int = 0, every: float = 1.0) -> None:
    for payload in payloads:
        played.publish("bob", topic, payload, quality)
        played.advance(every)


@pytest.mark.parametrize(
    ("keep", "expected"), [("last", [b"3"]), ("first", [b"1"]), ("list", [b"1", b"2", b"3"])]
)
def test_a_debounced_subscription_gets_a_topic_when_it_is_quiet(
    played: Played, keep: str, expected: list[bytes]
) -> None:
    played.subscribe("ann", "t", debounce=Debounce(5.0, keep=keep))
    publish(played, b"1", b"2", b"3")
    played.advance(3.9)
    assert played.take("ann") == []
    played.advance(0.1)
    assert played.payloads("ann") == expected


def test_each_topic_is_quiet_for_itself(played: Played) -> None:
    played.subscribe("ann", "+", debounce=Debounce(5.0))
    publish(played, b"1", topic="a")
    publish(played, b"2", topic="b")
    played.advance(3.0)
    assert played.payloads("ann") == [b"1"]
    played.advance(1.0)
    assert played.payloads("ann") == [b"2"]


def test_a_topic_that_is_never_quiet_is_delivered_after_the_longest_wait(played: Played) -> None:
    played.subscribe("ann", "t", debounce=Debounce(5.0, max_wait=7.0))
    publish(played, *[b"%d" % number for number in range(10)])
    assert played.payloads("ann") == [b"6"]


def test_a_list_that_is_full_is_delivered_at_once(played: Played) -> None:
    played.subscribe("ann", "t", debounce=Debounce(5.0, keep="list"))
    publish(played, b"1", b"2", b"3", b"4", b"5", every=0.0)
    assert played.payloads("ann") == [b"1", b"2", b"3", b"4"]
    played.advance(5.0)
    assert played.payloads("ann") == [b"5"]


def test_a_debounced_subscription_beside_a_plain_one_is_a_delivery_of_its_own(played: Played) -> None:
    played.subscribe("ann", "t", identifier=1)
    played.subscribe("ann", "#", debounce=Debounce(5.0), identifier=2)
    publish(played, b"1", b"2")
    played.advance(10)
    assert [delivery.identifiers for delivery in played.deliveries("ann")] == [(1,), (1,), (2,)]


def test_debounced_deliveries_have_quality_and_window(played: Played) -> None:
    played.subscribe("ann", "t", 1, debounce=Debounce(5.0))
    publish(played, b"1", quality=2)
    played.lose("ann")
    played.advance(10)
    assert played.take("ann") == []
    played.connect("ann", clean=False, expiry=1_000)
    assert played.delivery("ann").quality == 1


def test_criteria_decide_before_anything_waits(played: Played) -> None:
    played.subscribe("ann", "t", where="k = 1", debounce=Debounce(5.0))
    publish(played, b'{"k": 1}', b'{"k": 2}')
    played.advance(10)
    assert played.payloads("ann") == [b'{"k": 1}']


def test_an_event_that_expires_while_it_waits_is_not_delivered(played: Played) -> None:
    played.subscribe("ann", "t", debounce=Debounce(5.0))
    played.publish("bob", "t", expires_at=played.now + 3)
    played.advance(10)
    assert played.take("ann") == []


def test_unsubscribing_takes_back_what_waits(played: Played) -> None:
    played.subscribe("ann", "t", 1, debounce=Debounce(5.0))
    publish(played, b"1", quality=1)
    played.unsubscribe("ann", "t")
    played.advance(10)
    assert played.take("ann") == []
    assert played.broker.holdings().waiting == 0
    assert not any(hasattr(row, "deadline") for row in played.store.rows())


def test_replacing_a_debounced_subscription_keeps_what_waits(played: Played) -> None:
    played.subscribe("ann", "t", debounce=Debounce(5.0))
    publish(played, b"1")
    played.subscribe("ann", "t", debounce=Debounce(50.0), identifier=3)
    played.advance(4)
    assert played.delivery("ann").identifiers == (3,)


def test_a_session_that_ends_leaves_nothing_waiting(played: Played) -> None:
    played.subscribe("ann", "t", 1, debounce=Debounce(5.0))
    publish(played, b"1", quality=1)
    played.connect("ann")
    assert played.broker.holdings().waiting == 0


def test_what_waits_is_bounded(played: Played) -> None:
    played.subscribe("ann", "+", debounce=Debounce(5.0))
    for number in range(8):
        played.publish("bob", f"t{number}")
    assert played.broker.holdings().waiting == 5
    assert played.broker.counters.dropped == 3
    assert played.publish("bob", "x", defer=Defer("k", 1.0)) == "a limit is reached"


# ── deferred events ───────────────────────────────────────────────────────────────────────


def test_deferred_events_of_one_key_become_the_last_one(played: Played) -> None:
    played.subscribe("ann", "#")
    for number in range(3):
        assert played.publish("bob", "t", b"%d" % number, defer=Defer("k", 5.0)) == "success"
        played.advance(1.0)
    played.publish("bob", "t", b"other", defer=Defer("l", 1.0))
    assert played.take("ann") == []
    played.advance(10)
    assert played.payloads("ann") == [b"other", b"2"]
    assert played.broker.counters.coalesced == 2


def test_the_same_key_on_another_topic_is_another_key(played: Played) -> None:
    played.subscribe("ann", "#")
    for topic in ("t", "u"):
        played.publish("bob", topic, topic.encode(), defer=Defer("k", 5.0))
    played.advance(5)
    assert played.payloads("ann") == [b"t", b"u"]


def test_a_deferred_event_waits_no_longer_than_it_may(played: Played) -> None:
    played.subscribe("ann", "#")
    for _ in range(5):
        played.publish("bob", "t", defer=Defer("k", 3.0, max_wait=4.0))
        played.advance(1.0)
    assert len(played.take("ann")) == 1


def test_a_deferred_event_is_retained_when_it_is_routed(played: Played) -> None:
    played.publish("bob", "t", is_retained=True, defer=Defer("k", 5.0))
    assert played.broker.holdings().retained == 0
    played.advance(5)
    assert played.broker.holdings().retained == 1


@pytest.mark.parametrize(
    "defer", [Defer("k", -1.0), Defer("k", float("nan")), Defer("k", 2.0, 1.0), Defer("k", 1e9)]
)
def test_a_wait_that_cannot_be_is_refused(played: Played, defer: Defer) -> None:
    assert played.publish("bob", "t", defer=defer) == "an option that cannot be carried out"


def test_what_was_accepted_survives_a_crash_until_its_moment(played: Played) -> None:
    played.subscribe("ann", "#", 1)
    played.subscribe("ann", "d", 1, debounce=Debounce(5.0, keep="list"))
    played.publish("bob", "t", b"deferred", 1, defer=Defer("k", 5.0))
    publish(played, b"1", b"2", topic="d", quality=1)
    for delivery in played.deliveries("ann"):
        played.acknowledge("ann", delivery.ticket)
    played.crash()
    played.connect("ann", clean=False, expiry=1_000)
    played.advance(2.9)
    assert played.take("ann") == []
    played.advance(0.1)
    assert played.payloads("ann") == [b"deferred"]
    played.advance(1.0)
    assert played.payloads("ann") == [b"1", b"2"]
    assert not any(hasattr(row, "deadline") for row in played.store.rows())
