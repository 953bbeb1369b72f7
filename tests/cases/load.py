"""The tables of truth beside this file, as frozen cases for every matcher to agree with."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class GlobCase:
    """Globs beside each other, and the indexes of those that match the topic."""

    patterns: tuple[str, ...]
    topic: str
    expected: frozenset[int]
    note: str = ""


@dataclass(frozen=True, slots=True)
class MatchCase:
    """A pattern, a topic, and whether they match."""

    pattern: str
    topic: str
    match: bool
    ref: str = ""


@dataclass(frozen=True, slots=True)
class ShareCase:
    """A pattern that may name a share group, the pattern within, a topic, and whether they match."""

    pattern: str
    topic: str
    match: bool
    group: str | None
    real_pattern: str
    ref: str = ""


@dataclass(frozen=True, slots=True)
class ValidCase:
    """A text, and whether it is a pattern in MQTT 5 and in MQTT 3.1.1."""

    pattern: str
    valid: bool
    valid_v311: bool
    ref: str = ""


@dataclass(frozen=True, slots=True)
class BytesCase:
    """Bytes, and whether they are a pattern in MQTT."""

    pattern: bytes
    valid: bool
    ref: str = ""


@dataclass(frozen=True, slots=True)
class TopicCase:
    """A text, and whether an event can be published on it."""

    topic: str
    valid: bool
    ref: str = ""


@dataclass(frozen=True, slots=True)
class StoreStep:
    """One step on a store of globs, and the refs that it removes or finds."""

    op: str
    pattern: str = ""
    subscriber: str = ""
    topic: str = ""
    ref: int | None = None
    expected: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class StoreScript:
    """Steps on one store, in order."""

    steps: tuple[StoreStep, ...]


@dataclass(frozen=True, slots=True)
class TrieOp:
    """One operation on a store of MQTT patterns; the arguments are those of `README.md`."""

    name: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class TrieScript:
    """Operations on one store, in order."""

    name: str
    ops: tuple[TrieOp, ...]

    def __str__(self) -> str:
        return self.name


def glob_match() -> list[GlobCase]:
    return [
        GlobCase(tuple(row["patterns"]), row["topic"], frozenset(row["expected"]), row.get("note", ""))
        for row in _rows("glob_match")
    ]


def mqtt_match() -> list[MatchCase]:
    return [MatchCase(row["filter"], row["topic"], row["match"], row["ref"]) for row in _rows("mqtt_match")]


def wamp_match() -> list[MatchCase]:
    return [MatchCase(row["pattern"], row["topic"], row["match"]) for row in _rows("wamp_match")]


def mqtt_share() -> list[ShareCase]:
    return [
        ShareCase(row["filter"], row["topic"], row["match"], row["group"], row["real_filter"], row["ref"])
        for row in _rows("mqtt_share")
    ]


def mqtt_valid() -> list[ValidCase]:
    return [
        ValidCase(row["filter"], row["valid"], row["valid_v311"], row["ref"]) for row in _rows("mqtt_valid")
    ]


def mqtt_valid_repeat() -> list[ValidCase]:
    return [
        ValidCase(row["repeat"] * row["times"], row["valid"], row["valid"], row["ref"])
        for row in _rows("mqtt_valid_repeat")
    ]


def mqtt_valid_hex() -> list[BytesCase]:
    return [
        BytesCase(bytes.fromhex(row["filter_hex"]), row["valid"], row["ref"])
        for row in _rows("mqtt_valid_hex")
    ]


def mqtt_topic_valid() -> list[TopicCase]:
    return [TopicCase(row["topic"], row["valid"], row["ref"]) for row in _rows("mqtt_topic_valid")]


def store_scripts() -> list[StoreScript]:
    return [StoreScript(tuple(_store_step(step) for step in row["steps"])) for row in _rows("store_scripts")]


def mqtt_trie_scripts() -> list[TrieScript]:
    return [
        TrieScript(row["name"], tuple(TrieOp(name, tuple(arguments)) for name, *arguments in row["ops"]))
        for row in _rows("mqtt_trie_scripts")
    ]


def _store_step(step: dict[str, Any]) -> StoreStep:
    return StoreStep(**{**step, "expected": tuple(step.get("expected", ()))})


def _rows(table: str) -> list[dict[str, Any]]:
    with (FOLDER / f"{table}.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
