"""Subscribing: what is granted, what replaces what, what is refused and why."""

from __future__ import annotations

from typing import Any

import pytest

from ramify.broker import Debounce, Limits, Outcome
from tests.broker.played import Played


@pytest.fixture
def played() -> Played:
    played = Played(Limits(subscriptions=3, levels=5, pattern_length=50, criteria_length=40))
    for client in ("ann", "bob"):
        played.connect(client, expiry=100)
    return played


@pytest.mark.parametrize(
    ("pattern", "options", "outcome", "reason"),
    [
        ("a/#/b", {}, Outcome.INVALID_PATTERN, "'#' stands only as the last level at column 3"),
        ("", {}, Outcome.INVALID_PATTERN, "at least one character"),
        ("$share/g", {}, Outcome.INVALID_PATTERN, "a share needs"),
        ("t", {"where": "a ="}, Outcome.INVALID_CRITERIA, "column"),
        ("t", {"dialect": "regex"}, Outcome.INVALID_OPTION, "unknown dialect 'regex'"),
        ("t", {"debounce": Debounce(-1.0)}, Outcome.INVALID_OPTION, "quiet is not a duration"),
        ("t", {"debounce": Debounce(1.0, keep="some")}, Outcome.INVALID_OPTION, "unknown keep 'some'"),
        ("t", {"debounce": Debounce(1e9)}, Outcome.INVALID_OPTION, "nothing waits for longer"),
        ("$share/g/t", {"no_local": True}, Outcome.INVALID_OPTION, "share"),  # [MQTT-3.8.3-4]
        ("$share/g/t", {"group": "h"}, Outcome.INVALID_OPTION, "names the group"),
        ("t", {"quality": 3}, Outcome.INVALID_OPTION, "quality"),
        ("t", {"retain_handling": 3}, Outcome.INVALID_OPTION, "retained"),
        ("a/b/c/d/e/f", {}, Outcome.QUOTA_EXCEEDED, "at most 5 levels"),
        ("+/" * 6 + "+", {}, Outcome.QUOTA_EXCEEDED, "at most 5 levels"),
        ("*a" * 6, {"dialect": "glob"}, Outcome.QUOTA_EXCEEDED, "at most 5 levels"),
        ("x" * 51, {}, Outcome.QUOTA_EXCEEDED, "too long"),
        ("t", {"where": "a = 1 or " * 5 + "a = 2"}, Outcome.QUOTA_EXCEEDED, "too long"),
    ],
)
def test_a_wish_that_cannot_be_granted_is_refused_with_the_reason(
    played: Played, pattern: str, options: dict[str, Any], outcome: Outcome, reason: str
) -> None:
    granted = played.subscribe("ann", pattern, **options)
    assert granted.outcome is outcome
    assert reason in granted.reason
    assert played.broker.holdings().subscriptions == 0


def test_wishes_are_granted_one_by_one(played: Played) -> None:
    from ramify.broker import Wish

    wishes = [Wish("a", quality=2), Wish("#/b"), Wish("c", quality=1)]
    granted = played.done(played.broker.subscribe("ann", wishes, played.now))
    assert [(each.outcome, each.quality) for each in granted] == [
        (Outcome.SUCCESS, 2),
        (Outcome.INVALID_PATTERN, 0),
        (Outcome.SUCCESS, 1),
    ]


def test_a_session_has_so_many_subscriptions_and_no_more(played: Played) -> None:
    for pattern in "abc":
        assert played.subscribe("ann", pattern).outcome == "success"
    assert played.subscribe("ann", "d").outcome == "a limit is reached"
    assert played.subscribe("ann", "a", 1).outcome == "success"  # it replaces
    assert played.subscribe("bob", "d").outcome == "success"


def test_subscribing_again_replaces(played: Played) -> None:
    # [MQTT-3.8.4-3]
    played.subscribe("ann", "t", 0, identifier=1)
    played.subscribe("ann", "t", 1, identifier=2)
    played.publish("bob", "t", quality=1)
    delivery = played.delivery("ann")
    assert (delivery.quality, delivery.identifiers) == (1, (2,))
    assert len(list(played.broker.subscriptions())) == 1


def test_the_same_text_in_another_dialect_is_another_subscription(played: Played) -> None:
    played.subscribe("ann", "a.b", identifier=1)
    played.subscribe("ann", "a.b", dialect="nats", identifier=2)
    played.publish("bob", "a.b")
    assert sorted(played.delivery("ann").identifiers) == [1, 2]


def test_unsubscribing_is_by_the_very_text(played: Played) -> None:
    # [MQTT-3.10.4-1]
    played.subscribe("ann", "a/+")
    assert played.unsubscribe("ann", "a/#") == "there is no such subscription"
    assert played.unsubscribe("ann", "a/+") == "success"
    played.publish("bob", "a/b")
    assert played.take("ann") == []


def test_what_was_sent_before_unsubscribing_is_completed(played: Played) -> None:
    # [MQTT-3.10.4-3]
    played.subscribe("ann", "t", 2)
    played.publish("bob", "t", quality=2, ticket=1)
    ticket = played.delivery("ann").ticket
    played.unsubscribe("ann", "t")
    assert played.received("ann", ticket) == "success"
    assert played.completed("ann", ticket) == "success"


