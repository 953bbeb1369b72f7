"""The share group of a subscription: what its pattern names, or what is said beside it."""

from __future__ import annotations

from ramify.errors import InvalidSubscription
from ramify.model import Pattern


def agreed_group(pattern: Pattern, group: str | None) -> str | None:
    """The group that a pattern (`$share/group/…`) or an option names; they must not name two."""
    if pattern.group is None or group is None or pattern.group == group:
        return pattern.group or group
    raise InvalidSubscription(f"the pattern names the group {pattern.group!r}, the option names {group!r}")
