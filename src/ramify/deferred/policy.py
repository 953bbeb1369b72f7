"""When a key fires, and with what: the policy of a queue or of a single push.

A policy that cannot be carried out is refused when it is made, so that no queue ever holds one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from math import isfinite

from ramify.deferred.merge import LAST, Merge
from ramify.errors import InvalidPolicy


class Edge(StrEnum):
    """At which end of a burst of pushes a key fires."""

    TRAILING = "trailing"
    """Once the burst is over."""
    LEADING = "leading"
    """At the first push; the rest of the burst is absorbed."""
    BOTH = "both"
    """At the first push, and once more after the burst if there was a second push."""


def parse_edge(text: str) -> Edge:
    """Find the edge that a text names."""
    if text not in tuple(Edge):
        raise InvalidPolicy(f"unknown edge {text!r}; the edges are {', '.join(Edge)}")
    return Edge(text)


@dataclass(frozen=True, slots=True)
class Policy:
    """How the pushes of one key become one item."""

    quiet: float | None = None
    """The deadline is this long after the latest push, unless a push names its deadline."""
    max_wait: float | None = None
    """No deadline is later than this after the first push."""
    max_count: int | None = None
    """With this many pushes a key is due at once."""
    edge: Edge = Edge.TRAILING
    merge: Merge = LAST
    leads: bool = field(init=False, repr=False, compare=False)
    """Whether the first push of a burst fires."""
    needs_clock: bool = field(init=False, repr=False, compare=False)
    """Whether a push must say what time it is, even if it names its deadline."""
    is_plain: bool = field(init=False, repr=False, compare=False)
    """Whether a push that names its deadline simply replaces what was waiting."""

    def __post_init__(self) -> None:
        # Asked at every push, so worked out once.
        leads = self.edge is not Edge.TRAILING
        needs_clock = leads or self.max_wait is not None or self.max_count is not None
        object.__setattr__(self, "leads", leads)
        object.__setattr__(self, "needs_clock", needs_clock)
        object.__setattr__(self, "is_plain", self.merge is LAST and not needs_clock)
        for is_impossible, reason in REFUSALS:
            if is_impossible(self):
                raise InvalidPolicy(f"{reason}: {self.in_words}")

    @property
    def in_words(self) -> str:
        """The policy as a person would write it down."""
        limits = f"quiet={self.quiet}, max_wait={self.max_wait}, max_count={self.max_count}"
        return f"{limits}, edge={self.edge}, merge={self.merge.name}"


def _is_no_duration(value: float | None) -> bool:
    return value is not None and not (isfinite(value) and value >= 0)


REFUSALS: tuple[tuple[Callable[[Policy], bool], str], ...] = (
    (lambda p: _is_no_duration(p.quiet), "quiet is not a duration"),
    (lambda p: _is_no_duration(p.max_wait), "max_wait is not a duration"),
    (lambda p: p.max_count is not None and p.max_count < 1, "max_count is below one push"),
    (
        lambda p: p.quiet is not None and p.max_wait is not None and p.max_wait < p.quiet,
        "max_wait is below quiet, so no key could ever be quiet for long enough",
    ),
    (lambda p: p.leads and p.quiet is None, "a leading edge needs quiet, to know when a burst is over"),
    (
        lambda p: p.edge is Edge.LEADING and p.max_count is not None,
        "max_count needs a trailing edge, because a leading edge fires at the first push",
    ),
)
