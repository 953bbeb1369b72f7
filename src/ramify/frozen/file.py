"""Arrays of any length in one Arrow IPC file, opened by mapping it into memory.

The file has one record batch with one row; each column is a list, and its only value is an
array. Opening reads the schema and nothing else: the pages come as they are touched, and
processes that open the same file share them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ramify.errors import InvalidFile
from ramify.frozen.tables import Arrays

VERSION = b"1"
_VERSION_KEY, _ABOUT_KEY = b"ramify.frozen.version", b"ramify.frozen.about"


def write(path: str | Path, arrays: Arrays, about: bytes) -> None:
    """Write arrays and a description; the file appears whole or not at all."""
    columns = [_as_list(array) for array in arrays.values()]
    metadata = {_VERSION_KEY: VERSION, _ABOUT_KEY: about}
    fields = [pa.field(name, column.type) for name, column in zip(arrays, columns, strict=True)]
    schema = pa.schema(fields, metadata=metadata)
    target = Path(path)
    unfinished = target.with_name(f".{target.name}.unfinished")
    with pa.OSFile(str(unfinished), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        writer.write_batch(pa.record_batch(columns, schema=schema))
    unfinished.replace(target)


def read(path: str | Path) -> tuple[Arrays, bytes]:
    """Map a file; give its arrays, which point into it, and its description."""
    try:
        batch = pa.ipc.open_file(pa.memory_map(str(path))).get_batch(0)
    except (OSError, pa.ArrowInvalid, IndexError) as error:
        raise InvalidFile(str(path), f"not a frozen index: {error}") from None
    metadata: Mapping[bytes, bytes] = batch.schema.metadata or {}
    if metadata.get(_VERSION_KEY) != VERSION:
        found = metadata.get(_VERSION_KEY, b"none").decode("utf-8", "replace")
        raise InvalidFile(
            str(path), f"a frozen index of version {found}, and this ramify reads {VERSION.decode()}"
        )
    names = batch.schema.names
    return {name: _from_list(batch.column(at)) for at, name in enumerate(names)}, metadata[_ABOUT_KEY]


def _as_list(array: Any) -> pa.Array:
    values = pa.array(array) if isinstance(array, np.ndarray) else array
    return pa.LargeListArray.from_arrays(pa.array([0, len(values)], pa.int64()), values)


def _from_list(column: pa.Array) -> Any:
    values = column.values
    return values.to_numpy(zero_copy_only=True) if pa.types.is_primitive(values.type) else values
