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

from collections.abc import Callable, Iterator
from struct import Struct
from typing import Any, Generic, TypeVar
from zlib import crc32

import msgspec

from ramify.deferred.life import HOLDING, LEADING, WAITING, Traced
from ramify.errors import InvalidPush

FORMAT = b"ramify deferred "
MAGIC = FORMAT + b"1\n"
"""What a journal's files begin with: the format and its version."""

LONGEST = 1 << 28
"""No body is longer than this; a length beyond it is damage, not a reason to read 4 GB."""


PUT, DROP = 1, 2


class Put(msgspec.Struct, array_like=True, tag=PUT):
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


class Drop(msgspec.Struct, array_like=True, tag=DROP):
    """A state is over: done, cancelled, or no longer held."""

    number: int


Record = Put | Drop


class PutTrace(msgspec.Struct, array_like=True, tag=PUT):
    """What a compaction needs of a `Put`: the parts that it passes over are not made into values."""

    number: int
    replaces: int
    place: msgspec.Raw
    key: msgspec.Raw
    data: msgspec.Raw
    deadline: float | int
    first: msgspec.Raw
    count: msgspec.Raw
    version: msgspec.Raw
    quiet_at: msgspec.Raw
    is_holding: bool


Trace = PutTrace | Drop
R = TypeVar("R")

_HEADER = Struct("<II")
_frame_header = _HEADER.pack
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Record).decode
_decode_trace = msgspec.msgpack.Decoder(Trace).decode


def encode(record: Record) -> bytes:
    """Frame a record."""
    body = _encode(record)
    return _frame_header(len(body), crc32(body)) + body


def encode_drop(number: int) -> bytes:
    """Frame the end of a state."""
    body = _encode((DROP, number))
    return _frame_header(len(body), crc32(body)) + body


def encode_entry(entry: Traced, number: int) -> bytes:
    """Frame a key's new state; what a journal could not give back is refused."""
    phase = entry.phase
    # The parts of a `Put`, in a tuple because that is made in a third of the time.
    put = (
        PUT,
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
        phase is HOLDING,
        phase is LEADING,
    )
    try:
        body = _encode(put)
        if not _is_surely_readable(entry):
            _decode(body)
    except (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError) as error:
        raise InvalidPush(entry.key, f"a journal cannot hold this: {error}") from error
    if len(body) > LONGEST:
        raise InvalidPush(entry.key, f"a journal holds at most {LONGEST} bytes an item, not {len(body)}")
    return _frame_header(len(body), crc32(body)) + body


_PLAIN_DATA = frozenset((str, bytes, int, float, bool, type(None)))
_TIMES = frozenset((int, float, type(None)))


def _is_surely_readable(entry: Traced) -> bool:
    """Whether an entry is of types that are read back as they are; any other is tried out first."""
    return (
        type(entry.data) in _PLAIN_DATA
        and type(entry.key) is str
        and type(entry.deadline) in _TIMES
        and type(entry.first) in _TIMES
        and type(entry.version) in _TIMES
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


def read_records(content: bytes) -> Reader[Record]:
    """Read whole records."""
    return Reader(content, _decode)


def read_traces(content: bytes) -> Reader[Trace]:
    """Read of each record what a compaction needs."""
    return Reader(content, _decode_trace)


class Reader(Generic[R]):
    """Reads the frames of one file's bytes, and stops at the first that is damaged."""

    def __init__(self, content: bytes, decode: Callable[[bytes], R]) -> None:
        self._content, self._decode = content, decode
        self.offset = 0
        """How far the content is whole."""
        self.damage = ""
        """Why reading stopped before the end of the content; empty if it did not."""

    @property
    def lost(self) -> int:
        """How many bytes lie behind the damage."""
        return len(self._content) - self.offset

    def records(self) -> Iterator[tuple[R, int]]:
        """Read each record, and where its frame begins; `offset` and `damage` are known at the end."""
        content, size = self._content, len(self._content)
        decode, header = self._decode, _HEADER.unpack_from
        if content[: len(MAGIC)] != MAGIC:
            self.damage = "a beginning that is not a journal's" if content else ""
            return
        begin = end = len(MAGIC)
        while begin + 8 <= size:
            length, checksum = header(content, begin)
            end = begin + 8 + length
            body = content[begin + 8 : end]
            if end > size or not 0 < length <= LONGEST or crc32(body) != checksum:
                break
            try:
                record = decode(body)
            except msgspec.MsgspecError as error:
                self.offset, self.damage = begin, f"a record that makes no sense ({error})"
                return
            yield record, begin
            begin = end
        self.offset = begin
        if begin < size:
            is_whole = begin + 8 <= end <= size
            self.damage = "a record with a wrong checksum" if is_whole else "a record cut short"


PROGRESS_EVERY = 1 << 14
"""Records between two reports of progress."""


class States:
    """What is left to do after reading records in order: the states neither replaced nor dropped."""

    def __init__(self) -> None:
        self.live: dict[int, Put] = {}
        self.records = 0

    def read(self, reader: Reader[Record], on_progress: Callable[[int], None]) -> None:
        """Take in the records of the next file; from time to time, tell how far it was read."""
        live = self.live
        position = 0
        for position, (record, begin) in enumerate(reader.records(), 1):
            if type(record) is Put:
                if record.replaces:
                    live.pop(record.replaces, None)
                live[record.number] = record
            else:
                live.pop(record.number, None)
            if position % PROGRESS_EVERY == 0:
                on_progress(begin)
        self.records += position
