"""The deferred queue: push often, act once."""

from ramify.deferred.items import InFlight, Item, Outcome
from ramify.deferred.journal import Damage, GroupCommit
from ramify.deferred.journaled import JournaledQueue
from ramify.deferred.merge import COUNT, FIRST, LAST, MAX, MIN, SUM, Merge, custom, listed, parse_merge
from ramify.deferred.policy import Edge, Policy
from ramify.deferred.queue import DeferredQueue

__all__ = [
    "COUNT",
    "FIRST",
    "LAST",
    "MAX",
    "MIN",
    "SUM",
    "Damage",
    "DeferredQueue",
    "Edge",
    "GroupCommit",
    "InFlight",
    "Item",
    "JournaledQueue",
    "Merge",
    "Outcome",
    "Policy",
    "custom",
    "listed",
    "parse_merge",
]
