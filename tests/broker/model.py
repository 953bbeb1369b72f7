"""The plain model of a broker's world: devices as the standard wants them, and what each is owed."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import strategies as st

from ramify.broker import Delivery, Event, Release, Will, Wish
from ramify.criteria import holds, parse_criteria
from ramify.patterns import parse_pattern, pattern_matches

CLIENTS = ["ann", "bob", "cid"]
TOPICS = ["a/b", "a/c", "b", "a.b", "$a/b", "a"]
PATTERNS = [
    ("a/b", "mqtt"),
    ("a/+", "mqtt"),
    ("#", "mqtt"),
    ("a/#", "mqtt"),
    ("+/b", "mqtt"),
    ("a*", "glob"),
    ("a.>", "nats"),
    ("*/b", "path"),
    ("a._", "wamp"),
]
WHERES = ["", "", "", "k = 1", "k > 1", "not exists(k)"]

clients = st.sampled_from(CLIENTS)
topics = st.sampled_from(TOPICS)
qualities = st.sampled_from([0, 1, 2])
payloads = st.sampled_from(["k=1", "k=2", "none", "text"])
wishes = st.builds(
    lambda pattern, where, quality, no_local, handling: Wish(
        pattern[0], pattern[1], where, quality, no_local, retain_handling=handling
    ),
    st.sampled_from(PATTERNS),
    st.sampled_from(WHERES),
    qualities,
    st.booleans(),
    st.sampled_from([0, 1, 2]),
)


def payload_of(kind: str, token: int) -> bytes:
    """A payload that names its token, with a field or without, or no fields at all."""
    if kind == "text":
        return b"text %d" % token
    content = {"token": token} | ({"k": int(kind[-1])} if kind.startswith("k") else {})
    return json.dumps(content).encode()


def token_of(event: Event) -> int:
    text = event.payload.decode()
    return int(text.split()[1]) if text.startswith("text") else json.loads(text)["token"]


def fields_of(event: Event) -> dict[str, int] | None:
    return None if event.payload.startswith(b"text") else json.loads(event.payload)


def wants(wish: Wish, event: Event) -> bool:
    if not pattern_matches(parse_pattern(wish.pattern, wish.dialect), event.topic):
        return False
    fields = fields_of(event)
    return not wish.where or (fields is not None and holds(parse_criteria(wish.where), fields))


@dataclass
class Device:
    """A client as the standard wants it: remembers the tickets of quality 2 until they are released."""

    got: list[int] = field(default_factory=list)
    got_once: list[int] = field(default_factory=list)
    """Those of quality 2."""
    plain: list[int] = field(default_factory=list)
    held: set[int] = field(default_factory=set)
    to_say: deque[tuple[str, int]] = field(default_factory=deque)
    in_flight: set[int] = field(default_factory=set)
    window: int = 100

    def take(self, event: Event, delivery: Delivery) -> None:
        token = token_of(event)
        if delivery.quality == 0:
            assert not delivery.ticket
            self.plain.append(token)
            return
        assert 1 <= delivery.ticket <= 65_535
        assert delivery.ticket not in self.in_flight
        self.in_flight.add(delivery.ticket)
        assert len(self.in_flight) <= self.window
        if delivery.quality == 1:
            self.got.append(token)
            self.to_say.append(("acknowledge", delivery.ticket))
            return
        if delivery.ticket not in self.held:
            self.held.add(delivery.ticket)
            self.got.append(token)
            self.got_once.append(token)
        self.to_say.append(("received", delivery.ticket))

    def take_release(self, release: Release) -> None:
        self.held.discard(release.ticket)
        self.to_say.append(("completed", release.ticket))

    def break_off(self) -> None:
        self.to_say.clear()
        self.in_flight.clear()


@dataclass
class Owed:
    """What the model knows of a session."""

    expiry: float
    is_connected: bool = True
    is_congested: bool = False
    away_since: float = 0.0
    wishes: dict[object, Wish] = field(default_factory=dict)
    tokens: list[int] = field(default_factory=list)
    plain: list[int] = field(default_factory=list)
    plain_waiting: list[int] = field(default_factory=list)
    will: Will | None = None
    will_at: float | None = None

    def owe(self, token: int, quality: int) -> None:
        if quality:
            self.tokens.append(token)
        elif self.is_congested:
            self.plain_waiting.append(token)
        elif self.is_connected:
            self.plain.append(token)

    def congest(self, is_congested: bool, is_expired: Callable[[int], bool]) -> None:
        self.is_congested = is_congested
        if not is_congested:
            self.plain += [token for token in self.plain_waiting if not is_expired(token)]
            self.plain_waiting.clear()


def first_of_each(tokens: list[int]) -> list[int]:
    return list(dict.fromkeys(tokens))


def is_subsequence(few: list[int], many: list[int]) -> bool:
    rest = iter(many)
    return all(token in rest for token in few)
