"""Which format a file has: the one that is named, or the one that its suffix stands for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ramify.errors import InvalidFile
from ramify.files import comma_separated, jsonl, parquet
from ramify.files.collection import Collection
from ramify.files.lines import Progress
from ramify.model import Subscription


@dataclass(frozen=True, slots=True)
class Format:
    """How subscriptions are read from a file and written to one."""

    read: Callable[[BinaryIO, Collection, Progress | None], None]
    write: Callable[[Iterable[Subscription], BinaryIO], None]
    suffixes: tuple[str, ...]


FORMATS: dict[str, Format] = {
    "jsonl": Format(jsonl.read, jsonl.write, (".jsonl", ".ndjson")),
    "csv": Format(comma_separated.read, comma_separated.write, (".csv",)),
    "parquet": Format(parquet.read, parquet.write, (".parquet",)),
}

_BY_SUFFIX = {suffix: format for format in FORMATS.values() for suffix in format.suffixes}


def format_of(path: Path, name: str | None = None) -> Format:
    """The format of that name; without a name, the one that the suffix of the path stands for."""
    found = _BY_SUFFIX.get(path.suffix.lower()) if name is None else FORMATS.get(name)
    if found is None and name is None:
        raise InvalidFile(str(path), f"the suffix says no format; name it {', '.join(_BY_SUFFIX)}")
    if found is None:
        raise InvalidFile(str(path), f"unknown format {name!r}; the formats are {', '.join(FORMATS)}")
    return found
