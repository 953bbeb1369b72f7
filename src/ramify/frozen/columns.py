"""The fields of a batch of events as columns, one for each path that criteria speak of.

Content comes as an Arrow struct, a map, or JSON texts. Whatever its type, a column says for
each row what kind of value stands there (as `criteria.kinds` tells kinds), and the value in a
form that numpy compares at once: numbers as floats, with a flag where the float is not exactly
the number; texts as the position of the constant they equal, found by their bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ramify.criteria import MISSING, resolve
from ramify.criteria.kinds import Kind, kind_of
from ramify.errors import InvalidContent
from ramify.frozen.tables import NOTHING, TextTable
from ramify.frozen.texts import I32, Bytes, Flags, Texts
from ramify.model import Path

ABSENT, NUMBER, TEXT, BOOLEAN, OTHER = range(5)
_CODES = {Kind.NUMBER: NUMBER, Kind.TEXT: TEXT, Kind.BOOLEAN: BOOLEAN, Kind.OTHER: OTHER}
# From here on not every integer has a float of its own.
EXACT_TO = 2**53

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class Column:
    """What one path leads to, in every row."""

    kinds: Bytes
    numbers: Floats
    """Numbers, and booleans as 1 and 0."""
    inexact: Flags
    """Where the float is only near the number."""
    texts: I32
    """Which constant a text is, or `NOTHING`."""


class Contents:
    """The fields of a batch of events."""

    def __init__(self, fields: pa.Array | None, rows: int, constants: TextTable) -> None:
        self._rows, self._constants = rows, constants
        self._array = fields
        self._objects: list[Any] | None = None
        self._read: dict[int, Any] = {}
        if fields is not None and _is_text(fields.type):
            self._objects = [_decoded(at, text) for at, text in enumerate(fields.to_pylist())]

    def column(self, path: Path) -> Column:
        """The column that a path leads to."""
        if self._objects is not None:
            return self._from_objects([resolve(fields, path) for fields in self._objects])
        array = self._array
        for name in path:
            array = None if array is None else _step(array, name)
        return self._missing() if array is None else self._from_arrow(array)

    def row(self, at: int) -> Any:
        """The fields of one event, as a dict."""
        if self._objects is not None:
            return self._objects[at]
        if self._array is None:
            return {}
        # Reading a row out of Arrow costs more than testing it, and a row is asked for by many candidates.
        if at not in self._read:
            self._read[at] = _plain(self._array[at]) or {}
        return self._read[at]

    def _missing(self) -> Column:
        return _column(np.zeros(self._rows, dtype=np.uint8))

    def _from_arrow(self, array: pa.Array) -> Column:
        kind = array.type
        if pa.types.is_dictionary(kind):
            array, kind = array.dictionary_decode(), kind.value_type
        valid = array.is_valid().to_numpy(zero_copy_only=False)
        if _is_text(kind):
            found = Texts.from_arrow(array)
            texts = self._constants.look_up(found, found.starts, found.lengths)
            return _column(np.where(valid, TEXT, ABSENT), texts=texts)
        if pa.types.is_boolean(kind):
            flags = array.fill_null(False).to_numpy(zero_copy_only=False)
            return _column(np.where(valid, BOOLEAN, ABSENT), numbers=flags.astype(np.float64))
        if pa.types.is_integer(kind):
            whole = array.fill_null(0).to_numpy(zero_copy_only=False)
            inexact = (whole > EXACT_TO) | (whole < -EXACT_TO)
            return _column(np.where(valid, NUMBER, ABSENT), numbers=whole.astype(np.float64), inexact=inexact)
        if pa.types.is_floating(kind):
            numbers = pc.cast(array, pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False)
            return _column(np.where(valid, NUMBER, ABSENT), numbers=numbers)
        return _column(np.where(valid, OTHER, ABSENT))

    def _from_objects(self, values: list[Any]) -> Column:
        kinds = np.array(
            [ABSENT if value is MISSING else _CODES[kind_of(value)] for value in values], dtype=np.uint8
        )
        numbers, inexact = np.zeros(len(values)), np.zeros(len(values), dtype=np.bool_)
        for at in np.flatnonzero((kinds == NUMBER) | (kinds == BOOLEAN)).tolist():
            numbers[at], inexact[at] = nearest_float(values[at])
        texts = np.full(len(values), NOTHING, dtype=np.int32)
        rows = np.flatnonzero(kinds == TEXT)
        found = Texts.from_bytes([values[at].encode("utf-8", "surrogatepass") for at in rows.tolist()])
        texts[rows] = self._constants.look_up(found, found.starts, found.lengths)
        return _column(kinds, numbers, inexact, texts)


def nearest_float(value: float) -> tuple[float, bool]:
    """The float nearest to a number, and whether it is not exactly that number."""
    try:
        near = float(value)
    except OverflowError:
        return (float("inf") if value > 0 else float("-inf")), True
    return near, near != value and value == value  # NaN is NaN, exactly


def _column(
    kinds: Any, numbers: Floats | None = None, inexact: Flags | None = None, texts: I32 | None = None
) -> Column:
    rows = len(kinds)
    return Column(
        np.asarray(kinds, dtype=np.uint8),
        np.zeros(rows) if numbers is None else numbers,
        np.zeros(rows, dtype=np.bool_) if inexact is None else inexact,
        np.full(rows, NOTHING, dtype=np.int32) if texts is None else texts,
    )


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _step(array: pa.Array, name: str) -> pa.Array | None:
    """What a name leads to in every row, or nothing where the type has no such name."""
    if pa.types.is_struct(array.type):
        return pc.struct_field(array, name) if array.type.get_field_index(name) >= 0 else None
    if pa.types.is_map(array.type) and _is_text(array.type.key_type):
        return pc.map_lookup(array, pa.scalar(name, array.type.key_type), "last")
    return None


def _decoded(at: int, text: str | None) -> Any:
    if text is None:
        return {}
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError, ValueError) as error:
        raise InvalidContent(at, str(error) or "nested too deeply") from None


def _plain(scalar: Any) -> Any:
    """An Arrow value as Python's own: structs and maps as dicts, a null as `None`."""
    if not scalar.is_valid:
        return None
    if pa.types.is_struct(scalar.type):
        return {name: _plain(value) for name, value in scalar.items()}
    if pa.types.is_map(scalar.type):
        pairs = scalar.values
        return {key.as_py(): _plain(value) for key, value in zip(pairs.field(0), pairs.field(1), strict=True)}
    return scalar.as_py()
