"""Writes a file whole or not at all: beside its place first, then into it in one step."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import BinaryIO, cast

from ramify.errors import InvalidFile


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write; it takes the place of the path when the block ends well."""
    path = path.resolve()  # so that a link stays a link
    if path.exists() and not path.is_file():
        raise InvalidFile(str(path), "this is no ordinary file, so it cannot be replaced")
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        try:
            yield cast("BinaryIO", file)
            file.flush()
            os.fchmod(file.fileno(), _mode(path))
            os.fsync(file.fileno())
            Path(file.name).replace(path)
        except BaseException:
            Path(file.name).unlink()
            raise


def _mode(path: Path) -> int:
    """The permissions that the file has, or that the process gives to new files."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0o077)  # it can only be read by setting it
    os.umask(mask)
    return 0o666 & ~mask
