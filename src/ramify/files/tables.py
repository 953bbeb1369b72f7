"""What CSV and Parquet share: columns that are named once, and texts in all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ramify.errors import InvalidFile, InvalidSubscription
from ramify.files.collection import Collection
from ramify.files.json_text import json_value
from ramify.files.rows import COLUMNS, KNOWN, REQUIRED, Row, row_of


def check_columns(names: list[str], into: Collection) -> None:
    """Refuse a file as a whole if its columns cannot hold subscriptions."""
    for name in REQUIRED:
        if name not in names:
            raise InvalidFile("", f"there is no column {name!r}; the columns are {', '.join(COLUMNS)}")
    twice = [name for name in KNOWN if names.count(name) > 1]
    if twice:
        raise InvalidFile("", f"there are two columns {twice[0]!r}")
    into.note_columns(names)


def row_of_texts(names: Sequence[str], cells: Sequence[str | None]) -> Row:
    """Make a row of its cells, reading the JSON text of its data."""
    columns: dict[str, Any] = dict(zip(names, cells, strict=True))
    text = columns.pop("data", None)
    if text:
        columns["data"] = _data(text)
    return row_of(columns)


def _data(text: str) -> Any:
    try:
        return json_value(text)
    except InvalidSubscription as refusal:
        raise InvalidSubscription(f"data: {refusal}") from None
