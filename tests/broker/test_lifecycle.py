"""Sessions that begin, are taken over, are taken up again and end; and wills."""

from __future__ import annotations

from math import inf

import pytest

from ramify.broker import Event, Limits, Will
from ramify.errors import UnknownClient
from tests.broker.played import Played

WILL = Will(Event("gone/ann", b"will", 1))
LATE_WILL = Will(Event("gone/ann", b"will", 1), delay=10.0)


@pytest.fixture
def played() -> Played:
    played = Played()
    played.connect("watcher")
    played.subscribe("watcher", "#", 1)
    return played


# ── sessions ──────────────────────────────────────────────────────────────────────────────


def test_a_new_client_has_no_session(played: Played) -> None:
    # [MQTT-3.2.2-3]
    assert not played.connect("ann", clean=False).is_session_present


def test_a_session_without_expiry_ends_with_its_connection(played: Played) -> None:
    played.connect("ann")
    played.lose("ann")
    assert played.broker.session("ann") is None
    assert not played.connect("ann", clean=False).is_session_present


def test_a_session_waits_for_its_client_and_keeps_what_comes(played: Played) -> None:
    # [MQTT-3.1.2-5] [MQTT-3.2.2-3]
    played.connect("ann", expiry=100)
    played.subscribe("ann", "t", 1)
    played.lose("ann")
    played.publish("watcher", "t", b"kept", 1)
    assert played.take("ann") == []
    assert played.connect("ann", clean=False, expiry=100).is_session_present
    assert played.payloads("ann") == [b"kept"]


def test_a_session_ends_when_it_expires(played: Played) -> None:
    # [MQTT-4.1.0-2]
    played.connect("ann", expiry=100)
    played.lose("ann")
    played.advance(99)
    assert played.broker.session("ann") is not None
    played.advance(1)
    assert played.broker.session("ann") is None


def test_a_session_for_ever_never_ends(played: Played) -> None:
    played.connect("ann", expiry=inf)
    played.lose("ann")
    assert played.broker.next_deadline() is None


def test_a_session_does_not_expire_while_its_client_is_there(played: Played) -> None:
    # [MQTT-4.1.0-1]
    played.connect("ann", expiry=10)
    played.lose("ann")
    played.connect("ann", clean=False, expiry=10)
    played.advance(1_000)
    assert played.broker.session("ann") is not None


def test_a_clean_start_forgets_everything(played: Played) -> None:
    # [MQTT-3.1.2-4] [MQTT-3.2.2-2]
    played.connect("ann", expiry=100)
    played.subscribe("ann", "t", 1)
    played.lose("ann")
    played.publish("watcher", "t", quality=1)
    assert not played.connect("ann", clean=True, expiry=100).is_session_present
    played.publish("watcher", "t", quality=1)
    assert played.take("ann") == []
    assert played.broker.holdings().subscriptions == 1


def test_a_goodbye_may_change_the_expiry(played: Played) -> None:
    played.connect("ann", expiry=100)
    assert played.disconnect("ann", expiry=5) == "success"
    played.advance(5)
    assert played.broker.session("ann") is None


def test_a_goodbye_may_end_the_session(played: Played) -> None:
    played.connect("ann", expiry=100)
    played.disconnect("ann", expiry=0)
    assert played.broker.session("ann") is None
    assert played.store.rows() == []


def test_a_session_that_ends_with_its_connection_cannot_be_prolonged(played: Played) -> None:
    played.connect("ann")
    assert played.disconnect("ann", expiry=5).is_refusal
    assert played.broker.session("ann") is not None


def test_the_limit_on_expiry_is_respected() -> None:
    played = Played(Limits(session_expiry=50))
    played.connect("ann", expiry=inf)
    played.lose("ann")
    assert played.broker.next_deadline() == played.now + 50


def test_the_limit_on_sessions_is_respected() -> None:
    played = Played(Limits(sessions=1))
    played.connect("ann")
    assert played.connect("bob").outcome == "a limit is reached"
    assert played.connect("ann").outcome == "success"


def test_a_client_without_a_session_is_the_callers_mistake(played: Played) -> None:
    with pytest.raises(UnknownClient, match="'nobody'"):
        played.publish("nobody", "t")


# ── take-over ─────────────────────────────────────────────────────────────────────────────


def test_the_old_connection_is_closed_when_another_takes_over(played: Played) -> None:
    # [MQTT-3.1.4-3]
    played.connect("ann", expiry=100)
    old = played.connection("ann")
    assert played.connect("ann", clean=False, expiry=100).is_session_present
    (close,) = played.closed
    assert (close.client, close.connection, close.reason) == (
        "ann",
        old,
        "another connection took the session over",
    )


