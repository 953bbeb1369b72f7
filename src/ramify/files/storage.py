"""Loads subscriptions from a path or a stream, and saves them there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from ramify.errors import InvalidFile
from ramify.files.collection import Collection, Loaded
from ramify.files.formats import FORMATS, Format, format_of
from ramify.files.lines import Progress
from ramify.files.replacing import replacing
from ramify.model import Subscription


def load(
    path: str | PathLike[str], *, format: str | None = None, on_progress: Progress | None = None
) -> Loaded:
    """Read a file: its good lines become subscriptions, its bad lines are set aside."""
    path = Path(path)
    chosen = format_of(path, format)
    with _naming(path), path.open("rb") as file:
        return _read(file, chosen, on_progress)


def save(
    subscriptions: Iterable[Subscription], path: str | PathLike[str], *, format: str | None = None
) -> None:
    """Write a file in one step: it holds all the subscriptions, or stays as it was."""
    path = Path(path)
    chosen = format_of(path, format)
    with _naming(path), replacing(path) as file:
        chosen.write(subscriptions, file)


def read(file: BinaryIO, format: str = "jsonl", *, on_progress: Progress | None = None) -> Loaded:
    """Read a stream, such as standard input."""
    with _naming("-"):
        return _read(file, FORMATS[format], on_progress)


def write(subscriptions: Iterable[Subscription], file: BinaryIO, format: str = "jsonl") -> None:
    """Write to a stream, such as standard output."""
    FORMATS[format].write(subscriptions, file)


def _read(file: BinaryIO, format: Format, on_progress: Progress | None) -> Loaded:
    collection = Collection()
    format.read(file, collection, on_progress)
    return collection.loaded()


@contextmanager
def _naming(path: str | Path) -> Iterator[None]:
    """Let a refusal name the file that it is about."""
    try:
        yield
    except InvalidFile as refusal:
        raise InvalidFile(str(path), refusal.reason) from None
    except OSError as failure:
        raise InvalidFile(str(path), failure.strerror or str(failure)) from None
