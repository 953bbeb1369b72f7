"""Rows as texts: a name for each row by a template, and each value as bytes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.json import encode

from ramify.errors import InvalidTable

_PLACE = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class Template:
    """A text with places for columns, such as `inbox:{subscriber}`."""

    text: str
    between: tuple[str, ...]
    columns: tuple[str, ...]

    def filled(self, batch: pa.RecordBatch) -> list[str | None]:
        """The text for each row; none where a column is null."""
        if not self.columns:
            return [self.text] * batch.num_rows
        values = [batch.column(name).to_pylist() for name in self.columns]
        return [self._with(row) for row in zip(*values, strict=True)]

    def _with(self, row: Sequence[Any]) -> str | None:
        if None in row:
            return None
        pieces = [f"{value}{text}" for value, text in zip(row, self.between[1:], strict=True)]
        return self.between[0] + "".join(pieces)


def parse_template(text: str, names: Sequence[str]) -> Template:
    """Read a template over these columns."""
    parts = _PLACE.split(text)
    columns = tuple(parts[1::2])
    for name in columns:
        if name not in names:
            raise InvalidTable(
                "deliveries", name, f"is missing, and {text!r} names it; the columns are {', '.join(names)}"
            )
    return Template(text, tuple(parts[::2]), columns)


def as_bytes(column: pa.Array) -> list[bytes | None]:
    """Values as they are written: texts and bytes as they are, times in ISO 8601, all else as JSON."""
    kind = column.type
    if pa.types.is_timestamp(kind):
        zone = "Z" if kind.tz else ""
        utc = column.cast(pa.timestamp("us", "UTC" if kind.tz else None))
        column = pc.strftime(utc, format=f"%Y-%m-%dT%H:%M:%S{zone}")
    elif not (pa.types.is_string(kind) or pa.types.is_binary(kind) or pa.types.is_large_string(kind)):
        return [None if value is None else encode(_plain(value)) for value in column.to_pylist()]
    return column.cast(pa.binary()).to_pylist()  # type: ignore[no-any-return]


def _plain(value: Any) -> Any:
    """What JSON can say: a map comes from Arrow as a list of pairs."""
    if isinstance(value, list) and value and all(isinstance(each, tuple) for each in value):
        return {str(name): _plain(each) for name, each in value}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return value
