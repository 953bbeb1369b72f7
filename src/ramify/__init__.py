"""ramify routes events to the people who asked for them."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from ramify.criteria import parse_criteria
from ramify.errors import InvalidCriteria, InvalidPattern, InvalidTopic, RamifyError
from ramify.model import Dialect, Entry, Explanation, Match, Plan, Statistics, Subscription
from ramify.patterns import matches, parse_pattern, translate, validate_topic
from ramify.router import Router

if TYPE_CHECKING:
    from ramify.frozen import FrozenIndex

__version__ = version("ramify")

__all__ = [
    "Dialect",
    "Entry",
    "Explanation",
    "FrozenIndex",
    "InvalidCriteria",
    "InvalidPattern",
    "InvalidTopic",
    "Match",
    "Plan",
    "RamifyError",
    "Router",
    "Statistics",
    "Subscription",
    "matches",
    "parse_criteria",
    "parse_pattern",
    "translate",
    "validate_topic",
]


def __getattr__(name: str) -> Any:
    """Import what stands on numpy and Arrow when it is first asked for: they are slow to import."""
    if name == "FrozenIndex":
        from ramify.frozen import FrozenIndex

        return FrozenIndex
    raise AttributeError(f"module 'ramify' has no attribute {name!r}")
