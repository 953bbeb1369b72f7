"""Who gets an event, and how: overlaps, shares, shadows, the hot path and the slow one."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify.broker import Event, FanOut, Limits, Will, Wish
from ramify.broker import interests as interests_module
from tests.broker.played import Played
from tests.strategies import topics

CLIENTS = ["ann", "bob", "cid", "dan"]


@pytest.fixture
def played() -> Played:
    played = Played()
    for client in CLIENTS:
        played.connect(client, expiry=100)
    return played


def test_overlapping_subscriptions_make_one_delivery(played: Played) -> None:
    # [MQTT-3.3.4-2] [MQTT-3.3.4-4]
    for pattern, quality, identifier in (("a/+", 1, 3), ("a/b", 2, 4), ("#", 0, 0)):
        played.subscribe("ann", pattern, quality, identifier=identifier)
    played.publish("bob", "a/b", quality=2, ticket=1)
    delivery = played.delivery("ann")
    assert delivery.quality == 2
    assert sorted(delivery.identifiers) == [3, 4]


@pytest.mark.parametrize(("published", "wanted"), [(p, w) for p in (0, 1, 2) for w in (0, 1, 2)])
def test_the_lesser_quality_is_delivered(played: Played, published: int, wanted: int) -> None:
    # [MQTT-3.8.4-8]
    played.subscribe("ann", "t", wanted)
    played.publish("bob", "t", quality=published, ticket=published == 2)
    delivery = played.delivery("ann")
    assert delivery.quality == min(published, wanted)
    assert (delivery.ticket > 0) is (delivery.quality > 0)


def test_no_local_leaves_out_what_one_published_oneself(played: Played) -> None:
    # [MQTT-3.8.3-3]
    played.subscribe("ann", "t", no_local=True)
    for _ in range(2):
        played.publish("ann", "t")
        played.publish("bob", "t")
    assert len(played.take("ann")) == 2


def test_no_local_speaks_only_for_its_own_subscription(played: Played) -> None:
    played.subscribe("ann", "t", 2, no_local=True, identifier=1)
    played.subscribe("ann", "#", 0, identifier=2)
    played.publish("ann", "t", quality=2, ticket=1)
    delivery = played.delivery("ann")
    assert (delivery.quality, delivery.identifiers) == (0, (2,))


def test_whether_anyone_wants_an_event_is_answered(played: Played) -> None:
    played.subscribe("ann", "t")
    for _ in range(2):  # the second time from memory
        assert played.publish("bob", "t") == "success"
        assert played.publish("bob", "elsewhere") == "nobody wants the event"
    played.lose("ann")
    assert played.publish("bob", "t") == "success"  # its session still wants it
    assert played.broker.counters.unmatched == 2


@pytest.mark.parametrize("topic", ["a/+", "#", "", "a\0b", "x" * 70_000])
def test_what_is_no_topic_is_refused(played: Played, topic: str) -> None:
    assert played.publish("ann", topic) == "not a topic"


def test_a_topic_deeper_than_allowed_is_refused() -> None:
    played = Played(Limits(levels=3))
    played.connect("ann")
    assert played.publish("ann", "a/b/c") == "nobody wants the event"
    assert played.publish("ann", "a/b/c/d") == "a limit is reached"


def test_an_event_that_has_expired_reaches_nobody(played: Played) -> None:
    played.subscribe("ann", "t")
    assert played.publish("bob", "t", expires_at=played.now) == "success"
    assert played.take("ann") == []


def test_a_repeated_event_of_quality_2_is_answered_and_not_routed(played: Played) -> None:
    # [MQTT-4.3.3-10]
    played.subscribe("ann", "t", 2)
    for _ in range(3):
        assert played.publish("bob", "t", quality=2, ticket=5) == "success"
    assert len(played.take("ann")) == 1
    # [MQTT-4.3.3-12]
    assert played.done(played.broker.release("bob", 5, played.now)) == "success"
    played.publish("bob", "t", quality=2, ticket=5)
    assert len(played.take("ann")) == 1


def test_events_are_numbered_without_gaps(played: Played) -> None:
    played.subscribe("ann", "t")
    numbers = []
    for quality in (0, 1, 0, 0, 2):
        reply = played.broker.publish("bob", Event("t", quality=quality, publisher="bob"), played.now)
        numbers += [effect.sequence for effect in reply.effects]  # type: ignore[union-attr]
    assert numbers == [1, 2, 3, 4, 5]
    assert played.broker.holdings().sequence == 5


def test_a_broker_that_tells_all_names_every_event_once() -> None:
    played = Played(tells_all=True)
    played.connect("ann", will=Will(Event("will")))
    played.publish("ann", "retained", is_retained=True)
    told = [1]
    for _ in range(2):
        reply = played.broker.publish("ann", Event("nobody/wants", publisher="ann"), played.now)
        told += [effect.sequence for effect in reply.effects if isinstance(effect, FanOut)]
    reply = played.broker.lost("ann", played.now, connection=played.connection("ann"))  # type: ignore[assignment]
    told += [effect.sequence for effect in reply.effects if isinstance(effect, FanOut)]
    assert told == [1, 2, 3, 4]


def test_a_shadow_is_counted_and_gets_nothing(played: Played) -> None:
    played.subscribe("ann", "a/+", is_shadow=True, where="k = 1")
    for payload in (b'{"k": 1}', b'{"k": 2}', b'{"k": 1}'):
        assert played.publish("bob", "a/b", payload) in ("success", "nobody wants the event")
    (interest,) = played.broker.subscriptions()
    assert (interest.seen, played.take("ann")) == (2, [])


def test_other_nodes_are_told_what_they_want() -> None:
    class Others:
        def nodes_for(self, topic: str) -> tuple[str, ...]:
            return ("n2", "n3") if topic == "t" else ()

    played = Played(peers=Others())
    played.connect("ann")
    played.subscribe("ann", "t")
    for _ in range(2):
        assert played.publish("ann", "t") == "success"
    assert played.publish("ann", "u") == "nobody wants the event"
    played.done(played.broker.announce(Event("t"), played.now, is_local=True))
    assert [(forward.event.topic, forward.nodes) for forward in played.forwarded] == [("t", ("n2", "n3"))] * 2
    assert len(played.take("ann")) == 3


def test_the_broker_explains_who_wants_an_event(played: Played) -> None:
    played.subscribe("ann", "a/+", where="k > 1")
    played.subscribe("bob", "$share/g/a/#")
    (subscription,) = played.broker.match("a/b", {"k": 1})
    assert (subscription.subscriber, subscription.data.session.client) == ("bob", "bob")
    (ann,) = [interest for interest in played.broker.subscriptions() if interest.session.client == "ann"]
    explanation = played.broker.explain("a/b", {"k": 1}, ann.subscription.id)
    assert not explanation.is_match
    assert "k" in explanation.reason


# ── shares ────────────────────────────────────────────────────────────────────────────────


def gets(played: Played) -> Counter[str]:
    return Counter({client: len(played.take(client)) for client in CLIENTS if played.inbox[client]})


def test_the_members_of_a_share_take_turns(played: Played) -> None:
    for client in ("ann", "bob", "cid"):
        played.subscribe(client, "$share/g/a/+", 1)
    for _ in range(6):
        played.publish("dan", "a/b", quality=1)
    assert gets(played) == {"ann": 2, "bob": 2, "cid": 2}


def test_each_share_gets_its_own_copy_and_so_does_each_plain_subscription(played: Played) -> None:
    played.subscribe("ann", "$share/g/t")
    played.subscribe("ann", "$share/h/t")
    played.subscribe("ann", "t")
    played.publish("dan", "t")
    assert gets(played) == {"ann": 3}


def test_members_that_are_there_come_first(played: Played) -> None:
    for client in ("ann", "bob"):
        played.subscribe(client, "$share/g/t", 1)
    played.lose("ann")
    for _ in range(4):
        played.publish("dan", "t", quality=1)
    assert gets(played) == {"bob": 4}


def test_with_nobody_there_one_member_that_will_come_back_is_owed_it(played: Played) -> None:
    for client in ("ann", "bob"):
        played.subscribe(client, "$share/g/t", 1)
        played.lose(client)
    for _ in range(4):
        played.publish("dan", "t", quality=1)
    for client in ("ann", "bob"):
        played.connect(client, clean=False, expiry=100)
    assert gets(played) == {"ann": 2, "bob": 2}


def test_a_member_that_does_not_keep_up_is_passed_over() -> None:
    played = Played(Limits(queued=2))
    for client in CLIENTS:
        played.connect(client, window=1)
    for client in ("ann", "bob"):
        played.subscribe(client, "$share/g/t", 1)
    for _ in range(20):
        played.publish("dan", "t", quality=1)
        for delivery in played.deliveries("bob"):
            played.acknowledge("bob", delivery.ticket)
    assert len(played.take("ann")) == 1
    session = played.broker.session("ann")
    assert session is not None
    assert session.outbox.waiting == 2
    assert not played.held


def test_a_group_named_beside_the_pattern_works_in_every_dialect(played: Played) -> None:
    for client in ("ann", "bob"):
        played.subscribe(client, "a*", dialect="glob", group="g")
    for _ in range(4):
        played.publish("dan", "a/b")
    assert gets(played) == {"ann": 2, "bob": 2}


def test_a_share_that_is_gone_is_forgotten(played: Played) -> None:
    played.subscribe("ann", "$share/g/t")
    played.publish("dan", "t")
    played.unsubscribe("ann", "$share/g/t")
    interests = played.broker._interests
    assert (interests.turns, interests._members) == ({}, {})


# ── the hot path ──────────────────────────────────────────────────────────────────────────


def test_a_busy_topic_costs_the_same_tuple_again(played: Played) -> None:
    for client in CLIENTS:
        played.subscribe(client, "t")
    event = Event("t", publisher="ann")
    replies = [played.broker.publish("ann", event, played.now) for _ in range(3)]
    assert replies[1].effects[0].deliveries is replies[2].effects[0].deliveries  # type: ignore[union-attr]


@pytest.mark.parametrize("how", ["lose", "congest", "unsubscribe", "subscribe more", "come back", "replace"])
def test_what_is_remembered_of_a_topic_is_never_stale(played: Played, how: str) -> None:
    played.subscribe("ann", "a/+")
    played.subscribe("bob", "a/b")
    for _ in range(2):
        played.publish("dan", "a/b")
    gets(played)
    if how == "lose":
        played.lose("ann")
        expected = {"bob": 1}
    elif how == "congest":
        played.congested("ann", True)
        expected = {"bob": 1}
    elif how == "unsubscribe":
        played.unsubscribe("ann", "a/+")
        expected = {"bob": 1}
    elif how == "subscribe more":
        played.subscribe("cid", "#")
        expected = {"ann": 1, "bob": 1, "cid": 1}
    elif how == "come back":
        played.connect("ann", clean=False, expiry=100)
        expected = {"ann": 1, "bob": 1}
    else:
        played.subscribe("ann", "a/+", where="k = 1")
        expected = {"bob": 1}
    played.publish("dan", "a/b")
    assert gets(played) == expected


@given(st.lists(topics().filter(bool), min_size=1, max_size=30))
def test_remembering_changes_nothing(published: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(interests_module, "MOST_REMEMBERED", 60)
        played = Played()
        for number, pattern in enumerate(["#", "a/+", "+", "a/b", "+/a/#"]):
            played.connect(f"c{number}")
            played.done(played.broker.subscribe(f"c{number}", [Wish(pattern, identifier=number)], 0.0))
        for topic in [*published, *published]:
            played.publish("c0", topic)
            assert len(played.broker._interests.audiences) <= 3
        for number in range(5):
            got = Counter(event.topic for event, _ in played.take(f"c{number}"))
            wanted = [t for t in published if number in _wanting(played, t)]
            assert got == Counter([*wanted, *wanted])


def _wanting(played: Played, topic: str) -> set[int]:
    return {subscription.data.wish.identifier for subscription in played.broker.match(topic)}
