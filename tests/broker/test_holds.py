"""Slow clients: publishers wait for them, for a while; neighbours do not."""

from __future__ import annotations

import pytest

from ramify.broker import Limits
from tests.broker.played import Played

LIMITS = Limits(queued=4, patience=30.0)


@pytest.fixture
def played() -> Played:
    played = Played(LIMITS)
    for client in ("pub", "other", "quick"):
        played.connect(client)
    played.connect("slow", window=1, expiry=100)
    for client in ("slow", "quick"):
        played.subscribe(client, "t", 1)
    return played


def fill(played: Played, publisher: str = "pub") -> int:
    """Publish until the publisher is held; say how often."""
    published = 0
    while publisher not in played.held:
        played.publish(publisher, "t", quality=1)
        published += 1
        assert published < 20
    return published


def test_who_publishes_to_a_full_client_is_held(played: Played) -> None:
    assert fill(played) == 6  # one in flight, four that may wait, one too many
    assert played.broker.is_held("pub")
    assert not played.broker.is_held("other")
    assert len(played.take("quick")) == 6


def test_a_publisher_goes_on_when_half_of_the_queue_is_gone(played: Played) -> None:
    published = fill(played)
    acknowledged = 0
    while played.held:
        (delivery,) = played.deliveries("slow")
        played.acknowledge("slow", delivery.ticket)
        acknowledged += 1
    assert acknowledged == 3
    assert not played.broker.is_held("pub")
    got = acknowledged
    while deliveries := list(played.deliveries("slow")):
        for delivery in deliveries:
            played.acknowledge("slow", delivery.ticket)
            got += 1
    assert got == published  # nothing was lost


def test_quality_0_holds_nobody(played: Played) -> None:
    for _ in range(50):
        played.publish("pub", "t")
    assert not played.held


def test_a_client_does_not_wait_for_itself(played: Played) -> None:
    for _ in range(20):
        played.publish("slow", "t", quality=1)
    assert not played.held


def test_a_client_that_others_wait_for_too_long_is_let_go(played: Played) -> None:
    fill(played)
    fill(played, "other")
    played.advance(29)
    assert not played.closed
    played.advance(1)
    assert [(close.client, close.reason) for close in played.closed] == [
        ("slow", "others waited too long for it")
    ]
    assert not played.held
    session = played.broker.session("slow")
    assert session is not None
    assert session.outbox.waiting == 4  # an absent one is owed no more than the limit
    played.publish("pub", "t", quality=1)
    assert not played.held
    assert played.broker.counters.dropped > 0


@pytest.mark.parametrize("how", ["lose", "disconnect", "connect"])
def test_nobody_waits_for_a_client_that_is_gone(played: Played, how: str) -> None:
    fill(played)
    getattr(played, how)("slow")
    assert not played.held
    assert played.broker.next_deadline() is None or how != "connect"


def test_a_publisher_that_waits_for_two_goes_on_after_both() -> None:
    played = Played(LIMITS)
    played.connect("pub")
    for client in ("one", "two"):
        played.connect(client, window=1)
        played.subscribe(client, "t", 1)
    fill(played)
    played.lose("one")
    assert played.held == {"pub"}
    played.lose("two")
    assert not played.held
    assert played.broker._realm.holds._counts == {}


def test_what_a_present_client_is_owed_is_bounded_all_the_same(played: Played) -> None:
    for _ in range(100):
        played.publish("pub", "t", quality=1)
    session = played.broker.session("slow")
    assert session is not None
    assert session.outbox.waiting == 8
    assert played.broker.counters.dropped == 100 - 8 - 1
