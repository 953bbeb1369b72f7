"""Reads the lines of a file, none of them longer than a limit, and says how far it has come."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from io import UnsupportedOperation
from stat import S_ISREG
from typing import BinaryIO

LONGEST_LINE = 1 << 20
TOO_LONG = f"the line is longer than {LONGEST_LINE:,} bytes"
LINES_PER_REPORT = 10_000

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

Progress = Callable[[float], None]
"""Told now and then which share of a file has been read, from 0 to 1."""


def lines(file: BinaryIO, on_progress: Progress | None = None) -> Iterator[tuple[int, bytes, bool]]:
    """Each line with its number, and whether it is whole; of one that is too long, the beginning."""
    size = _size(file) if on_progress is not None else 0
    for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE + 1), b""), 1):
        if number == 1:
            line = line.removeprefix(_BYTE_ORDER_MARK)
        is_whole = len(line) <= LONGEST_LINE
        if not is_whole:
            _skip_rest(file, line)
        yield number, line, is_whole
        if size and on_progress is not None and number % LINES_PER_REPORT == 0:
            on_progress(min(file.tell() / size, 1.0))


def _skip_rest(file: BinaryIO, piece: bytes) -> None:
    while piece and not piece.endswith(b"\n"):
        piece = file.readline(LONGEST_LINE)


def _size(file: BinaryIO) -> int:
    """How many bytes there are to read; 0 if nobody knows, as with a pipe."""
    try:
        status = os.fstat(file.fileno())
    except UnsupportedOperation:
        return 0
    return status.st_size if S_ISREG(status.st_mode) else 0
