"""The data types of MQTT, written to bytes: integers, texts, binary data, properties."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ramify.errors import InvalidPacket
from ramify.mqtt.properties import KINDS, Kind, Value, defaults_of, rows_of

LARGEST_VARINT = 268_435_455
MOST_BYTES = 65_535


def number(value: int, size: int) -> bytes:
    """A big-endian integer of so many bytes."""
    try:
        return value.to_bytes(size, "big")
    except OverflowError:
        raise InvalidPacket(f"{value} does not fit into {size} bytes") from None


def varint(value: int) -> bytes:
    """An integer in as few bytes as it needs. [MQTT-1.5.5-1]"""
    if 0 <= value < 0x80:
        return _ONE_BYTE[value]
    if not 0 <= value <= LARGEST_VARINT:
        raise InvalidPacket(f"{value} does not fit into a variable byte integer")
    written = bytearray()
    while value >= 0x80:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)


def binary(value: bytes) -> bytes:
    """Bytes behind their number."""
    if len(value) > MOST_BYTES:
        raise InvalidPacket(f"{len(value):,} bytes do not fit into a field of {MOST_BYTES:,}")
    return len(value).to_bytes(2, "big") + value


def text(value: str) -> bytes:
    """A text behind the number of its bytes."""
    if "\0" in value:
        raise InvalidPacket("a text holds NUL")
    try:
        return binary(value.encode())
    except UnicodeEncodeError as refusal:
        raise InvalidPacket(f"a text is not UTF-8: {refusal.reason}") from None


def properties(value: Value) -> bytes:
    """Properties behind the number of their bytes. [MQTT-2.2.2-1]"""
    written: list[bytes] = []
    for row, default, head, write in _ROWS[type(value)]:
        member = getattr(value, row.name)
        if member != default:
            for each in member if row.repeats else (member,):
                written += (head, write(each))
    body = b"".join(written)
    return varint(len(body)) + body


_ONE_BYTE = [bytes((value,)) for value in range(0x80)]
_WRITE: dict[Kind, Callable[[Any], bytes]] = {
    Kind.BYTE: lambda value: number(value, 1),
    Kind.FLAG: lambda value: number(value, 1),
    Kind.TWO_BYTES: lambda value: number(value, 2),
    Kind.FOUR_BYTES: lambda value: number(value, 4),
    Kind.VARINT: varint,
    Kind.TEXT: text,
    Kind.BINARY: binary,
    Kind.PAIR: lambda pair: text(pair[0]) + text(pair[1]),
}
_ROWS = {
    kind: [(row, defaults_of(kind)[row.name], _ONE_BYTE[row.id], _WRITE[row.kind]) for row in rows_of(kind)]
    for kind in KINDS
}
