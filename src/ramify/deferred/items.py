"""The values that a deferred queue gives out."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec


class Item(msgspec.Struct, frozen=True):
    """One key's data, and the moment from which it may be acted on."""

    key: str
    data: Any
    deadline: float


class InFlight(Item, frozen=True):
    """An item that a consumer holds; its ticket is what the consumer acknowledges."""

    ticket: int


class Outcome(StrEnum):
    """What a push came to."""

    ADDED = "added"
    """The key was not waiting, and now it is."""
    UPDATED = "updated"
    """The key was waiting; its data, and usually its deadline, were replaced."""
    LATE = "late"
    """The push is older in event time than the data that is waiting, which keeps its place."""
    ABSORBED = "absorbed"
    """The key fired on its leading edge and has not been quiet since: nothing more will come of this."""
