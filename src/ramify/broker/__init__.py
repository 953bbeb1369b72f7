"""The broker: sessions, subscriptions, deliveries; commands in, effects out, and no I/O."""

from ramify.broker.access import OPEN, Access, Action, Rights, Rule
from ramify.broker.broker import Broker
from ramify.broker.counters import Counters, Holdings
from ramify.broker.effects import (
    Close,
    Connected,
    Effect,
    FanOut,
    Forward,
    Granted,
    Hold,
    Release,
    Reply,
    Resume,
)
from ramify.broker.outcomes import Farewell, Outcome
from ramify.broker.realm import Peers
from ramify.broker.values import (
    Debounce,
    Defer,
    Delivery,
    Event,
    Extras,
    Identity,
    Limits,
    Terms,
    Will,
    Wish,
)

__all__ = [
    "OPEN",
    "Access",
    "Action",
    "Broker",
    "Close",
    "Connected",
    "Counters",
    "Debounce",
    "Defer",
    "Delivery",
    "Effect",
    "Event",
    "Extras",
    "FanOut",
    "Farewell",
    "Forward",
    "Granted",
    "Hold",
    "Holdings",
    "Identity",
    "Limits",
    "Outcome",
    "Peers",
    "Release",
    "Reply",
    "Resume",
    "Rights",
    "Rule",
    "Terms",
    "Will",
    "Wish",
]
