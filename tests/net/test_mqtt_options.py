"""What ramify adds to MQTT: criteria, dialects, debouncing, shadows and deferring, as clients write them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ramify.broker import Debounce, Defer, Identity, Wish
from ramify.errors import InvalidSubscription
from ramify.mqtt import Reason, Version
from ramify.mqtt.packets import PubAck, Publish, Subscribe, SubscribeRequest, UnsubAck, Unsubscribe
from ramify.mqtt.properties import PublishProperties, SubscribeProperties, UnsubscribeProperties
from ramify.net.mqtt_options import defer_of, identity_of, wish_of
from tests.net.mqtt_served import ServedBroker, served_broker, talker


@pytest.fixture(scope="module")
def broker() -> Iterator[ServedBroker]:
    with served_broker() as broker:
        yield broker


def wish(name: str, *user: tuple[str, str], version: Version = Version.V5) -> Wish:
    request = SubscribeRequest(name, 1, retain_as_published=True, retain_handling=2)
    return wish_of(request, Subscribe(1, (request,), SubscribeProperties(5, user)), version)


PLAIN = Wish("a/b", quality=1, keeps_retained=True, retain_handling=2, identifier=5)

# ── reading ───────────────────────────────────────────────────────────────────────────────


def test_user_properties_become_a_wish() -> None:
    assert wish("a/b") == PLAIN
    assert wish("a/b", ("mine", "x")) == PLAIN
    full = wish(
        "a.*",
        ("where", "x = 1"),
        ("dialect", "nats"),
        ("group", "g"),
        ("debounce-quiet", "1.5"),
        ("debounce-max-wait", "9"),
        ("debounce-keep", "list"),
        ("shadow", "true"),
    )
    assert (full.pattern, full.dialect, full.where, full.group) == ("a.*", "nats", "x = 1", "g")
    assert (full.debounce, full.is_shadow) == (Debounce(1.5, 9.0, "list"), True)


def test_the_topic_form_says_the_same() -> None:
    said = '$ramify/{"where": "a = \'/}\'", "dialect": "glob", "debounce-quiet": 2, "shadow": true}/plant/*'
    full = wish(said, version=Version.V311)
    assert (full.pattern, full.dialect, full.where) == ("plant/*", "glob", "a = '/}'")
    assert (full.debounce, full.is_shadow, full.knows_shares) == (Debounce(2.0), True, False)
    assert identity_of(said, ()) == Identity("plant/*", "glob")


@pytest.mark.parametrize(
    ("name", "user", "told"),
    [
        ("a", ("debounce-quiet", "soon"), "debounce-quiet is a number of seconds, not 'soon'"),
        ("a", ("debounce-quiet", "nan"), "number of seconds"),
        ("a", ("debounce-quiet", "-1"), "number of seconds"),
        ("a", ("debounce-keep", "last"), "debounce-quiet, which is missing"),
        ("a", ("shadow", "perhaps"), "shadow is true or false"),
        ('$ramify/{"where": 5}/a', ("k", "v"), "where is a text, not 5"),
        ('$ramify/{"shadow": 1}/a', ("k", "v"), "shadow is true or false"),
        ('$ramify/{"quiet": 1}/a', ("k", "v"), "no option is called 'quiet'"),
        ('$ramify/{"where": }/a', ("k", "v"), "no JSON object"),
        ('$ramify/{"where": "x"}', ("k", "v"), "a pattern follows"),
        ("$ramify/" + '{"a":' * 100_000, ("k", "v"), "no JSON object"),
    ],
)
def test_what_cannot_be_carried_out_is_refused_in_words(name: str, user: tuple[str, str], told: str) -> None:
    with pytest.raises(InvalidSubscription, match=told):
        wish(name, user)


def test_defer_needs_no_key() -> None:
    def published(*user: tuple[str, str]) -> Publish:
        return Publish("a", properties=PublishProperties(user_properties=user))

    assert defer_of(published(("key", "k"))) is None
    assert defer_of(published(("defer", "2"))) == Defer("", 2.0)
    assert defer_of(published(("defer", "2"), ("key", "k"), ("defer-max-wait", "5"))) == Defer("k", 2.0, 5.0)
    with pytest.raises(InvalidSubscription, match="defer is a number"):
        defer_of(published(("defer", "x")))


# ── through the broker ────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("version", [Version.V311, Version.V5])
def test_criteria_choose_by_content(broker: ServedBroker, version: Version) -> None:
    with talker(broker.port, f"where{version}", version) as client:
        if version is Version.V5:
            client.subscribe("plant/+/temp", user=(("where", "celsius > 80"),))
        else:
            client.subscribe('$ramify/{"where": "celsius > 80"}/plant/+/temp')
        for celsius in (70, 90, 80, 81):
            client.say(Publish("plant/7/temp", b'{"celsius": %d}' % celsius))
        assert client.hear_event()[1] == b'{"celsius": 90}'
        assert client.hear_event()[1] == b'{"celsius": 81}'
        client.hear_nothing_before_a_ping()


def test_criteria_that_cannot_be_read_fail_their_entry_with_a_reason(broker: ServedBroker) -> None:
    with talker(broker.port, "unread") as client:
        answer = client.subscribe("a", '$ramify/{"where": "x = 1"}/b', user=(("where", "x >> 1"),))
        assert answer.reasons == (Reason.UNSPECIFIED_ERROR, Reason.GRANTED_QOS_0)
        assert "column" in str(answer.properties.reason_string)
        answer = client.subscribe("a", user=(("dialect", "klingon"),))
        assert answer.reasons == (Reason.IMPLEMENTATION_SPECIFIC_ERROR,)
        assert "klingon" in str(answer.properties.reason_string)
        answer = client.subscribe("a", "a/#/b", user=(("shadow", "x"),))
        assert answer.reasons == (Reason.IMPLEMENTATION_SPECIFIC_ERROR,) * 2
        assert client.subscribe("a/#/b").reasons == (Reason.TOPIC_FILTER_INVALID,)


def test_every_dialect_is_spoken_and_unsubscribed(broker: ServedBroker) -> None:
    with talker(broker.port, "dialects") as client:
        for dialect, pattern, topic in [
            ("glob", "d*lob", "d/glob"),
            ("wamp", "d..x", "d.wamp.x"),
            ("path", "d/*/path", "d/x/path"),
            ("nats", "d.nats.>", "d.nats.a.b"),
        ]:
            user = (("dialect", dialect),)
            assert client.subscribe(pattern, user=user).reasons == (Reason.GRANTED_QOS_0,)
            client.say(Publish(topic, b"x"))
            assert client.hear_event() == (topic, b"x")
            client.say(Unsubscribe(3, (pattern,), UnsubscribeProperties(user)))
            assert client.hear() == UnsubAck(3, (Reason.SUCCESS,))


def test_a_debounced_subscription_gets_the_last_of_a_burst(broker: ServedBroker) -> None:
    with talker(broker.port, "patient") as client:
        client.subscribe("burst", user=(("debounce-quiet", "0.1"),))
        client.say(*(Publish("burst", b"%d" % number) for number in range(5)))
        assert client.hear_event() == ("burst", b"4")


def test_a_shadow_gets_nothing(broker: ServedBroker) -> None:
    with talker(broker.port, "shadow") as client:
        client.subscribe("shade", user=(("shadow", "true"),))
        client.say(Publish("shade", b"x", 1, packet_id=1))
        assert client.hear() == PubAck(1)
        client.hear_nothing_before_a_ping()


def test_deferred_events_of_one_key_become_one(broker: ServedBroker) -> None:
    with talker(broker.port, "deferring") as client:
        client.subscribe("later/#")
        for number, key in enumerate(["a", "b", "a"]):
            said = PublishProperties(user_properties=(("defer", "0.1"), ("key", key)))
            client.say(Publish("later/x", b"%d" % number, 1, packet_id=5, properties=said))
            assert client.hear() == PubAck(5)
        assert sorted([client.hear_event()[1], client.hear_event()[1]]) == [b"1", b"2"]
        bad = PublishProperties(user_properties=(("defer", "soon"),))
        client.say(Publish("later/x", b"", 1, packet_id=6, properties=bad))
        answer = client.hear_a(PubAck)
        assert answer.reason is Reason.IMPLEMENTATION_SPECIFIC_ERROR
        assert "defer is a number" in str(answer.properties.reason_string)
        client.hear_nothing_before_a_ping()
