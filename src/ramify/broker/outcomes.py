"""What becomes of a command, in the broker's own words; a protocol maps them to its codes."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """What became of one thing that a client asked for."""

    SUCCESS = "success"
    NO_MATCH = "nobody wants the event"
    NOT_SUBSCRIBED = "there is no such subscription"
    UNKNOWN_TICKET = "no delivery has this ticket"
    NOT_AUTHORIZED = "not authorized"
    QUOTA_EXCEEDED = "a limit is reached"
    INVALID_PATTERN = "not a pattern"
    INVALID_CRITERIA = "not criteria"
    INVALID_TOPIC = "not a topic"
    INVALID_OPTION = "an option that cannot be carried out"
    INVALID_EXPIRY = "a session that ends with its connection cannot be prolonged"

    @property
    def is_refusal(self) -> bool:
        """Whether nothing was done."""
        return self not in _DONE


_DONE = {Outcome.SUCCESS, Outcome.NO_MATCH, Outcome.NOT_SUBSCRIBED}


class Farewell(StrEnum):
    """Why the broker closes a connection."""

    TAKEN_OVER = "another connection took the session over"
    TOO_SLOW = "others waited too long for it"
    DISMISSED = "an administrator ended it"
