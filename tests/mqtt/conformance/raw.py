"""Packets made byte by byte, so that wrong ones can be made as well."""

from __future__ import annotations

from ramify.errors import BadPacket
from ramify.mqtt import Decoder, Version

V311, V5 = Version.V311, Version.V5


def packet(first: int, *parts: bytes) -> bytes:
    """A first byte and a body with its right length."""
    body = b"".join(parts)
    length, rest = b"", len(body)
    while rest > 0x7F:
        length, rest = length + bytes((rest & 0x7F | 0x80,)), rest >> 7
    return bytes((first,)) + length + bytes((rest,)) + body


def text(value: str | bytes) -> bytes:
    """A text behind its length, be it UTF-8 or not."""
    raw = value if isinstance(value, bytes) else value.encode()
    return len(raw).to_bytes(2, "big") + raw


def extra(*properties: bytes) -> bytes:
    """Properties behind their length."""
    body = b"".join(properties)
    assert len(body) < 0x80
    return bytes((len(body),)) + body


def hexed(value: str) -> bytes:
    return bytes.fromhex(value)


def connect(
    level: int = 5,
    flags: int = 2,
    *payload: bytes,
    name: str | bytes = "MQTT",
    keep_alive: int = 0,
    properties: bytes = b"",
) -> bytes:
    """A CONNECT; without a payload its client id is `c`."""
    with_extra = extra(properties) if level == 5 else b""
    head = text(name) + bytes((level, flags)) + keep_alive.to_bytes(2, "big")
    return packet(0x10, head, with_extra, *(payload or (text("c"),)))


def refusal_of(data: bytes, version: Version | None) -> BadPacket | None:
    """What a decoder has against the bytes."""
    decoder = Decoder(1_000_000, version)
    decoder.feed(data)
    return decoder.error
