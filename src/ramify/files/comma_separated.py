"""CSV as spreadsheets write it: commas, double quotes, and a header that names the columns.

A quote that is never closed would make one cell of all the rest of a file. The limit on a cell
ends that: the cell's lines are set aside, and the line behind them is read as a new row.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from io import TextIOWrapper
from typing import BinaryIO

from ramify.errors import InvalidSubscription
from ramify.files.collection import Collection
from ramify.files.lines import LONGEST_LINE, TOO_LONG, Progress, lines
from ramify.files.rows import COLUMNS, Row, RowWriter
from ramify.files.tables import check_columns, row_of_texts
from ramify.model import Subscription


def read(file: BinaryIO, into: Collection, on_progress: Progress | None = None) -> None:
    """Take every row of a file."""
    # The limit is one for the whole process, and its default is less than our lines may have.
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_LINE))
    feed = _Feed(file, on_progress)
    rows = _rows(feed, into)
    _, header = next(rows, (0, []))
    header = [name.strip() for name in header]
    check_columns(header, into)
    for number, cells in rows:
        try:
            into.take(number, _row(header, cells, feed), cells)
        except InvalidSubscription as refusal:
            into.set_aside(number, str(refusal), cells)


def write(subscriptions: Iterable[Subscription], file: BinaryIO) -> None:
    """Write the header, and a row for each subscription."""
    text = TextIOWrapper(file, encoding="utf-8", newline="")
    rows, writer = csv.writer(text), RowWriter()
    rows.writerow(COLUMNS)
    rows.writerows(writer.row(subscription).values() for subscription in subscriptions)
    text.flush()
    text.detach()  # the file is the caller's to close


class _Feed:
    """The lines of a file for the csv module, and what was wrong with those of one row."""

    def __init__(self, file: BinaryIO, on_progress: Progress | None) -> None:
        self._lines = lines(file, on_progress)
        self.flaw: str | None = None

    def __iter__(self) -> Iterator[str]:
        for _, line, is_whole in self._lines:
            if not is_whole:
                self.flaw = TOO_LONG
                line = line[:LONGEST_LINE]
            try:
                yield line.decode()
            except UnicodeDecodeError:
                self.flaw = self.flaw or "not UTF-8"
                yield line.decode(errors="replace")


def _rows(feed: _Feed, into: Collection) -> Iterator[tuple[int, list[str]]]:
    """Each row that is not blank, with the number of the line that it starts on."""
    reader = csv.reader(feed, strict=True)
    while True:
        first = reader.line_num + 1
        feed.flaw = None
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as refusal:
            into.set_aside(first, feed.flaw or f"not CSV: {refusal}", ())
            continue
        if cells:
            yield first, cells


def _row(header: list[str], cells: list[str], feed: _Feed) -> Row:
    if feed.flaw is not None:
        raise InvalidSubscription(feed.flaw)
    if len(cells) != len(header):
        raise InvalidSubscription(f"the row has {len(cells)} cells, the header has {len(header)}")
    return row_of_texts(header, cells)
