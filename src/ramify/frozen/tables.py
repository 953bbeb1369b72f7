"""Hash tables held in arrays, asked by a whole batch at once.

Both tables use open addressing: a key stands at the first free place from its hash on. A batch
looks at all its places together, and only the rows that met another key go on to the next.
The hash is salted, because the texts come from strangers. It only says where to look: an
`IntTable` compares the whole key, and a `TextTable` every byte, so a collision costs time and
never an answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ramify.frozen.texts import I32, I64, MASKS, STRIDE, U64, Flags, Texts

Arrays = dict[str, Any]

_ODD = np.uint64(0x9E3779B97F4A7C15)
_SPREAD = np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)
_ONE = np.uint64(1)
_HIGHEST = 2**64 - 1
NOTHING = -1


class HashClash(Exception):
    """Two texts share a hash: another salt will tell them apart."""


def mix(values: U64, salt: np.uint64) -> U64:
    """Spread numbers over all 64 bits, differently for each salt."""
    mixed = (values ^ salt) * _ODD
    mixed ^= mixed >> _HALF
    mixed *= _SPREAD
    mixed ^= mixed >> _HALF
    return mixed


class IntTable:
    """Small numbers by 64-bit keys.

    Keys are kept one higher than they are, so that zero is a free place. Most look-ups of a batch
    end at one, and then their value is not even read: what is read at random is what costs.
    """

    def __init__(self, keys: U64, values: I32, salt: int) -> None:
        self._keys, self._values, self._salt = keys, values, np.uint64(salt)
        self._mask = np.int64(len(values) - 1)

    @classmethod
    def build(cls, keys: U64, values: I32, salt: int) -> IntTable:
        """File each value under its key; the keys are distinct."""
        if len(keys) and int(keys.max()) == _HIGHEST:
            raise HashClash
        places = _places(mix(keys, np.uint64(salt)))
        capacity = _capacity(len(keys))
        table_keys = np.zeros(capacity, dtype=np.uint64)
        table_values = np.full(capacity, NOTHING, dtype=np.int32)
        table_keys[places], table_values[places] = keys + _ONE, values
        return cls(table_keys, table_values, salt)

    def look_up(self, keys: U64) -> I32:
        """The value of each key, or `NOTHING`."""
        places = (mix(keys, self._salt) & np.uint64(self._mask)).astype(np.int64)
        wanted = keys + _ONE
        there = self._keys[places]
        rows = np.flatnonzero((there != wanted) & (there != 0))
        while len(rows):
            places[rows] = (places[rows] + 1) & self._mask
            there[rows] = self._keys[places[rows]]
            rows = rows[(there[rows] != wanted[rows]) & (there[rows] != 0)]
        found = np.full(len(keys), NOTHING, dtype=np.int32)
        met = np.flatnonzero(there == wanted)
        found[met] = self._values[places[met]]
        return found

    def to_arrays(self, name: str) -> Arrays:
        """What a file has to keep."""
        return {f"{name}.keys": self._keys, f"{name}.values": self._values}

    @classmethod
    def from_arrays(cls, name: str, arrays: Mapping[str, Any], salt: int) -> IntTable:
        """The table that a file has kept."""
        return cls(arrays[f"{name}.keys"], arrays[f"{name}.values"], salt)


class TextTable:
    """The positions of distinct texts, by their bytes."""

    def __init__(self, slots: I32, hashes: U64, lengths: I32, starts: I64, eights: U64, salt: int) -> None:
        self._slots, self._hashes, self._lengths = slots, hashes, lengths
        self._starts, self._eights, self._salt = starts, eights, np.uint64(salt)
        self._mask = np.int64(len(slots) - 1)

    def __len__(self) -> int:
        return len(self._hashes)

    @classmethod
    def build(cls, texts: list[bytes], salt: int) -> TextTable:
        """File distinct texts under their position in the list."""
        laid = Texts.from_bytes(texts)
        hashes = hash_texts(laid, laid.starts, laid.lengths, np.uint64(salt))
        if len(np.unique(hashes)) < len(texts):
            raise HashClash
        slots = np.full(_capacity(len(texts)), NOTHING, dtype=np.int32)
        slots[_places(hashes)] = np.arange(len(texts), dtype=np.int32)
        starts, eights = _in_eights(laid)
        return cls(slots, hashes, laid.lengths.astype(np.int32), starts, eights, salt)

    def look_up(self, texts: Texts, starts: I64, lengths: I64) -> I32:
        """The position of each piece of the texts, or `NOTHING`."""
        if not len(self):
            return np.full(len(starts), NOTHING, dtype=np.int32)
        hashes = hash_texts(texts, starts, lengths, self._salt)
        places = (hashes & np.uint64(self._mask)).astype(np.int64)
        found = self._slots[places]
        rows = np.flatnonzero((found != NOTHING) & (self._hashes[found] != hashes))
        while len(rows):
            places[rows] = (places[rows] + 1) & self._mask
            found[rows] = self._slots[places[rows]]
            rows = rows[(found[rows] != NOTHING) & (self._hashes[found[rows]] != hashes[rows])]
        rows = np.flatnonzero(found != NOTHING)
        found[rows[~self.equals(found[rows], texts, starts[rows], lengths[rows])]] = NOTHING
        return found

    def equals(self, positions: I32, texts: Texts, starts: I64, lengths: I64) -> Flags:
        """Whether each piece is, byte for byte, the text at that position."""
        same: Flags = self._lengths[positions] == lengths
        eights = texts.eights()
        rows = np.flatnonzero(same)
        done = 0
        while len(rows):
            left = np.minimum(lengths[rows] - done, STRIDE)
            ours = self._eights[self._starts[positions[rows]] + done // STRIDE]
            same[rows] = (eights[starts[rows] + done] & MASKS[left]) == ours
            done += STRIDE
            rows = rows[same[rows] & (lengths[rows] > done)]
        return same

    def to_arrays(self, name: str) -> Arrays:
        """What a file has to keep."""
        kept = (self._slots, self._hashes, self._lengths, self._starts, self._eights)
        return {f"{name}.{part}": array for part, array in zip(self._PARTS, kept, strict=True)}

    @classmethod
    def from_arrays(cls, name: str, arrays: Mapping[str, Any], salt: int) -> TextTable:
        """The table that a file has kept."""
        slots, hashes, lengths, starts, eights = (arrays[f"{name}.{part}"] for part in cls._PARTS)
        return cls(slots, hashes, lengths, starts, eights, salt)

    _PARTS = ("slots", "hashes", "lengths", "starts", "eights")


def hash_texts(texts: Texts, starts: I64, lengths: I64, salt: np.uint64) -> U64:
    """The hash of each piece: its length, then eight bytes at a time."""
    eights = texts.eights()
    hashes = lengths.astype(np.uint64)
    rows: Any = slice(None)
    left, done = lengths, 0
    while len(left):
        chunk = eights[starts[rows] + done] & MASKS[np.minimum(left, STRIDE)]
        hashes[rows] = mix(hashes[rows] + chunk, salt)
        done += STRIDE
        rows = np.flatnonzero(lengths > done)
        left = lengths[rows] - done
    return hashes


def _in_eights(texts: Texts) -> tuple[I64, U64]:
    """The texts as whole numbers of eight bytes: where each starts, and the numbers."""
    counts = np.maximum(-(-texts.lengths // STRIDE), 1)
    starts = np.cumsum(counts) - counts
    eights, source = np.zeros(int(counts.sum()), dtype=np.uint64), texts.eights()
    for done in range(0, int(texts.lengths.max(initial=0)), STRIDE):
        rows = np.flatnonzero(texts.lengths > done)
        left = np.minimum(texts.lengths[rows] - done, STRIDE)
        eights[starts[rows] + done // STRIDE] = source[texts.starts[rows] + done] & MASKS[left]
    return starts, eights


def _capacity(count: int) -> int:
    """Room for so many keys: a power of two that stays half empty."""
    return 1 << max(3, (2 * count).bit_length())


def _places(hashes: U64) -> I64:
    """Where each key goes: the first free place from its hash on."""
    mask = np.int64(_capacity(len(hashes)) - 1)
    places = (hashes & np.uint64(mask)).astype(np.int64)
    taken = np.zeros(int(mask) + 1, dtype=np.bool_)
    rows = np.arange(len(hashes))
    while len(rows):
        wanted = places[rows]
        free = rows[~taken[wanted]]
        _, firsts = np.unique(places[free], return_index=True)
        winners = free[firsts]
        taken[places[winners]] = True
        is_left = np.ones(len(hashes), dtype=np.bool_)
        is_left[winners] = False
        rows = rows[is_left[rows]]
        places[rows] = (places[rows] + 1) & mask
    return places
