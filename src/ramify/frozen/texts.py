"""A batch of texts as bytes and offsets, so that all of them are worked on at once.

Eight bytes at any place are read as one number through a view that steps by one byte. A piece
of up to eight bytes is that number under a mask, exactly; longer pieces are several numbers.
That is why the bytes end in eight zeros: a read at the last byte must stay inside.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

U64 = np.ndarray[Any, np.dtype[np.uint64]]
I64 = np.ndarray[Any, np.dtype[np.int64]]
I32 = np.ndarray[Any, np.dtype[np.int32]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]
Bytes = np.ndarray[Any, np.dtype[np.uint8]]

STRIDE = 8
# The number of low bytes to keep, for a piece that ends within the eight.
MASKS: U64 = np.array([(1 << (8 * kept)) - 1 for kept in range(STRIDE + 1)], dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class Texts:
    """Pieces of one buffer: where each starts and how many bytes it has."""

    data: Bytes
    starts: I64
    lengths: I64

    @classmethod
    def from_bytes(cls, texts: list[bytes]) -> Texts:
        """Lay texts side by side."""
        lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        return cls(padded(b"".join(texts)), np.cumsum(lengths) - lengths, lengths)

    @classmethod
    def from_arrow(cls, array: pa.Array) -> Texts:
        """Take the bytes of an Arrow text array as they are; a null is an empty text."""
        offsets, data = _buffers(array)
        first, last = int(offsets[0]), int(offsets[-1])
        starts = offsets[:-1] - first
        return cls(padded(data[first:last]), starts, np.diff(offsets))

    def __len__(self) -> int:
        return len(self.starts)

    def eights(self) -> U64:
        """The eight bytes from each place on, as one number."""
        size = len(self.data) - STRIDE + 1
        return np.ndarray((size,), np.dtype("<u8"), self.data.data, strides=(1,))


@dataclass(frozen=True, slots=True)
class Segments:
    """The levels of a batch of topics, all of them in one row."""

    words: Texts
    first: I64
    """Which segment each topic starts with."""
    depths: I64
    """How many segments each topic has."""


def split(texts: Texts, separator: str) -> Segments:
    """Split every text at once."""
    ends = texts.starts + texts.lengths
    total = int(ends[-1]) if len(ends) else 0
    cuts = np.flatnonzero(texts.data[:total] == ord(separator))
    before = np.searchsorted(cuts, texts.starts)
    first = before + np.arange(len(texts))
    owners = np.searchsorted(texts.starts, cuts, side="right") - 1
    starts = np.empty(len(texts) + len(cuts), dtype=np.int64)
    starts[first] = texts.starts
    starts[np.arange(len(cuts)) + owners + 1] = cuts + 1
    depths = np.searchsorted(cuts, ends) - before + 1
    stops = np.empty_like(starts)
    stops[first + depths - 1] = ends
    stops[np.arange(len(cuts)) + owners] = cuts
    return Segments(Texts(texts.data, starts, stops - starts), first, depths)


def padded(data: Any) -> Bytes:
    """A copy that eight bytes can be read from at every place."""
    size = len(data)
    room = np.zeros(size + STRIDE, dtype=np.uint8)
    room[:size] = np.frombuffer(data, dtype=np.uint8) if isinstance(data, bytes) else data
    return room


def _buffers(array: pa.Array) -> tuple[I64, Bytes]:
    """The offsets and the bytes of an Arrow text array, whichever width its offsets have."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if not (pa.types.is_string(array.type) or pa.types.is_large_string(array.type)):
        array = array.cast(pa.large_string())
    if array.null_count:
        array = array.fill_null("")
    width = np.int32 if pa.types.is_string(array.type) else np.int64
    _, offsets, data = array.buffers()
    if len(array) == 0 or offsets is None:
        return np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.uint8)
    counted = np.frombuffer(offsets, dtype=width)[array.offset : array.offset + len(array) + 1]
    content = np.zeros(0, dtype=np.uint8) if data is None else np.frombuffer(data, dtype=np.uint8)
    return counted.astype(np.int64), content
