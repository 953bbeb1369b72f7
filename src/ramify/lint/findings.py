"""What the linter has to say: a kind, how grave it is, whom it concerns, and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How grave a finding is."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    @property
    def rank(self) -> int:
        """Its place in a list that starts with the gravest."""
        return list(Severity).index(self)


class Kind(StrEnum):
    """What a finding is about."""

    UNREACHABLE = "unreachable"
    DUPLICATE = "duplicate"
    SHADOWED = "shadowed"
    OVERLAPPING = "overlapping"
    COSTLY = "costly"
    UNFINISHED = "unfinished"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is odd."""

    kind: Kind
    severity: Severity
    ids: tuple[str, ...]
    """The subscriptions it concerns, first the one to change."""
    words: str
    hint: str
