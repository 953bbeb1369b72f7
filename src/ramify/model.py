"""The values that ramify is about: patterns, criteria, subscriptions and matches.

All of them are frozen and complete. A text becomes one of them at the edge (`patterns`,
`criteria`), and from there on nothing is parsed again.

Those that a store makes by the million are msgspec structs, which are made six times faster
than frozen dataclasses; they read the same. Most are hidden from the garbage collector
(`gc=False`): being frozen and made of frozen parts they cannot form a cycle, and a collector
that looks at millions of them in vain takes half the time of filling a store.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from msgspec import Struct

# ── patterns ──────────────────────────────────────────────────────────────────────────────


class Dialect(StrEnum):
    """The syntax that a pattern is written in."""

    MQTT = "mqtt"
    WAMP = "wamp"
    PATH = "path"
    GLOB = "glob"
    NATS = "nats"


class Rest(StrEnum):
    """How many further levels a pattern takes behind the ones it names."""

    NONE = "none"
    ANY = "zero or more"
    SOME = "one or more"


class LevelRules(Struct, frozen=True, gc=False):
    """What the dialects that split topics into levels disagree about."""

    separator: str
    wildcard_takes_empty: bool
    hides_internal: bool = False
    """Whether a leading wildcard is blind to topics that start with `$`."""


class Exact(Struct, frozen=True, gc=False):
    """Matches the one topic that equals the text."""

    text: str


class Levels(Struct, frozen=True, gc=False):
    """Matches topics level by level; `None` stands for any one level."""

    rules: LevelRules
    levels: tuple[str | None, ...]
    rest: Rest = Rest.NONE


class Glob(Struct, frozen=True, gc=False):
    """Matches the literal pieces in this order, with any text between them.

    The first piece is anchored at the start and the last one at the end, so there are two
    pieces at least, and `*` alone is `("", "")`.
    """

    pieces: tuple[str, ...]


Form = Exact | Levels | Glob
"""What a pattern means, whichever dialect said it: equal forms match equal topics."""


class Pattern(Struct, frozen=True, gc=False):
    """An expression over topics, as it was written and what it means."""

    text: str
    dialect: Dialect
    form: Form
    group: str | None = None
    """The share group that the text itself names (`$share/group/…`)."""
    match: str | None = None
    """How WAMP says that the text is to be read: exact, prefix or wildcard."""


# ── criteria ──────────────────────────────────────────────────────────────────────────────

Scalar = bool | int | float | str
Path = tuple[str, ...]
"""Where a field stands in nested content: `meta.source` is `("meta", "source")`."""

Fields = Mapping[str, Any]
"""The content of an event."""


class Operator(StrEnum):
    """How a comparison relates a field to a value."""

    EQ = "="
    NE = "!="
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="


class Comparison(Struct, frozen=True, gc=False):
    """`price >= 2.5`."""

    path: Path
    operator: Operator
    value: Scalar


class Membership(Struct, frozen=True, gc=False):
    """`side in ('back', 'lay')`."""

    path: Path
    values: tuple[Scalar, ...]


class Between(Struct, frozen=True, gc=False):
    """`price between 2 and 3`, both ends included."""

    path: Path
    low: Scalar
    high: Scalar


class Like(Struct, frozen=True, gc=False):
    """`name like 'Foo%'`: the literal pieces in order, anchored as in `Glob`; one piece is equality."""

    path: Path
    pieces: tuple[str, ...]


class Exists(Struct, frozen=True, gc=False):
    """`exists(meta.source)`: the field is there and not null."""

    path: Path


class All(Struct, frozen=True, gc=False):
    """`a and b`; without terms it always holds."""

    terms: tuple[Term, ...]


class AnyOf(Struct, frozen=True, gc=False):
    """`a or b`; without terms it never holds."""

    terms: tuple[Term, ...]


class Not(Struct, frozen=True, gc=False):
    """`not a`; does not make a comparison with a missing field true."""

    term: Term


Atom = Comparison | Membership | Between | Like | Exists
Term = Atom | All | AnyOf | Not


class Criteria(Struct, frozen=True, gc=False):
    """A condition on the fields of an event, as it was written and what it means."""

    text: str
    term: Term


ALWAYS = Criteria("", All(()))

# ── subscriptions and what comes of them ──────────────────────────────────────────────────


class Subscription(Struct, frozen=True):
    """One subscriber's standing interest in the topics a pattern describes."""

    id: str
    subscriber: str
    pattern: Pattern
    criteria: Criteria = ALWAYS
    data: Any = None
    group: str | None = None


class Match(Struct, frozen=True, eq=False):
    """A subscription that wants an event.

    There is one match per live subscription, made when it subscribes, so matches are compared
    and hashed by identity: that is what lets the index hand out whole buckets of them.
    """

    subscription: Subscription


@dataclass(frozen=True, slots=True)
class Entry:
    """All that one subscriber holds on one pattern and that wants an event."""

    subscriber: str
    pattern: str
    ref_count: int
    data: dict[str, Any]
    """The data of each subscription, by its id."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Whether a subscription wants an event, and why."""

    subscription: Subscription
    is_match: bool
    reason: str

    def __str__(self) -> str:
        return f"{'match' if self.is_match else 'no match'}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Plan:
    """Where a subscription is filed, and what is left to test on the events that get there."""

    probe: str
    """What is looked up with an event's topic."""
    keys: tuple[str, ...]
    """What is looked up with its fields; each entry stands for one alternative of the criteria."""
    residual: str
    """What is tested on what those look-ups find."""
    share: float
    """The share of events that is expected to get there."""

    def __str__(self) -> str:
        keys = " or ".join(self.keys) or "none"
        return f"topic: {self.probe}; keys: {keys}; then test: {self.residual or 'nothing'}"


@dataclass(frozen=True, slots=True)
class Statistics:
    """How often events carried which topics and values: what a planner knows of the traffic."""

    events: int
    values: Mapping[str, Mapping[Scalar, int]] = field(default_factory=dict)
    """For each field (a dotted path), how many events carried each value."""
    topics: Mapping[str, int] = field(default_factory=dict)
