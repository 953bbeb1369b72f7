"""The folder where a stream remembers how far it has come, and what else it must remember.

    ramify.json     which stream this is of, and the columns of its events
    deliveries/     Spark's own checkpoint of the query that writes deliveries
    rejects/        the same of the query that writes bad rows
    mqtt/           messages that were received and not yet taken

A checkpoint of another stream is refused: to go on from it would silently leave out rows. Two
processes cannot use one at a time. On a file system that is not this machine's, Spark alone watches.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import Any

from msgspec import MsgspecError, json
from pyspark.sql.types import StructType

from ramify.errors import CallerError, InvalidFile, JournalInUse
from ramify.jobs.description import Pipeline
from ramify.jobs.formats import format_of_sink, local_path
from ramify.jobs.places import shown

ABOUT = "ramify.json"
SUFFIX = ".checkpoint"


class Checkpoint:
    """The checkpoint of one stream, open as long as the stream runs."""

    def __init__(self, place: str, described: Pipeline) -> None:
        self.place = place.rstrip("/")
        self._folder = local_path(place)
        self._lock: int | None = None
        self._about: dict[str, Any] = {}
        if self._folder is not None:
            self._lock = _locked(self._folder)
            self._about = self._read(_identity(described))

    def of(self, name: str) -> str:
        """The folder of one of its parts."""
        return f"{self.place}/{name}"

    @property
    def schema(self) -> StructType | None:
        """The columns of the events, if an earlier run has found them out."""
        kept = self._about.get("schema")
        return None if kept is None else StructType.fromJson(kept)

    def remember(self, schema: StructType) -> None:
        """Keep the columns of the events: a later run must not find others."""
        if self._folder is not None:
            self._about["schema"] = schema.jsonValue()
            self._write()

    def close(self) -> None:
        """Let others use it."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _read(self, identity: dict[str, Any]) -> dict[str, Any]:
        assert self._folder is not None
        path = self._folder / ABOUT
        if not path.is_file():
            self._about = identity
            self._write()
            return identity
        try:
            about = json.decode(path.read_bytes(), type=dict[str, Any])
        except MsgspecError as refusal:
            raise InvalidFile(str(path), f"cannot be read: {refusal}") from None
        for name, value in identity.items():
            if about.get(name) != value:
                raise InvalidFile(
                    str(self._folder),
                    f"is the checkpoint of another stream: its {name} is {about.get(name)!r}, not {value!r}",
                )
        return about

    def _write(self) -> None:
        assert self._folder is not None
        unfinished = self._folder / f".{ABOUT}.tmp"
        unfinished.write_bytes(json.format(json.encode(self._about)))
        unfinished.replace(self._folder / ABOUT)


def place_of_checkpoint(described: Pipeline) -> str:
    """The folder that is named, or else one beside the files that are written."""
    if described.stream is not None and described.stream.checkpoint:
        return described.stream.checkpoint
    beside = next((sink.path for sink in described.sinks if sink.path is not None), None)
    if beside is None:
        raise CallerError("a stream that writes no files needs a checkpoint: a folder to remember in")
    return beside.rstrip("/") + SUFFIX


def _identity(described: Pipeline) -> dict[str, Any]:
    """What must stay the same from run to run."""
    return {
        "events": shown(described.events),
        "sinks": [f"{format_of_sink(sink)} {shown(sink)}" for sink in described.sinks],
    }


def _locked(folder: Path) -> int:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except (FileExistsError, NotADirectoryError):
        raise InvalidFile(str(folder), "a checkpoint is a folder, and this is a file") from None
    try:
        # The kernel lets go of it when the process dies, however it dies.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise JournalInUse(str(folder), "another stream is using this checkpoint") from None
    return descriptor
