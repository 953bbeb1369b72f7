"""ramify routes events to the people who asked for them."""

from __future__ import annotations

from importlib.metadata import version

from ramify.criteria import parse_criteria
from ramify.errors import InvalidCriteria, InvalidPattern, InvalidTopic, RamifyError
from ramify.frozen import FrozenIndex
from ramify.model import Dialect, Entry, Explanation, Match, Plan, Statistics, Subscription
from ramify.patterns import matches, parse_pattern, translate, validate_topic
from ramify.router import Router

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
