"""A trie walks only where the topic and the patterns agree, and keeps no node that nobody needs."""

from __future__ import annotations

from typing import Any

import pytest

from ramify.index.trie import Trie
from ramify.model import Levels
from ramify.patterns import mqtt, parse_pattern


def form(text: str, dialect: str = "mqtt") -> Levels:
    levels = parse_pattern(text, dialect).form
    assert isinstance(levels, Levels)
    return levels


def found(trie: Trie, topic: str, separator: str = "/") -> list[Any]:
    out: list[Any] = []
    trie.find(topic, topic.split(separator), out)
    return sorted(out)


@pytest.mark.parametrize(
    ("text", "topic", "is_found"),
    [
        ("#", "a", True),
        ("#", "$a", False),
        ("+/b", "$a/b", False),
        ("$a/#", "$a", True),
        ("$a/+", "$a/b", True),
        ("a/#", "a", True),
        ("a/+/#", "a", False),
        ("+/+", "/", True),
    ],
)
def test_the_rules_of_mqtt_hold_in_the_trie(text: str, topic: str, is_found: bool) -> None:
    trie = Trie(mqtt.RULES)
    trie.add(form(text), text)
    assert found(trie, topic) == [text] * is_found


@pytest.mark.parametrize(
    ("text", "topic", "is_found"),
    [(">", "a", True), ("a.>", "a", False), ("a.>", "a.", True), ("a.*", "a.", False), ("*.b", ".b", False)],
)
def test_the_rules_of_nats_hold_in_the_trie(text: str, topic: str, is_found: bool) -> None:
    levels = form(text, "nats")
    trie = Trie(levels.rules)
    trie.add(levels, text)
    assert found(trie, topic, ".") == [text] * is_found


def test_removing_prunes_what_only_the_pattern_needed() -> None:
    trie = Trie(mqtt.RULES)
    for text in ("a/+/c", "a/+", "a/+/#"):
        trie.add(form(text), text)
    trie.remove(form("a/+/c"), "a/+/c")
    assert found(trie, "a/b/c") == ["a/+/#"]
    assert found(trie, "a/b") == ["a/+", "a/+/#"]
    trie.remove(form("a/+"), "a/+")
    assert not trie.is_empty
    trie.remove(form("a/+/#"), "a/+/#")
    assert trie.is_empty


def test_many_items_under_one_pattern_are_all_found() -> None:
    trie = Trie(mqtt.RULES)
    for number in range(100):
        trie.add(form("a/+"), number)
    assert found(trie, "a/b") == list(range(100))
