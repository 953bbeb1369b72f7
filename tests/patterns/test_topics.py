"""A topic is taken if an event can have it in the dialect."""

import pytest

from ramify.errors import InvalidTopic, UnknownDialect
from ramify.model import Dialect
from ramify.patterns import validate_topic
from tests.cases import load
from tests.cases.load import TopicCase

REFUSED = [
    ("mqtt", "", 1, "a topic has at least one character"),
    ("mqtt", "a/+", 3, "'+' is not allowed"),
    ("mqtt", "a#+", 2, "'#' is not allowed"),
    ("wamp", "", 1, "a level between '.' has at least one character"),
    ("wamp", "a..b", 3, "a level between '.' has at least one character"),
    ("wamp", "a b", 2, "whitespace is not allowed"),
    ("wamp", "a.#", 3, "'#' is not allowed"),
    ("nats", "a.", 3, "a level between '.' has at least one character"),
    ("nats", "a\tb", 2, "whitespace is not allowed"),
    ("nats", "a.>*", 3, "'>' is not allowed"),
]

TAKEN = [
    ("mqtt", "a b/*/>//"),
    ("wamp", "a/b.+_*"),
    ("nats", "a/b.+#"),
    ("path", ""),
    ("path", "/a//*"),
    ("glob", ""),
    ("glob", "a*\n"),
]


@pytest.mark.parametrize(("dialect", "topic", "column", "reason"), REFUSED)
def test_a_topic_is_refused_at_its_culprit(dialect: str, topic: str, column: int, reason: str) -> None:
    with pytest.raises(InvalidTopic) as refused:
        validate_topic(topic, dialect)
    assert (refused.value.column, refused.value.reason) == (column, reason)


@pytest.mark.parametrize(("dialect", "topic"), TAKEN)
def test_a_good_topic_is_returned(dialect: str, topic: str) -> None:
    assert validate_topic(topic, Dialect(dialect)) == topic


@pytest.mark.parametrize("case", load.mqtt_topic_valid(), ids=lambda case: case.topic)
def test_mqtt_takes_what_the_table_takes(case: TopicCase) -> None:
    try:
        taken = validate_topic(case.topic) == case.topic
    except InvalidTopic:
        taken = False
    assert taken is case.valid


def test_an_unknown_dialect_is_refused() -> None:
    with pytest.raises(UnknownDialect):
        validate_topic("a", "amqp")
