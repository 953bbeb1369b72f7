"""Every exception that ramify raises, branching by who must act.

RamifyError
├── CallerError            the caller gave something that cannot be used
│   ├── InvalidText            a text refused at a column, for a reason
│   │   ├── InvalidPattern         a text that is not a pattern in its dialect
│   │   ├── InvalidTopic           a text that cannot be the topic of an event
│   │   └── InvalidCriteria        a text that is not a condition on fields
│   ├── UnknownDialect         a dialect that ramify does not speak
│   ├── UnknownSubscription    an id that is not subscribed
│   ├── UnknownClient          a client that has no session
│   ├── InvalidSubscription    a subscription whose parts do not fit together
│   ├── InvalidFile            a file that does not hold what it should
│   ├── InvalidContent         an event whose content cannot be read
│   ├── InvalidTable           a table without a column that is needed, or with one of another type
│   ├── InvalidPolicy          a way of coalescing that cannot be carried out
│   ├── InvalidSession         a Spark session without a setting that is needed
│   ├── InvalidPush            a push that a deferred queue cannot take
│   ├── InvalidEndpoint        an address that is not served or connected to
│   ├── InvalidPacket          an MQTT packet that cannot be written
│   └── InvalidTime            a value that is not a time
├── PeerError              whoever is at the other end of a connection said something wrong
│   ├── BadMessage             a message that cannot be read or is not allowed
│   └── BadPacket              an MQTT packet that cannot be read or is not allowed
└── InfrastructureError    the machine under ramify failed or is taken
    ├── JournalInUse           a journal that another process has open
    ├── JournalFailed          a journal that could not be written
    ├── StoreInUse             a store that another process has open
    ├── StoreUnreadable        a store that is damaged or of a newer version, or a file that is none
    ├── StoreFailed            a store that could not be opened or written
    ├── EndpointFailed         an address that could not be bound
    ├── Unanswered             a server that does not answer
    ├── NotInstalled           a library that this needs is not there
    ├── NoJava                 a machine without a Java that Spark runs on
    ├── NoSpark                a Spark that does not start or does not answer
    ├── JobFailed              a job that Spark could not carry out
    └── StateTooLarge          a stream that has to remember more than it may
"""

from __future__ import annotations


class RamifyError(Exception):
    """Anything that ramify itself raises."""


class CallerError(RamifyError):
    """The caller gave something that cannot be used; trying again changes nothing."""


class InvalidText(CallerError):
    """A text is refused, at a column, for a reason."""

    def __init__(self, text: str, column: int, reason: str) -> None:
        super().__init__(text, column, reason)
        self.text, self.column, self.reason = text, column, reason

    def __str__(self) -> str:
        return f"{self.reason} at column {self.column} of {_shortened(self.text)}"


class InvalidPattern(InvalidText):
    """The text is not a pattern in this dialect."""


class InvalidTopic(InvalidText):
    """The text cannot be the topic of an event."""


class InvalidCriteria(InvalidText):
    """The text is not a condition on fields."""


class UnknownDialect(CallerError):
    """The dialect is not one that ramify speaks."""

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        super().__init__(name, known)
        self.name, self.known = name, known

    def __str__(self) -> str:
        return f"unknown dialect {self.name!r}; the dialects are {', '.join(self.known)}"


class UnknownSubscription(CallerError):
    """No subscription has this id."""

    def __init__(self, subscription_id: str) -> None:
        super().__init__(subscription_id)
        self.subscription_id = subscription_id

    def __str__(self) -> str:
        return f"no subscription has the id {self.subscription_id!r}"


class UnknownClient(CallerError):
    """No session belongs to this client."""

    def __init__(self, client: str) -> None:
        super().__init__(client)
        self.client = client

    def __str__(self) -> str:
        return f"no session belongs to the client {_shortened(self.client)}"


class InvalidSubscription(CallerError):
    """The parts of a subscription do not fit together."""


