"""Chooses the one member of a share group that gets an event.

No policy reads a clock or rolls dice: what looks random is a hash of a count and a seed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from hashlib import blake2b
from itertools import count

from ramify.errors import InvalidSubscription
from ramify.model import Match, Subscription


class Policy:
    """How a share group chooses among its members; this one takes the first."""

    def choose(self, group: Hashable, members: list[Match], topic: str) -> Match:
        """Say which of the members that want the event gets it."""
        return members[0]

    def forget(self, group: Hashable) -> None:
        """Drop what was remembered of a group whose last member has left."""


class RoundRobin(Policy):
    """Each member in turn."""

    def __init__(self) -> None:
        self._turns: dict[Hashable, count[int]] = {}

    def choose(self, group: Hashable, members: list[Match], topic: str) -> Match:
        """Take the next one."""
        turn = self._turns.get(group)
        if turn is None:
            turn = self._turns.setdefault(group, count())
        return members[next(turn) % len(members)]

    def forget(self, group: Hashable) -> None:
        """Start again from the first member, should the group come back."""
        self._turns.pop(group, None)


class PseudoRandom(Policy):
    """Any member, with equal chances."""

    def __init__(self, seed: bytes = b"ramify") -> None:
        self._seed = seed
        self._draws = count()

    def choose(self, group: Hashable, members: list[Match], topic: str) -> Match:
        """Draw one."""
        return members[_number(next(self._draws).to_bytes(8, "big"), self._seed) % len(members)]


class Sticky(Policy):
    """The same member for as long as it is there and wants the events."""

    def __init__(self) -> None:
        self._chosen: dict[Hashable, Match] = {}

    def choose(self, group: Hashable, members: list[Match], topic: str) -> Match:
        """Stay with the last one, if it is among them."""
        last = self._chosen.get(group)
        if last is None or last not in members:
            last = self._chosen[group] = members[0]
        return last

    def forget(self, group: Hashable) -> None:
        """Let go of the member."""
        self._chosen.pop(group, None)


class ByTopic(Policy):
    """The same member for the same topic, as long as the members stay the same."""

    def choose(self, group: Hashable, members: list[Match], topic: str) -> Match:
        """Let the topic decide."""
        return members[_number(topic.encode("utf-8", "surrogatepass")) % len(members)]


POLICIES: dict[str, Callable[[], Policy]] = {
    "round-robin": RoundRobin,
    "random": PseudoRandom,
    "sticky": Sticky,
    "topic": ByTopic,
}


def policy_named(name: str) -> Policy:
    """A fresh policy of that name."""
    if name not in POLICIES:
        raise InvalidSubscription(f"unknown share policy {name!r}; the policies are {', '.join(POLICIES)}")
    return POLICIES[name]()


def collapse(matches: list[Match], topic: str, policy: Policy) -> list[Match]:
    """Keep one member of each share group, and everyone who is in none."""
    alone: list[Match] = []
    groups: dict[Hashable, list[Match]] = {}
    for match in matches:
        group = group_of(match.subscription)
        if group is None:
            alone.append(match)
        else:
            groups.setdefault(group, []).append(match)
    return alone + [policy.choose(group, members, topic) for group, members in groups.items()]


def group_of(subscription: Subscription) -> Hashable | None:
    """What tells share groups apart.

    A group named in the pattern is one with the same pattern only; one named
    beside it is the same whatever its members' patterns.
    """
    if subscription.group is None:
        return None
    return subscription.group, subscription.pattern.text if subscription.pattern.group else None


def _number(data: bytes, key: bytes = b"") -> int:
    return int.from_bytes(blake2b(data, digest_size=8, key=key).digest(), "big")
