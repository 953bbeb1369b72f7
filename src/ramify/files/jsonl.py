"""JSON Lines: a JSON object on each line; blank lines mean nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, BinaryIO

from msgspec import MsgspecError, Raw
from msgspec.json import Decoder, Encoder

from ramify.errors import InvalidSubscription
from ramify.files.collection import Collection
from ramify.files.json_text import json_object
from ramify.files.lines import TOO_LONG, Progress, lines
from ramify.files.rows import Row, RowWriter, row_of
from ramify.model import Subscription

_decode = Decoder(Row).decode
_encode = Encoder().encode


def read(file: BinaryIO, into: Collection, on_progress: Progress | None = None) -> None:
    """Take every line of a file."""
    for number, line, is_whole in lines(file, on_progress):
        if not is_whole:
            into.set_aside(number, TOO_LONG, line)
        elif not line.isspace():
            try:
                into.take(number, _row(line, into), line)
            except InvalidSubscription as refusal:
                into.set_aside(number, str(refusal), line)


def write(subscriptions: Iterable[Subscription], file: BinaryIO) -> None:
    """Write a line for each subscription; columns that say nothing are left out."""
    writer = RowWriter()
    for subscription in subscriptions:
        texts = writer.row(subscription).items()
        row: dict[str, Any] = {name: text for name, text in texts if text is not None}
        if "data" in row:
            row["data"] = Raw(row["data"].encode())
        file.write(_encode(row) + b"\n")


def _row(line: bytes, into: Collection) -> Row:
    try:
        return _decode(line)
    except (MsgspecError, UnicodeError, RecursionError):
        # The quick way only knows that something is off; this one says what.
        columns = json_object(line)
        into.note_columns(columns)
        return row_of(columns)
