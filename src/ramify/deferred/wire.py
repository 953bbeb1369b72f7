"""The messages between a served queue and its producers and consumers, as bytes.

    producer → server   [1, 1, request, [[key, data, delay, deadline, version, policy], …]]    Pushes
    server → producer   [2, 1, request, accepted, [[index, code, reason], …]]                  Pushed
    server → anyone     [3, 1, request, code, reason]                                          Failed
    consumer → server   [4, 1, window]                                                         Take
    consumer → server   [5, 1, [[ticket, key], …]]                                             Ack
    consumer → server   [6, 1]                                                                 Leave
    server → consumer   [7, 1, [[ticket, key, data, deadline], …]]                             Deliver
    server → consumer   [8, 1, done, [ticket, …]]                                              Acked

    policy              [quiet, max_wait, max_count, edge, merge], or nil for the server's

Each is one MessagePack array: the kind, the version of the format, and its parts; elements
behind them are passed over. `data` stays encoded from the producer to the consumer.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from msgspec import Raw, Struct

from ramify.errors import BadMessage

VERSION = 1
DEEPEST = 100
"""Lists and maps within each other."""
NOTHING = Raw(b"\xc0")
"""Data that is `None`."""


class PushPolicy(Struct, array_like=True, frozen=True):
    """A policy for one push alone; `merge` is named as on the command line."""

    quiet: float | None = None
    max_wait: float | None = None
    max_count: int | None = None
    edge: str = "trailing"
    merge: str = "last"


class Push(Struct, array_like=True):
    """One push: its deadline is after a delay, or at a Unix time, or by its policy or the server's."""

    key: str
    data: Raw = NOTHING
    delay: float | None = None
    deadline: float | None = None
    version: float | None = None
    policy: PushPolicy | None = None


class Refusal(Struct, array_like=True, frozen=True):
    """Why one push of a request was not accepted."""

    index: int
    code: str
    reason: str


class Delivery(Struct, array_like=True):
    """One item that is given to a consumer."""

    ticket: int
    key: str
    data: Raw
    deadline: float


class Pushes(Struct, array_like=True, tag=1):
    """Many pushes, in order, under a number that the producer chose."""

    protocol: int
    request: int
    pushes: list[Push]


class Pushed(Struct, array_like=True, tag=2):
    """All pushes of a request but the refused were accepted; with a journal, durably."""

    protocol: int
    request: int
    accepted: int
    refused: list[Refusal]


class Failed(Struct, array_like=True, tag=3):
    """A message was not taken at all, or a consumer is not known any more."""

    protocol: int
    request: int | None
    code: str
    reason: str


class Take(Struct, array_like=True, tag=4):
    """A consumer is there and holds up to so many items at a time; said again, it is a heartbeat."""

    protocol: int
    window: int


class Ack(Struct, array_like=True, tag=5):
    """Items are done."""

    protocol: int
    done: list[tuple[int, str]]


class Leave(Struct, array_like=True, tag=6):
    """A consumer goes; what it holds is for others."""

    protocol: int


class Deliver(Struct, array_like=True, tag=7):
    """Items for a consumer."""

    protocol: int
    items: list[Delivery]


class Acked(Struct, array_like=True, tag=8):
    """So many items are done for good, and these tickets were not in flight."""

    protocol: int
    done: int
    unknown: list[int]


ToProducer = Pushed | Failed
FromConsumer = Take | Ack | Leave
ToConsumer = Deliver | Acked | Failed
Message = Pushes | ToProducer | FromConsumer | ToConsumer

_M = TypeVar("_M")
_decode_pushes = msgspec.msgpack.Decoder(Pushes)
_decode_to_producer: msgspec.msgpack.Decoder[ToProducer] = msgspec.msgpack.Decoder(ToProducer)
_decode_from_consumer: msgspec.msgpack.Decoder[FromConsumer] = msgspec.msgpack.Decoder(FromConsumer)
_decode_to_consumer: msgspec.msgpack.Decoder[ToConsumer] = msgspec.msgpack.Decoder(ToConsumer)
_decode_anything = msgspec.msgpack.Decoder()
_encode = msgspec.msgpack.Encoder().encode

UNREADABLE = (msgspec.MsgspecError, ValueError, TypeError, RecursionError, OverflowError)


def encode(message: Message) -> bytes:
    """Write a message."""
    return _encode(message)


def encode_data(data: Any) -> bytes:
    """Write data; what MessagePack cannot hold raises TypeError, ValueError or OverflowError."""
    return _encode(data)


def decode_data(data: bytes | Raw) -> Any:
    """Read data; what is not whole, or not MessagePack, raises one of `UNREADABLE`."""
    return _decode_anything.decode(data)


def is_too_deep(data: Any) -> bool:
    """Whether data is nested so deeply that some consumer might be unable to read it."""
    level = [data]
    for _ in range(DEEPEST):
        inner = [part.values() if isinstance(part, dict) else part for part in level if _is_nest(part)]
        if not inner:
            return False
        level = [part for parts in inner for part in parts]
    return True


def _is_nest(part: Any) -> bool:
    return isinstance(part, list | dict)


def read_pushes(frame: bytes) -> Pushes:
    """Read what a producer says."""
    return _read(_decode_pushes, frame)


def read_to_producer(frame: bytes) -> ToProducer:
    """Read what a server says to a producer."""
    return _read(_decode_to_producer, frame)


def read_from_consumer(frame: bytes) -> FromConsumer:
    """Read what a consumer says."""
    return _read(_decode_from_consumer, frame)


def read_to_consumer(frame: bytes) -> ToConsumer:
    """Read what a server says to a consumer."""
    return _read(_decode_to_consumer, frame)


def _read(decoder: msgspec.msgpack.Decoder[_M], frame: bytes) -> _M:
    try:
        message = decoder.decode(frame)
    except UNREADABLE as error:
        raise _bad(frame, str(error)) from None
    if message.protocol != VERSION:  # type: ignore[attr-defined]
        raise _bad(frame, "")
    return message


def _bad(frame: bytes, reason: str) -> BadMessage:
    """Say what is wrong, with the request's number where there is one."""
    try:
        parts = _decode_anything.decode(frame)
    except UNREADABLE as error:
        return BadMessage("unreadable", str(error))
    if not isinstance(parts, list):
        return BadMessage("unreadable", f"a message is an array, not {type(parts).__name__}")
    request = next((part for part in parts[2:3] if type(part) is int), None)
    if len(parts) > 1 and parts[1] != VERSION:
        return BadMessage("version", f"version {str(parts[1])[:20]} is not spoken, only {VERSION}", request)
    return BadMessage("unreadable", reason, request)
