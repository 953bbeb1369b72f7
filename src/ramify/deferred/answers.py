"""What a server says, as bytes: failures and deliveries, in the form that the peer speaks."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Raw

from ramify.deferred import text, wire
from ramify.deferred.items import InFlight
from ramify.errors import BadMessage

PER_MESSAGE = 1_000
"""Items of one delivery at most."""


def looks_like_text(frame: bytes) -> bool:
    """Whether a message can only be meant as text.

    A binary message is an array of up to 15 parts, and no UTF-8 begins with the byte of one.
    """
    return bool(frame) and not 0x90 <= frame[0] <= 0x9F


def write_failure(bad: BadMessage, is_text: bool) -> bytes:
    """Write what is wrong."""
    if is_text:
        return text.write_error(bad.code, bad.reason)
    return wire.encode(wire.Failed(wire.VERSION, bad.request, bad.code, bad.reason))


def write_deliveries(items: list[InFlight], most: int, is_text: bool) -> list[bytes]:
    """Write items: in the text form one by one, else as many as a message should hold."""
    if is_text:
        return [text.write_delivery(item.key, item.data) for item in items]
    return [
        wire.encode(
            wire.Deliver(
                wire.VERSION, [wire.Delivery(i.ticket, i.key, Raw(i.data), i.deadline) for i in part]
            )
        )
        for part in _parts(items, most)
    ]


def _parts(items: list[InFlight], most: int) -> Iterator[list[InFlight]]:
    """Cut a list where a message would have too many items or bytes."""
    part: list[InFlight] = []
    size = 0
    for item in items:
        size += len(item.data)
        if part and (size > most or len(part) >= PER_MESSAGE):
            yield part
            part, size = [], len(item.data)
        part.append(item)
    if part:
        yield part
