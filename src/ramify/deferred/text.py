"""The plain text form of pushes and deliveries, one in each ZeroMQ message.

    in    key:microseconds:type|payload       the delay from now, in decimal digits
    out   key:type|length:data                the length of the data in bytes

A payload may hold anything. A key may hold `:`, because the parts behind it cannot; it cannot
hold `|`, and a type can hold neither. What breaks this is refused, when reading and when writing.
"""

from __future__ import annotations

from dataclasses import dataclass
from re import compile as pattern
from typing import Any

from ramify.deferred.wire import decode_data, encode_data
from ramify.errors import BadMessage

NEXT, ALIVE, BYE = b"next", b"alive", b"bye"
"""What a consumer says: what I held is done, give me one; I am still at it; I hold nothing and go."""

ACCEPTED = b"accepted"

_NUMBER = pattern(rb"[0-9]{1,15}")
_TYPE = pattern(rb"[!-9;-{}~]{0,64}")  # what prints, without : and |

MICROSECONDS = 1_000_000


@dataclass(frozen=True, slots=True)
class TextPush:
    """A push as the text form has it."""

    key: str
    microseconds: int
    type: str
    payload: bytes

    @property
    def data(self) -> bytes:
        """The data that is queued for it, encoded."""
        return encode_data({"type": self.type, "payload": self.payload})


@dataclass(frozen=True, slots=True)
class TextDelivery:
    """A delivery as the text form has it."""

    key: str
    type: str
    data: bytes


def read_push(frame: bytes) -> TextPush:
    """Read `key:microseconds:type|payload`."""
    head, bar, payload = frame.partition(b"|")
    if not bar:
        raise BadMessage("unreadable", "a push has the form key:microseconds:type|payload, and here is no |")
    parts = head.rsplit(b":", 2)
    if len(parts) != 3:
        raise BadMessage("unreadable", "there are not two : before the first |")
    key, number, kind = parts
    if not _NUMBER.fullmatch(number):
        raise BadMessage("number", f"{_shown(number)} is not a number of microseconds")
    return TextPush(_key(key), int(number), _type(kind), payload)


def write_push(push: TextPush) -> bytes:
    """Write `key:microseconds:type|payload`."""
    number = str(push.microseconds).encode()
    if not _NUMBER.fullmatch(number):
        raise BadMessage("number", f"{_shown(number)} is not a number of microseconds")
    return b"%b:%b:%b|%b" % (checked_key(push.key), number, _type(push.type.encode()).encode(), push.payload)


def write_delivery(key: str, data: bytes) -> bytes:
    """Write `key:type|length:data` of data as it is queued."""
    kind, content = typed(data)
    return b"%b:%b|%d:%b" % (checked_key(key), kind.encode(), len(content), content)


def read_delivery(frame: bytes) -> TextDelivery:
    """Read `key:type|length:data`."""
    head, _, rest = frame.partition(b"|")
    key, colon, kind = head.rpartition(b":")
    length, end, data = rest.partition(b":")
    if not colon or not end or not _NUMBER.fullmatch(length) or int(length) != len(data):
        raise BadMessage("unreadable", "a delivery has the form key:type|length:data")
    return TextDelivery(_key(key), _type(kind), data)


def write_refusal(code: str, reason: str) -> bytes:
    """Write that a push was not accepted."""
    return f"refused:{code}:{reason}".encode()


def write_error(code: str, reason: str) -> bytes:
    """Write that a message was not understood."""
    return f"error:{code}:{reason}".encode()


def checked_key(key: str) -> bytes:
    """A key that the text form can carry."""
    if not key or "|" in key:
        raise BadMessage("key", "a key in the text form is not empty and holds no |")
    return key.encode()


def _key(key: bytes) -> str:
    if not key:
        raise BadMessage("key", "the key is empty")
    try:
        return key.decode()
    except UnicodeDecodeError:
        raise BadMessage("key", "the key is not UTF-8") from None


def _type(kind: bytes) -> str:
    if not _TYPE.fullmatch(kind):
        raise BadMessage("type", f"{_shown(kind)} is not a type: at most 64 printable ASCII characters")
    return kind.decode()


def typed(encoded: bytes) -> tuple[str, bytes]:
    """What the text form makes of data: its own is given back as it came."""
    data: Any = decode_data(encoded)
    match data:
        case {"type": str(kind), "payload": bytes(payload), **rest} if not rest and _TYPE.fullmatch(
            kind.encode()
        ):
            return kind, payload
        case str():
            return "text", data.encode()
        case bytes():
            return "bytes", data
        case _:
            return "msgpack", encoded


def _shown(part: bytes) -> str:
    return repr(part[:40].decode(errors="replace"))
