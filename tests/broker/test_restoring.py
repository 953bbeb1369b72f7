"""After a crash: what the store kept is there again, and nothing else is needed."""

from __future__ import annotations

from math import inf

import pytest

from ramify.broker import Broker, Event, Limits, Will
from ramify.broker.changes import (
    DeliveryKept,
    ItemKept,
    SessionSaved,
    SubscriptionSaved,
    TicketNoted,
    WillSet,
)
from ramify.broker.values import Identity, Wish
from tests.broker.played import Played


@pytest.fixture
def played() -> Played:
    played = Played()
    played.connect("pub", expiry=100)
    played.connect("ann", expiry=100, window=2)
    played.subscribe("ann", "t/#", 2, identifier=5)
    return played


def test_plain_traffic_makes_no_changes() -> None:
    played = Played()
    played.connect("pub")
    played.connect("ann")
    played.subscribe("ann", "t", 2)
    for quality in (0, 1, 2):
        reply = played.broker.publish("pub", Event("t", b"x", quality), played.now, ticket=quality == 2)
        assert reply.effects
        assert not reply.changes


def test_quality_0_makes_no_changes_even_in_lasting_sessions(played: Played) -> None:
    reply = played.broker.publish("pub", Event("t/1"), played.now)
    assert (len(reply.effects), reply.changes) == (1, ())


def test_subscriptions_and_their_options_come_back(played: Played) -> None:
    played.crash()
    played.connect("ann", clean=False, expiry=100)
    played.connect("pub", clean=False, expiry=100)
    played.publish("pub", "t/1", quality=2, ticket=1)
    delivery = played.delivery("ann")
    assert (delivery.quality, delivery.identifiers) == (2, (5,))


def test_deliveries_come_back_in_order_with_their_tickets(played: Played) -> None:
    for number in range(5):
        played.publish("pub", "t/1", b"%d" % number, 1)
    before = [delivery.ticket for delivery in played.deliveries("ann")]
    played.crash()
    played.connect("ann", clean=False, expiry=100)
    after = played.take("ann")
    assert [event.payload for event, _ in after] == [b"0", b"1", b"2", b"3", b"4"]
    assert [delivery.ticket for _, delivery in after[:2]] == before
    assert [delivery.is_again for _, delivery in after] == [True, True, False, False, False]


def test_a_ticket_that_was_noted_is_remembered(played: Played) -> None:
    played.publish("pub", "t/1", b"once", 2, ticket=9)
    played.crash()
    played.connect("pub", clean=False, expiry=100)
    played.connect("ann", clean=False, expiry=100)
    played.take("ann")
    assert played.publish("pub", "t/1", b"once", 2, ticket=9) == "success"
    assert played.take("ann") == []
    assert played.done(played.broker.release("pub", 9, played.now)) == "success"
    assert not any(isinstance(row, TicketNoted) for row in played.store.rows())


def test_wills_are_published_after_a_crash() -> None:
    played = Played()
    played.connect("ann", expiry=100, will=Will(Event("gone", b"now", is_retained=True)))
    played.connect("bob", expiry=100, will=Will(Event("late", b"later", is_retained=True), delay=10))
    played.crash()
    played.advance(0)
    assert [event.payload for event, _ in played.broker.retained()] == [b"now"]
    played.advance(10)
    assert [event.payload for event, _ in played.broker.retained()] == [b"now", b"later"]
    assert not any(isinstance(row, WillSet) for row in played.store.rows())


def test_a_will_goes_on_waiting_from_when_its_client_was_lost() -> None:
    played = Played()
    played.connect("bob", expiry=100, will=Will(Event("late", b"later", is_retained=True), delay=10))
    played.lose("bob")
    played.advance(6)
    played.crash()
    played.advance(3.9)
    assert played.broker.holdings().retained == 0
    played.advance(0.1)
    assert played.broker.holdings().retained == 1


def test_retained_events_come_back_with_their_expiry_and_order(played: Played) -> None:
    played.publish("pub", "r/1", b"1", is_retained=True, expires_at=played.now + 5)
    played.publish("pub", "r/3", b"3", is_retained=True)
    played.publish("pub", "r/2", b"2", is_retained=True)
    played.crash()
    assert [event.payload for event, _ in played.broker.retained()] == [b"1", b"3", b"2"]
    played.advance(5)
    assert played.broker.holdings().retained == 2
    assert played.broker.holdings().sequence >= 3


def test_numbers_of_events_are_not_used_twice(played: Played) -> None:
    played.publish("pub", "t/1", quality=1)
    before = played.broker.holdings().sequence
    played.crash()
    played.connect("pub", clean=False, expiry=100)
    played.publish("pub", "t/1", quality=1)
    assert played.broker.holdings().sequence == before + 1
    assert Broker(sequence=41).holdings().sequence == 41


def test_a_session_that_expired_while_the_broker_was_down_ends(played: Played) -> None:
    played.lose("ann")
    played.now += 1_000
    played.crash()
    played.advance(0)
    assert played.broker.session("ann") is None
    assert all(getattr(row, "client", "pub") == "pub" for row in played.store.rows())


def test_a_client_that_was_connected_is_away_since_the_crash(played: Played) -> None:
    played.crash()
    played.advance(60)
    played.crash()
    played.advance(40)
    assert played.broker.session("ann") is None


def test_a_session_that_becomes_lasting_is_saved_whole() -> None:
    played = Played()
    played.connect("pub")
    played.connect("ann", expiry=10)
    played.subscribe("ann", "t", 1)
    played.publish("pub", "t", b"1", 1)
    played.publish("ann", "u", quality=2, ticket=4)
    played.connect("ann", clean=False, expiry=0)  # it goes on, but only as long as its connection
    assert played.store.rows() == []
    played.publish("pub", "t", b"2", 1)
    played.disconnect("ann", expiry=0)
    assert played.store.rows() == []


def test_everything_is_gone_when_sessions_end(played: Played) -> None:
    played.publish("pub", "t/1", quality=2, ticket=1)
    played.connect("ann", will=Will(Event("w")))
    played.connect("pub")
    assert played.store.rows() == []


def test_a_row_that_makes_no_sense_is_passed_over() -> None:
    broker = Broker(Limits(levels=2))
    broker.restore(
        [
            DeliveryKept("nobody", 1, 7, Event("t"), 1),
            TicketNoted("nobody", 1),
            WillSet("nobody", Will(Event("w"))),
            SubscriptionSaved("nobody", Wish("t")),
            SubscriptionSaved("ann", Wish("deeper/than/allowed")),
            ItemKept("k", ((Event("t"), 3),), 5.0, 1.0, 1, None, "nobody", Identity("t")),
            SessionSaved("ann", None, inf, 1.0),
        ],
        0.0,
    )
    assert [session.client for session in broker.sessions()] == ["ann"]
    assert broker.holdings().subscriptions == 0
    assert broker.tick(10.0).effects == ()
