"""Which texts can be the topic of an event, in each dialect."""

from __future__ import annotations

from dataclasses import dataclass

from ramify.errors import InvalidTopic
from ramify.model import Dialect
from ramify.patterns.parse import known_dialect
from ramify.patterns.text import check_text, check_whitespace, with_columns


@dataclass(frozen=True, slots=True)
class TopicRules:
    """What a dialect asks of a topic, beyond what all of them ask of a text."""

    forbidden: str = ""
    takes_whitespace: bool = True
    takes_empty: bool = True
    full_levels: str | None = None
    """The separator between levels that must not be empty."""


RULES = {
    Dialect.MQTT: TopicRules(forbidden="+#", takes_empty=False),
    Dialect.WAMP: TopicRules(forbidden="#", takes_whitespace=False, full_levels="."),
    Dialect.PATH: TopicRules(),
    Dialect.GLOB: TopicRules(),
    Dialect.NATS: TopicRules(forbidden="*>", takes_whitespace=False, full_levels="."),
}


def validate_topic(topic: str, dialect: Dialect | str = "mqtt") -> str:
    """Return the topic, or raise `InvalidTopic` if no event can have it."""
    rules = RULES[known_dialect(dialect)]
    check_text(topic, InvalidTopic)
    if not rules.takes_whitespace:
        check_whitespace(topic, InvalidTopic)
    if not rules.takes_empty and not topic:
        raise InvalidTopic(topic, 1, "a topic has at least one character")
    _check_characters(topic, rules.forbidden)
    if rules.full_levels is not None:
        _check_levels(topic, rules.full_levels)
    return topic


def _check_characters(topic: str, forbidden: str) -> None:
    found = [(topic.index(char), char) for char in forbidden if char in topic]
    if found:
        at, char = min(found)
        raise InvalidTopic(topic, at + 1, f"{char!r} is not allowed")


def _check_levels(topic: str, separator: str) -> None:
    for column, word in with_columns(topic.split(separator)):
        if not word:
            raise InvalidTopic(topic, column, f"a level between {separator!r} has at least one character")