def test_to_an_old_client_a_share_is_a_pattern_like_any_other(played: Played) -> None:
    assert played.subscribe("ann", "$share/g/t", knows_shares=False).outcome == "success"
    played.publish("bob", "t")
    assert played.take("ann") == []
    played.publish("bob", "$share/g/t")
    assert len(played.take("ann")) == 1


# ── retained ──────────────────────────────────────────────────────────────────────────────


def test_who_subscribes_gets_what_is_retained(played: Played) -> None:
    # [MQTT-3.3.1-5] [MQTT-3.3.1-9]
    played.publish("bob", "a/b", b"old", 2, ticket=1, is_retained=True)
    played.publish("bob", "a/b", b"new", 2, ticket=2, is_retained=True)
    played.publish("bob", "a/b", b"fleeting")  # [MQTT-3.3.1-8]
    played.subscribe("ann", "a/+", 1, identifier=7)
    ((event, delivery),) = played.take("ann")
    assert event.payload == b"new"
    # [MQTT-3.8.4-8] the lesser of both qualities
    assert (delivery.is_retained, delivery.quality, delivery.identifiers) == (True, 1, (7,))


@pytest.mark.parametrize(
    ("handling", "first", "again"),
    [(0, 1, 1), (1, 1, 0), (2, 0, 0)],  # [MQTT-3.3.1-9] [MQTT-3.3.1-10] [MQTT-3.3.1-11]
)
def test_retained_events_come_as_the_subscriber_asks(
    played: Played, handling: int, first: int, again: int
) -> None:
    played.publish("bob", "t", is_retained=True)
    played.subscribe("ann", "t", retain_handling=handling)
    assert len(played.take("ann")) == first
    played.subscribe("ann", "t", retain_handling=handling)
    assert len(played.take("ann")) == again


def test_an_empty_payload_clears_and_is_delivered_as_any_other(played: Played) -> None:
    # [MQTT-3.3.1-6] [MQTT-3.3.1-7]
    played.subscribe("ann", "t")
    played.publish("bob", "t", b"x", is_retained=True)
    played.publish("bob", "t", b"", is_retained=True)
    assert played.payloads("ann") == [b"x", b""]
    played.subscribe("ann", "t")
    assert played.take("ann") == []
    assert played.store.rows() == [row for row in played.store.rows() if not hasattr(row, "event")]


@pytest.mark.parametrize(("keeps", "shown"), [(False, False), (True, True)])
def test_the_flag_is_shown_to_those_who_want_it_as_published(
    played: Played, keeps: bool, shown: bool
) -> None:
    # [MQTT-3.3.1-12] [MQTT-3.3.1-13]
    played.subscribe("ann", "t", keeps_retained=keeps)
    played.publish("bob", "t", is_retained=True)
    assert played.delivery("ann").is_retained is shown
    played.publish("bob", "t")
    assert played.delivery("ann").is_retained is False


def test_retained_events_are_judged_by_criteria(played: Played) -> None:
    for topic, payload in (("a", b'{"k": 1}'), ("b", b'{"k": 2}'), ("c", b"no json")):
        played.publish("bob", topic, payload, is_retained=True)
    played.subscribe("ann", "#", where="k > 1")
    assert played.payloads("ann") == [b'{"k": 2}']


def test_a_share_gets_nothing_that_was_retained(played: Played) -> None:
    played.publish("bob", "t", is_retained=True)
    played.subscribe("ann", "$share/g/t")
    assert played.take("ann") == []


def test_no_local_leaves_out_ones_own_retained_events(played: Played) -> None:
    played.publish("ann", "t", is_retained=True)
    played.subscribe("ann", "t", no_local=True)
    assert played.take("ann") == []


def test_a_retained_event_expires() -> None:
    played = Played()
    played.connect("ann")
    played.publish("ann", "t", is_retained=True, expires_at=played.now + 5)
    played.advance(5)
    played.subscribe("ann", "t")
    assert played.take("ann") == []
    assert (played.broker.holdings().retained, played.store.rows()) == (0, [])


def test_a_newer_retained_event_does_not_expire_with_the_old_one() -> None:
    played = Played()
    played.connect("ann")
    played.publish("ann", "t", is_retained=True, expires_at=played.now + 5)
    played.publish("ann", "t", b"new", is_retained=True)
    played.advance(100)
    played.subscribe("ann", "t")
    assert played.payloads("ann") == [b"new"]


def test_an_event_that_would_not_fit_is_refused_and_not_routed() -> None:
    played = Played(Limits(retained=1))
    played.connect("ann")
    played.subscribe("ann", "#")
    assert played.publish("ann", "a", is_retained=True) == "success"
    assert played.publish("ann", "b", is_retained=True) == "a limit is reached"
    assert played.publish("ann", "a", b"new", is_retained=True) == "success"
    assert played.publish("ann", "b", b"", is_retained=True) == "success"
    assert played.payloads("ann") == [b"x", b"new", b""]


@pytest.mark.parametrize("knows_shares", [(False, True), (True, False)], ids=["joins", "leaves"])
def test_a_pattern_may_become_a_share_and_a_share_a_pattern(knows_shares: tuple[bool, bool]) -> None:
    played = Played()
    played.connect("ann")
    for knows in knows_shares:
        assert played.subscribe("ann", "$share/g/t", knows_shares=knows).outcome == "success"
    played.connect("bob")
    assert played.subscribe("bob", "$share/g/t").outcome == "success"
    for client in ("ann", "bob"):
        played.disconnect(client)
    assert not list(played.broker.subscriptions())