class InvalidFile(CallerError):
    """A file does not hold what it should."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path, self.reason = path, reason

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


class InvalidContent(CallerError):
    """The content of an event cannot be read."""

    def __init__(self, row: int, reason: str) -> None:
        super().__init__(row, reason)
        self.row, self.reason = row, reason

    def __str__(self) -> str:
        return f"the content of row {self.row} cannot be read: {self.reason}"


class InvalidTable(CallerError):
    """A table lacks a column that is needed, or has one of another type."""

    def __init__(self, table: str, column: str, reason: str) -> None:
        super().__init__(table, column, reason)
        self.table, self.column, self.reason = table, column, reason

    def __str__(self) -> str:
        return f"{self.table}: the column {self.column!r} {self.reason}"


class InvalidPolicy(CallerError):
    """A way of coalescing that cannot be carried out."""


class InvalidSession(CallerError):
    """A Spark session lacks a setting that is needed."""

    def __init__(self, setting: str, found: str, wanted: str) -> None:
        super().__init__(setting, found, wanted)
        self.setting, self.found, self.wanted = setting, found, wanted

    def __str__(self) -> str:
        return f"the Spark session has {self.setting}={self.found}; set it to {self.wanted}"


class InvalidPush(CallerError):
    """A deferred queue cannot take this push; nothing has changed."""

    def __init__(self, key: str, reason: str) -> None:
        super().__init__(key, reason)
        self.key, self.reason = key, reason

    def __str__(self) -> str:
        return f"push of {_shortened(str(self.key))}: {self.reason}"


class InvalidEndpoint(CallerError):
    """An address is not one that is served or connected to."""

    def __init__(self, endpoint: str, reason: str) -> None:
        super().__init__(endpoint, reason)
        self.endpoint, self.reason = endpoint, reason

    def __str__(self) -> str:
        return f"{_shortened(self.endpoint)}: {self.reason}"


class InvalidTime(CallerError):
    """The value is not a time."""

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self.value = value

    def __str__(self) -> str:
        return f"{self.value!r} is not a time"


class InvalidPacket(CallerError):
    """An MQTT packet cannot be written."""


class PeerError(RamifyError):
    """Whoever is at the other end of a connection said something wrong; we go on."""


class BadMessage(PeerError):
    """A message cannot be read or is not allowed; nothing of it was taken."""

    def __init__(self, code: str, reason: str, request: int | None = None) -> None:
        super().__init__(code, reason, request)
        self.code, self.reason, self.request = code, reason, request

    def __str__(self) -> str:
        return f"{self.code}: {self.reason}"


class BadPacket(PeerError):
    """An MQTT packet cannot be read or is not allowed; the connection ends with it."""

    def __init__(self, code: int, reason: str, clause: str = "") -> None:
        super().__init__(code, reason, clause)
        self.code, self.reason, self.clause = code, reason, clause

    def __str__(self) -> str:
        clause = f" [{self.clause}]" if self.clause else ""
        return f"0x{self.code:02X}: {self.reason}{clause}"


class InfrastructureError(RamifyError):
    """The machine under ramify failed or is taken; trying again later may help."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path, self.reason = path, reason

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


class JournalInUse(InfrastructureError):
    """Another process has the journal open."""


class JournalFailed(InfrastructureError):
    """The journal could not be written, so nothing more is accepted until it is opened anew."""


class StoreInUse(InfrastructureError):
    """Another process has the store open."""


class StoreUnreadable(InfrastructureError):
    """The store is damaged or of a newer version, or the file is none; it is left as it is."""


class StoreFailed(InfrastructureError):
    """The store could not be opened or written; nothing of what was to be kept is kept."""


class EndpointFailed(InfrastructureError):
    """The address could not be bound: it is taken, or not ours."""


class Unanswered(InfrastructureError):
    """The server does not answer."""


class NotInstalled(InfrastructureError):
    """A library that this needs is not there."""


class NoJava(InfrastructureError):
    """The machine has no Java that Spark runs on."""


class NoSpark(InfrastructureError):
    """Spark does not start, or nobody answers where it should be."""


class JobFailed(InfrastructureError):
    """Spark could not carry out a job."""


class StateTooLarge(InfrastructureError):
    """A stream has to remember more than it may."""


def _shortened(text: str, longest: int = 80) -> str:
    """Quote a text, cutting one that would fill the screen."""
    return repr(text) if len(text) <= longest else f"{text[:longest]!r}… ({len(text)} characters)"
