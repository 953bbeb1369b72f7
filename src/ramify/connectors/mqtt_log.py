"""A log of MQTT messages on disk: what a broker was told is safe, until Spark has taken it.

    client                       the name under which the broker knows us
    00000000000000000000.log     messages from position 0 on
    00000000000000052310.log     the log with the highest number is being written

A frame is its length, a checksum, and a message as MessagePack. A broker keeps no history, so this
log is what makes a stream of messages replayable: positions never change, and what lies before the
last committed one is removed. A torn end, left by a crash, is cut off; the broker was not told that
it is safe, and sends it again.
"""

from __future__ import annotations

import fcntl
import os
import threading
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from struct import Struct
from typing import IO
from uuid import uuid4
from zlib import crc32

from msgspec.msgpack import Decoder, Encoder

from ramify.connectors.entries import Message
from ramify.errors import InvalidFile, JournalInUse

SEGMENT_BYTES = 16 << 20
LONGEST = 1 << 28
"""No message is longer: MQTT cannot say one."""

_HEADER = Struct("<II")
_encode = Encoder().encode
_decode = Decoder(Message).decode


@dataclass(slots=True)
class Segment:
    """One file: its first position, and where each of its frames ends."""

    path: Path
    first: int
    ends: array[int] = field(default_factory=lambda: array("Q"))

    @property
    def end(self) -> int:
        """The position behind its last message."""
        return self.first + len(self.ends)

    @property
    def size(self) -> int:
        """Its bytes."""
        return self.ends[-1] if self.ends else 0

    def place(self, position: int) -> int:
        """Where the frame at a position begins, in bytes."""
        return self.ends[position - self.first - 1] if position > self.first else 0


class MessageLog:
    """The messages that were received and not yet taken, by position."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._folder = folder
        # Messages are appended by one thread, and read and trimmed by another.
        self._guard = threading.RLock()
        self._lock = _locked(folder)
        self.client = _client(folder / "client")
        found = sorted(folder.glob("*.log"))
        self._segments = [_scanned(path, is_last=path == found[-1]) for path in found]
        self._begin(self._segments[-1].end if self._segments else 0)

    @property
    def begin(self) -> int:
        """The lowest position that can still be read."""
        return self._segments[0].first

    @property
    def end(self) -> int:
        """The position of the next message."""
        return self._segments[-1].end

    def append(self, messages: Sequence[Message]) -> None:
        """Write messages; when this returns, they are on the disk."""
        frames = [framed(message) for message in messages]
        with self._guard:
            self._file.write(b"".join(frames))
            self._file.flush()
            os.fsync(self._file.fileno())
            last, at = self._segments[-1], self._segments[-1].size
            for frame in frames:
                at += len(frame)
                last.ends.append(at)
            if last.size >= SEGMENT_BYTES:
                self._begin(last.end)

    def bounded(self, start: int, rows: int | None, size: int) -> int:
        """The end of so many messages at most from a position on, and of about so many bytes."""
        end = start
        for segment in self._behind(start):
            room = min(segment.end, segment.end if rows is None else start + rows)
            while end < room and size > 0:
                size -= segment.place(end + 1) - segment.place(end)
                end += 1
        return end

    def frames(self, start: int, end: int) -> Iterator[bytes]:
        """The bytes of the messages from one position up to another, without it."""
        for segment in self._behind(start):
            low, high = max(start, segment.first), min(end, segment.end)
            if low >= high:
                continue
            with segment.path.open("rb") as file:
                file.seek(segment.place(low))
                for position in range(low, high):
                    yield file.read(segment.place(position + 1) - segment.place(position))

    def trim(self, position: int) -> None:
        """Remove files that lie wholly before a position; the last one stays and tells where we are."""
        with self._guard:
            last = self._segments[-1]
            if last.end <= position and last.size >= SEGMENT_BYTES // 16:
                self._begin(last.end)
            while len(self._segments) > 1 and self._segments[0].end <= position:
                self._segments.pop(0).path.unlink(missing_ok=True)

    def close(self) -> None:
        """Let go of the files, and of the lock."""
        self._file.close()
        os.close(self._lock)

    def _behind(self, start: int) -> list[Segment]:
        with self._guard:
            return [segment for segment in self._segments if segment.end > start]

    def _begin(self, first: int) -> None:
        """Write to a new file from here on; an empty one at its end is taken as it is."""
        if self._segments and self._segments[-1].first == first:
            self._segments.pop()
        path = self._folder / f"{first:020}.log"
        if hasattr(self, "_file"):
            self._file.close()
        self._file: IO[bytes] = path.open("wb")
        os.fsync(self._lock)
        self._segments.append(Segment(path, first))


def framed(message: Message) -> bytes:
    """A message as it stands in the log."""
    body = _encode(message)
    return _HEADER.pack(len(body), crc32(body)) + body


def unframed(frame: bytes) -> Message:
    """The message in a whole frame."""
    return _decode(frame[_HEADER.size :])


def _scanned(path: Path, *, is_last: bool) -> Segment:
    """Read where the frames of a file end, and cut off what is torn."""
    segment, content = Segment(path, int(path.stem)), path.read_bytes()
    at = 0
    while at + _HEADER.size <= len(content):
        length, checksum = _HEADER.unpack_from(content, at)
        behind = at + _HEADER.size + length
        if not 0 < length <= LONGEST or crc32(content[at + _HEADER.size : behind]) != checksum:
            break
        segment.ends.append(behind)
        at = behind
    if at < len(content):
        if not is_last:
            raise InvalidFile(str(path), f"is damaged at byte {at}, and messages follow in later files")
        os.truncate(path, at)
    return segment


def _locked(folder: Path) -> int:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        # The kernel lets go of it when the process dies, however it dies.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise JournalInUse(str(folder), "another stream has this log open") from None
    return descriptor


def _client(path: Path) -> str:
    """The name that the broker knows us by, made up once."""
    if not path.is_file():
        unfinished = path.with_suffix(".tmp")
        unfinished.write_text(f"ramify-{uuid4().hex}")
        unfinished.replace(path)
    return path.read_text().strip()
