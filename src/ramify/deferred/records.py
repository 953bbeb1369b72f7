"""The journal's records as bytes: framed, checksummed, and readable up to the first damage.

    file    = magic, frame*
    frame   = length (u32, little endian), CRC-32 of the body (u32), body
    body    = one MessagePack array: Put or Drop

A record is about one *state* of one key. A `Put` says all there is to know of it and which
state it replaces, a `Drop` that a state is over. Reading them in order and dropping whatever
is replaced or over leaves exactly what is still to be done, whatever policy or function
made it. A frame of length 0 does not exist: that is how blocks look that were never written.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import Any
from zlib import crc32

import msgspec

from ramify.deferred.life import HOLDING, LEADING, WAITING, Traced
from ramify.errors import InvalidPush

FORMAT = b"ramify deferred "
MAGIC = FORMAT + b"1\n"
"""What a journal's files begin with: the format and its version."""

LONGEST = 1 << 28
"""No body is longer than this; a length beyond it is damage, not a reason to read 4 GB."""


class Put(msgspec.Struct, array_like=True, tag=1):
    """A key came into this state, in place of the state that `replaces` numbers (0: none)."""

    number: int
    replaces: int
    place: int
    key: str
    data: Any
    deadline: float | int
    first: float | int | None
    count: int
    version: float | int | None
    quiet_at: float | int | None
    is_holding: bool
    is_leading: bool


class Drop(msgspec.Struct, array_like=True, tag=2):
    """A state is over: done, cancelled, or no longer held."""

    number: int


Record = Put | Drop

_HEADER = Struct("<II")
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Record).decode


def encode(record: Record) -> bytes:
    """Frame a record."""
    body = _encode(record)
    return _HEADER.pack(len(body), crc32(body)) + body


def encode_entry(entry: Traced, number: int) -> bytes:
    """Frame a key's new state; what a journal could not give back is refused."""
    put = Put(
        number,
        entry.number,
        entry.place or number,
        entry.key,
        entry.data,
        entry.deadline,
        entry.first,
        entry.count,
        entry.version,
        entry.quiet_at,
        entry.phase is HOLDING,
        entry.phase is LEADING,
    )
    try:
        frame = encode(put)
        if not _is_surely_readable(put):
            _decode(frame[_HEADER.size :])
    except (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError) as error:
        raise InvalidPush(entry.key, f"a journal cannot hold this: {error}") from error
    if len(frame) > LONGEST:
        raise InvalidPush(entry.key, f"a journal holds at most {LONGEST} bytes an item, not {len(frame)}")
    return frame


_PLAIN_DATA = frozenset((str, bytes, int, float, bool, type(None)))


def _is_surely_readable(put: Put) -> bool:
    """Whether a record is of types that are read back as they are; any other is tried out first."""
    return (
        type(put.key) is str
        and type(put.data) in _PLAIN_DATA
        and type(put.deadline) is float
        and put.first is None
        and put.version is None
    )


def entry_of(put: Put) -> Traced:
    """Make the entry that a record describes."""
    phase = HOLDING if put.is_holding else LEADING if put.is_leading else WAITING
    return Traced(
        put.key,
        put.data,
        put.deadline,
        put.count,
        put.first,
        put.version,
        put.quiet_at,
        phase,
        put.number,
        put.place,
    )


def frame_at(content: memoryview, begin: int) -> memoryview:
    """Find the frame that begins there; it was read before and found whole."""
    return content[begin : begin + _HEADER.size + _HEADER.unpack_from(content, begin)[0]]


class Reader:
    """Reads the frames of one file's bytes, and stops at the first that is damaged."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self.offset = 0
        """How far the content is whole."""
        self.damage = ""
        """Why reading stopped before the end of the content; empty if it did not."""

    @property
    def lost(self) -> int:
        """How many bytes lie behind the damage."""
        return len(self._content) - self.offset

    def records(self) -> Iterator[tuple[Record, int, int]]:
        """Read each record, and where its frame begins and ends."""
        content, size = self._content, len(self._content)
        if content[: len(MAGIC)] != MAGIC:
            self.damage = "a beginning that is not a journal's" if content else ""
            return
        end = len(MAGIC)
        while end < size:
            self.offset = begin = end
            if begin + 8 > size:
                break
            length, checksum = _HEADER.unpack_from(content, begin)
            end = begin + 8 + length
            body = content[begin + 8 : end]
            if end > size or not 0 < length <= LONGEST or crc32(body) != checksum:
                break
            try:
                record = _decode(body)
            except msgspec.MsgspecError as error:
                self.damage = f"a record that makes no sense ({error})"
                return
            yield record, begin, end
        else:
            self.offset = end
            return
        self.damage = "a record with a wrong checksum" if begin + 8 <= end <= size else "a record cut short"


class States:
    """What is left to do after reading records in order: the states neither replaced nor dropped."""

    def __init__(self) -> None:
        self.live: dict[int, Put] = {}
        self.records = 0

    def read(self, record: Record) -> None:
        """Take in the next record."""
        self.records += 1
        if type(record) is Drop:
            self.live.pop(record.number, None)
        elif type(record) is Put:
            if record.replaces:
                self.live.pop(record.replaces, None)
            self.live[record.number] = record
