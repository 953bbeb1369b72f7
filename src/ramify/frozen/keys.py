"""The keys of content: which fields of an event to look at, and the number that stands for them.

A lookup is one or two parts. A part looks at a field either for its value or for the cell of
some width that its number lies in. What a part sees becomes 64 bits, and a pattern, a lookup
and what its parts see are folded into one key. Keys may collide: what is found is verified.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct

import numpy as np

from ramify.frozen.columns import BOOLEAN, NUMBER, TEXT, nearest_float
from ramify.frozen.literals import Fields
from ramify.frozen.tables import NOTHING, mix
from ramify.frozen.texts import I32, I64, U64, Flags
from ramify.model import Scalar

VALUE = 1 << 20
"""Instead of a cell's width: the part looks at the value itself."""
NO_PART = -1
CELL = 5
_TAG = np.uint64(0xA0761D6478BD642F)
_PACK = Struct("<d").pack


@dataclass(frozen=True, slots=True)
class Part:
    """One field to look at, and how."""

    field: int
    width: int = VALUE


@dataclass(frozen=True, slots=True)
class Seen:
    """What a part sees, as bits, with a tag that keeps kinds apart."""

    tag: int
    bits: int


def seen_value(value: Scalar, texts: dict[str, int]) -> Seen:
    """What a part sees of an event that carries just this value."""
    if isinstance(value, str):
        return Seen(TEXT, texts[value])
    near, _ = nearest_float(value)
    return Seen(BOOLEAN if isinstance(value, bool) else NUMBER, _bits(near))


def seen_cell(cell: int) -> Seen:
    """What a part sees of an event whose number lies in this cell."""
    return Seen(CELL, _bits(float(cell)))


def look(part: Part, rows: I64, fields: Fields) -> tuple[U64, Flags]:
    """What a part sees in each row, folded with its tag; and whether it sees anything."""
    kinds = fields.kinds[part.field, rows]
    numbers = fields.numbers[part.field, rows] + 0.0  # minus zero is zero
    if part.width != VALUE:
        with np.errstate(over="ignore", invalid="ignore"):
            cells = np.floor(np.ldexp(numbers, -part.width))
        return tagged(cells.view(np.uint64), np.full(len(rows), CELL)), (kinds == NUMBER) & np.isfinite(cells)
    texts = fields.texts[part.field, rows]
    is_text = kinds == TEXT
    bits = np.where(is_text, texts.astype(np.uint64), numbers.view(np.uint64))
    is_seen = (is_text & (texts != NOTHING)) | (kinds == NUMBER) | (kinds == BOOLEAN)
    return tagged(bits, kinds), is_seen


def tagged(bits: U64, tags: np.ndarray[tuple[int], np.dtype[np.integer]]) -> U64:
    """Bits that differ for equal values of different kinds."""
    return bits ^ (tags.astype(np.uint64) * _TAG)


def start_keys(patterns: I32, lookups: I32, salt: np.uint64) -> U64:
    """Keys that know their pattern and lookup, and nothing of the event yet."""
    return mix((patterns.astype(np.uint64) << np.uint64(32)) | lookups.astype(np.uint64), salt)


def fold(keys: U64, seen: U64, salt: np.uint64) -> U64:
    """Keys that know what one more part sees."""
    return mix(keys + seen, salt)


def _bits(number: float) -> int:
    return int.from_bytes(_PACK(number + 0.0), "little")  # numpy takes many times as long for one
