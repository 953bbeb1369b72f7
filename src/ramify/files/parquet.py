"""Parquet: a column of texts for each column, with `data` as JSON text.

pyarrow is imported where it is used, because it takes longer to start than most commands run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, BinaryIO

from ramify.errors import InvalidFile, InvalidSubscription
from ramify.files.collection import Collection
from ramify.files.lines import Progress
from ramify.files.rows import COLUMNS, KNOWN, RowWriter
from ramify.files.tables import check_columns, row_of_texts
from ramify.model import Subscription

ROWS_PER_GROUP = 65_536
NEVER_NULL = ("id", "subscriber", "pattern", "dialect")

Cells = tuple[str | None, ...]


def read(file: BinaryIO, into: Collection, on_progress: Progress | None = None) -> None:
    """Take every row of a file."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    try:
        table = ParquetFile(file)
        columns = _columns(table.schema_arrow, into)
        for number, cells in enumerate(_rows(table, columns), 1):
            _take(number, columns, cells, into)
            if on_progress is not None and number % ROWS_PER_GROUP == 0:
                on_progress(number / table.metadata.num_rows)
    except (pa.ArrowException, OSError) as refusal:
        raise InvalidFile("", f"not Parquet that can be read: {str(refusal).splitlines()[0]}") from None


def write(subscriptions: Iterable[Subscription], file: BinaryIO) -> None:
    """Write a row for each subscription."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    schema = pa.schema([pa.field(name, pa.string(), nullable=name not in NEVER_NULL) for name in COLUMNS])
    rows, writer = iter(subscriptions), RowWriter()
    with ParquetWriter(file, schema, compression="zstd") as table:
        while group := [writer.row(subscription) for subscription in islice(rows, ROWS_PER_GROUP)]:
            table.write_table(pa.Table.from_pylist(group, schema=schema))


def _columns(schema: Any, into: Collection) -> list[str]:
    """The columns to read, all of them texts."""
    import pyarrow.types as kinds

    check_columns(schema.names, into)
    known = [name for name in schema.names if name in KNOWN]
    for name in known:
        kind = schema.field(name).type
        kind = kind.value_type if kinds.is_dictionary(kind) else kind
        if not any(is_text(kind) for is_text in (kinds.is_string, kinds.is_large_string, kinds.is_null)):
            raise InvalidFile("", f"the column {name!r} holds {kind}, wanted texts")
    return known


def _rows(table: Any, columns: list[str]) -> Iterator[Cells]:
    for batch in table.iter_batches(batch_size=ROWS_PER_GROUP, columns=columns):
        texts = {name: _texts(batch.column(name)) for name in columns}
        yield from zip(*texts.values(), strict=True)


def _texts(column: Any) -> list[str | None]:
    import pyarrow as pa

    try:
        return column.to_pylist()  # type: ignore[no-any-return]
    except UnicodeDecodeError:
        # Parquet does not check its texts; those that are not UTF-8 keep what marks them as such.
        cells = column.cast(pa.binary()).to_pylist()
        return [None if cell is None else cell.decode(errors="surrogateescape") for cell in cells]


def _take(number: int, columns: list[str], cells: Cells, into: Collection) -> None:
    try:
        if not all(cell is None or cell.isascii() or _is_utf8(cell) for cell in cells):
            raise InvalidSubscription("not UTF-8")
        into.take(number, row_of_texts(columns, cells), cells)
    except InvalidSubscription as refusal:
        into.set_aside(number, str(refusal), cells)


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
