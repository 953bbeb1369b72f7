"""Who may publish, subscribe and receive what."""

from __future__ import annotations

import pytest

from ramify.broker import OPEN, Access, Action, Event, Rule, Will
from ramify.errors import InvalidPattern
from ramify.patterns import parse_pattern
from tests.broker.played import Played

PUBLISH, SUBSCRIBE = Action.PUBLISH, Action.SUBSCRIBE

RULES = Access(
    (
        Rule("plant/secret/#", is_allowed=False),
        Rule("plant/#", action=SUBSCRIBE),
        Rule("users/%u/#", user="ann"),
        Rule("devices/%c/+", action=PUBLISH),
        Rule("*.json", dialect="glob", user="bob"),
    )
)


@pytest.mark.parametrize(
    ("user", "client", "action", "topic", "expected"),
    [
        ("ann", "c", SUBSCRIBE, "plant/7", True),
        ("ann", "c", PUBLISH, "plant/7", False),
        ("ann", "c", SUBSCRIBE, "plant/secret/x", False),
        (None, "c", SUBSCRIBE, "plant/7", True),
        ("ann", "c", PUBLISH, "users/ann/x", True),
        ("ann", "c", PUBLISH, "users/bob/x", False),
        ("bob", "c", PUBLISH, "users/bob/x", False),
        ("bob", "c", PUBLISH, "devices/c/x", True),
        ("bob", "c", PUBLISH, "devices/d/x", False),
        ("bob", "c", SUBSCRIBE, "any/thing.json", True),
        ("ann", "c", SUBSCRIBE, "any/thing.json", False),
        ("bob", "+", PUBLISH, "devices/x/x", False),
        ("bob", "#", PUBLISH, "devices/x", False),
        ("bob", "c/d", PUBLISH, "devices/c/d/x", False),
        ("bob", "c", PUBLISH, "elsewhere", False),
    ],
)
def test_the_first_rule_that_fits_decides(
    user: str | None, client: str, action: Action, topic: str, expected: bool
) -> None:
    rights = RULES.rights_of(user, client)
    assert rights.allow(action, topic) is expected
    assert rights.allow(action, topic) is expected  # remembered


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("plant/#", True),
        ("plant/+/x", True),
        ("plant/secret/#", False),
        ("plant/secret/a", False),
        ("#", False),
        ("+/7", False),
        ("users/ann/+", True),
        ("users/+/x", False),
        ("$share/g/plant/#", True),
    ],
)
def test_a_pattern_must_lie_within_what_is_allowed(pattern: str, expected: bool) -> None:
    assert RULES.rights_of("ann", "c").allow_pattern(parse_pattern(pattern)) is expected


def test_a_broken_rule_is_refused_when_it_is_made() -> None:
    with pytest.raises(InvalidPattern):
        Rule("plant/#/x")


def test_nothing_is_remembered_without_bound() -> None:
    rights = RULES.rights_of("ann", "c")
    for number in range(3 * rights.MOST_KNOWN):
        rights.allow(PUBLISH, f"t/{number}")
    assert len(rights._known) <= rights.MOST_KNOWN


def test_without_rules_everything_is_allowed_or_nothing() -> None:
    assert OPEN.rights_of(None, "c").allow(PUBLISH, "t")
    assert not Access().rights_of(None, "c").allow(PUBLISH, "t")


# ── in the broker ─────────────────────────────────────────────────────────────────────────


def broker() -> Played:
    played = Played(access=RULES)
    for user in ("ann", "bob"):
        played.connect(user, user=user)
    return played


def test_what_may_not_be_published_is_refused_and_reaches_nobody() -> None:
    played = broker()
    played.subscribe("ann", "plant/#")
    assert played.publish("bob", "plant/7") == "not authorized"
    assert played.publish("bob", "plant/7", quality=2, ticket=1) == "not authorized"
    assert played.take("ann") == []
    assert played.broker.counters.refused == 2
    # [MQTT-4.3.3-9] The refused ticket is free again.
    assert played.done(played.broker.release("bob", 1, 0.0)) == "no delivery has this ticket"


def test_the_hot_path_asks_for_rights_too() -> None:
    played = broker()
    played.subscribe("ann", "users/ann/#")
    for _ in range(3):
        assert played.publish("ann", "users/ann/x") == "success"
        assert played.publish("bob", "users/ann/x") == "not authorized"
    assert len(played.take("ann")) == 3


def test_a_subscription_beyond_the_rights_is_refused() -> None:
    played = broker()
    assert played.subscribe("ann", "#").outcome == "not authorized"
    assert played.broker.holdings().subscriptions == 0


def test_a_denied_part_of_an_allowed_pattern_is_not_delivered() -> None:
    played = broker()
    assert played.subscribe("ann", "plant/#").outcome == "success"
    for topic in ("plant/secret/x", "plant/y"):
        played.done(played.broker.announce(Event(topic, topic.encode(), is_retained=True), played.now))
    assert played.payloads("ann") == [b"plant/y"]
    played.subscribe("ann", "plant/#")
    assert played.payloads("ann") == [b"plant/y"]  # of the retained ones, too


def test_new_rules_hold_at_once() -> None:
    played = broker()
    played.subscribe("ann", "plant/#")
    played.broker.set_access(Access())
    played.done(played.broker.announce(Event("plant/y"), played.now))
    assert played.take("ann") == []
    assert played.publish("ann", "users/ann/x") == "not authorized"


def test_a_will_needs_the_right_to_publish() -> None:
    played = broker()
    played.subscribe("ann", "plant/#")
    played.connect("eve", user="eve", will=Will(Event("plant/7", b"will")))
    played.lose("eve")
    assert played.take("ann") == []


def test_a_session_belongs_to_its_user() -> None:
    played = broker()
    answer = played.connect("ann", user="bob", clean=False)
    assert (answer.outcome, played.closed) == ("not authorized", [])


def test_only_the_broker_speaks_of_itself() -> None:
    played = Played()
    played.connect("ann")
    played.subscribe("ann", "$SYS/#")
    for _ in range(2):
        assert played.publish("ann", "$SYS/uptime") == "not authorized"
        played.done(played.broker.announce(Event("$SYS/uptime", b"1"), played.now))
    assert played.payloads("ann") == [b"1", b"1"]