def test_the_end_of_a_connection_that_was_taken_over_concerns_nobody(played: Played) -> None:
    played.connect("ann", expiry=100, will=WILL)
    old = played.connection("ann")
    played.connect("ann", clean=False, expiry=100, will=WILL)
    played.take("watcher")
    played.done(played.broker.lost("ann", played.now, connection=old))
    played.done(played.broker.disconnect("ann", played.now, connection=old))
    session = played.broker.session("ann")
    assert session is not None
    assert session.is_connected
    assert played.take("watcher") == []


def test_a_take_over_sends_again_what_was_not_acknowledged(played: Played) -> None:
    # [MQTT-4.4.0-1]
    played.connect("ann", expiry=100)
    played.subscribe("ann", "t", 1)
    played.publish("watcher", "t", quality=1)
    first = played.delivery("ann")
    played.connect("ann", clean=False, expiry=100)
    again = played.delivery("ann")
    assert (again.ticket, again.is_again, first.is_again) == (first.ticket, True, False)


def test_an_administrator_may_end_a_session(played: Played) -> None:
    played.connect("ann", expiry=100)
    played.done(played.broker.dismiss("ann", played.now))
    assert [close.reason for close in played.closed] == ["an administrator ended it"]
    assert played.broker.session("ann") is None
    played.connect("ann", expiry=100)
    played.lose("ann")
    played.done(played.broker.dismiss("ann", played.now))
    assert played.broker.session("ann") is None


# ── wills ─────────────────────────────────────────────────────────────────────────────────


def test_a_will_is_published_when_its_client_is_lost(played: Played) -> None:
    # [MQTT-3.1.2-8]
    played.connect("ann", will=WILL)
    played.lose("ann")
    assert played.payloads("watcher") == [b"will"]


def test_a_goodbye_takes_the_will_back(played: Played) -> None:
    # [MQTT-3.14.4-3]
    played.connect("ann", expiry=100, will=WILL)
    played.disconnect("ann")
    played.advance(1_000)
    assert played.take("watcher") == []


def test_a_goodbye_may_ask_for_the_will(played: Played) -> None:
    played.connect("ann", will=WILL)
    played.disconnect("ann", keeps_will=True)
    assert played.payloads("watcher") == [b"will"]


def test_a_will_waits_for_its_delay(played: Played) -> None:
    # [MQTT-3.1.2-8]
    played.connect("ann", expiry=100, will=LATE_WILL)
    played.lose("ann")
    played.advance(9)
    assert played.take("watcher") == []
    played.advance(1)
    assert played.payloads("watcher") == [b"will"]
    played.advance(1_000)
    assert played.take("watcher") == []  # once


def test_a_client_that_comes_back_in_time_takes_its_will_back(played: Played) -> None:
    # [MQTT-3.1.3-9]
    played.connect("ann", expiry=100, will=LATE_WILL)
    played.lose("ann")
    played.advance(9)
    played.connect("ann", clean=False, expiry=100)
    played.advance(1_000)
    assert played.take("watcher") == []


def test_a_will_does_not_outlive_its_session(played: Played) -> None:
    # [MQTT-3.1.2-8]
    played.connect("ann", expiry=5, will=LATE_WILL)
    played.lose("ann")
    played.advance(5)
    assert played.payloads("watcher") == [b"will"]


@pytest.mark.parametrize(
    ("will", "is_clean", "expected"),
    [(WILL, False, 1), (WILL, True, 1), (LATE_WILL, False, 0), (LATE_WILL, True, 1)],
)
def test_a_take_over_publishes_a_will_that_is_due_or_whose_session_ends(
    played: Played, will: Will, is_clean: bool, expected: int
) -> None:
    played.connect("ann", expiry=100, will=will)
    played.connect("ann", clean=is_clean, expiry=100)
    assert len(played.take("watcher")) == expected


def test_a_clean_start_publishes_the_will_that_was_waiting(played: Played) -> None:
    played.connect("ann", expiry=100, will=LATE_WILL)
    played.lose("ann")
    played.connect("ann", clean=True)
    assert played.payloads("watcher") == [b"will"]


def test_a_will_may_be_retained(played: Played) -> None:
    # [MQTT-3.1.2-17]
    played.connect("ann", will=Will(Event("gone", b"will", is_retained=True)))
    played.lose("ann")
    assert [event.payload for event, _ in played.broker.retained()] == [b"will"]


def test_a_will_expires_from_when_it_is_published(played: Played) -> None:
    played.connect("ann", will=Will(Event("gone", b"will"), expiry=7.0))
    played.advance(100)
    played.lose("ann")
    ((event, _),) = played.take("watcher")
    assert event.expires_at == played.now + 7.0
    assert event.publisher == "ann"
