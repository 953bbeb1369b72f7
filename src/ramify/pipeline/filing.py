"""Says under which probe and key a join finds a subscription, or that an index has to.

A join finds what it can look up: a pattern of levels or an exact one, and of its criteria at most
one equality, the rarest. All else of the criteria is tested on what was found. Globs, alternatives
(`or`), criteria without an equality, and very deep patterns go into the index.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec
from pyspark.sql import Column
from pyspark.sql import functions as F

from ramify.criteria import clauses
from ramify.criteria.kinds import Kind, kind_of
from ramify.criteria.plan import EqualityKey, expected_share, keys_of
from ramify.index.probes import literal_places
from ramify.model import ALWAYS, Exact, Levels, Path, Rest, Scalar, Statistics, Subscription
from ramify.pipeline.content import canonical
from ramify.pipeline.schema import OURS, TOPIC, quoted

DEEP = 32
EXACT = "exact"

Place = tuple[str | None, str | None, str | None, list[str] | None]
"""Probe, key, path and values; all `None` for what the index has to find."""
NOWHERE: Place = (None, None, None, None)


class Probe(NamedTuple):
    """Which levels of a topic to look at, and which topics to look at all."""

    separator: str
    takes_empty: bool
    hides_internal: bool
    rest: str
    size: int
    literal: tuple[int, ...]


@dataclass(slots=True)
class Sample:
    """Which values some of the subscriptions ask for: what tells a rare equality from a common one."""

    statistics: Statistics | None = None
    counts: Counter[tuple[Path, Kind, Scalar]] = field(default_factory=Counter)
    size: int = 0

    def filed(self) -> int:
        """How many clauses in all."""
        return self.size

    def filed_under(self, path: Path, value: Scalar) -> int:
        """How many clauses ask for this value."""
        return self.counts[path, kind_of(value), value]

    def take(self, subscription: Subscription) -> None:
        """Count what a subscription asks for."""
        equalities = _equalities(subscription) or []
        self.size += bool(equalities)
        for key in equalities:
            self.counts.update((key.path, kind_of(value), value) for value in key.values)


def place_of(subscription: Subscription, sample: Sample) -> Place:
    """Where a join finds a subscription."""
    found = _topic_key(subscription)
    if found is None:
        return NOWHERE
    if subscription.criteria.term == ALWAYS.term:
        return *found, None, None
    equalities = _equalities(subscription)
    if not equalities:
        return NOWHERE
    rarest = min(equalities, key=lambda key: expected_share(key, sample, sample.statistics))
    values = dict.fromkeys(canonical(value) for value in rarest.values)
    return *found, _text(rarest.path), [value for value in values if value is not None]


def _topic_key(subscription: Subscription) -> tuple[str, str] | None:
    form = subscription.pattern.form
    if isinstance(form, Exact):
        return EXACT, form.text
    if not isinstance(form, Levels) or len(form.levels) > DEEP:
        return None
    rules, literal = form.rules, literal_places(form.levels)
    probe = Probe(
        rules.separator,
        rules.wildcard_takes_empty,
        rules.hides_internal,
        form.rest.value,
        len(form.levels),
        literal,
    )
    return _text(probe), rules.separator.join(form.levels[at] or "" for at in literal)


def _equalities(subscription: Subscription) -> list[EqualityKey] | None:
    """The equalities that all must hold; `None` if there is no single clause that says so."""
    found = clauses(subscription.criteria.term)
    if found is None or len(found) != 1:
        return None
    return [key for key in keys_of(found[0]) if isinstance(key, EqualityKey)]


def _text(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def read_path(text: str) -> Path:
    """The path that a place names."""
    return tuple(msgspec.json.decode(text, type=list[str]))


# ── the same for events, in Catalyst ──────────────────────────────────────────────────────


def words(probes: Iterable[str]) -> dict[str, Column]:
    """The columns that `key_of` asks for: topics split into words, once for each way to split them."""
    separators = {msgspec.json.decode(probe)[0] for probe in probes if probe != EXACT}
    return {_words_name(sign): F.split(quoted(TOPIC), f"[{sign}]", -1) for sign in separators}


def _words_name(separator: str) -> str:
    return f"{OURS}words_{ord(separator)}"


def key_of(probe: str) -> tuple[Column, Column]:
    """Whether a topic has a key under a probe, and that key."""
    topic = F.col(quoted(TOPIC))
    if probe == EXACT:
        return topic.isNotNull(), topic
    separator, takes_empty, hides_internal, rest, size, literal = msgspec.json.decode(
        probe, type=tuple[str, bool, bool, str, int, tuple[int, ...]]
    )
    words = F.col(_words_name(separator))
    has_key = _takes_count(F.size(words), size, rest)
    if hides_internal and (not literal or literal[0] != 0):
        has_key &= ~topic.startswith("$")
    if not takes_empty:
        for at in set(range(size)) - set(literal):
            has_key &= F.get(words, F.lit(at)) != ""
    return has_key, F.array_join(F.array(*(F.get(words, F.lit(at)) for at in literal)), separator)


def _takes_count(count: Column, size: int, rest: str) -> Column:
    if rest == Rest.NONE:
        return count == size
    return count >= (max(size, 1) if rest == Rest.ANY else size + 1)
