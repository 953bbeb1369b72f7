"""The few things a journal asks of a folder, so that a test can play the disk that fails."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import Protocol

from ramify.errors import InvalidFile, JournalInUse

_sync_data = getattr(os, "fdatasync", os.fsync)


class Appender(Protocol):
    """A file that grows at its end."""

    def write(self, content: bytes) -> None:
        """Append; the kernel has it, the disk may not."""

    def sync(self) -> None:
        """Return once all that was written is on the disk."""

    def close(self) -> None:
        """Let go of the file."""


class Files(Protocol):
    """The files of one folder."""

    def names(self) -> list[str]:
        """List the files."""

    def size(self, name: str) -> int:
        """Count the bytes of a file."""

    def read(self, name: str) -> bytes:
        """Read a whole file."""

    def create(self, name: str) -> Appender:
        """Begin a file, in place of any that has the name."""

    def truncate(self, name: str, size: int) -> None:
        """Cut a file off, durably."""

    def rename(self, name: str, to: str) -> None:
        """Give a file another name, in one step and in place of any that has it."""

    def remove(self, name: str) -> None:
        """Remove a file."""

    def sync(self) -> None:
        """Return once names that were created, changed and removed are so on the disk."""

    def close(self) -> None:
        """Let go of the folder."""


class DiskAppender:
    """A file of the operating system that grows at its end."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)

    def write(self, content: bytes) -> None:
        """Append all of it, however many calls the kernel needs."""
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]

    def sync(self) -> None:
        """Flush the contents and the size to the disk."""
        _sync_data(self._descriptor)

    def close(self) -> None:
        """Close the descriptor."""
        os.close(self._descriptor)


class DiskFiles:
    """A folder of the operating system, locked against other processes while it is open."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise InvalidFile(str(path), "a journal is a folder, and this is a file") from None
        self._folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            # The kernel lets go of the lock when the process dies, however it dies.
            fcntl.flock(self._folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._folder)
            raise JournalInUse(str(path), "another process has this journal open") from None

    def names(self) -> list[str]:
        """List the files of the folder."""
        return sorted(file.name for file in self._path.iterdir())

    def size(self, name: str) -> int:
        """Ask the file system."""
        return (self._path / name).stat().st_size

    def read(self, name: str) -> bytes:
        """Read a whole file."""
        return (self._path / name).read_bytes()

    def create(self, name: str) -> DiskAppender:
        """Begin a file."""
        return DiskAppender(self._path / name)

    def truncate(self, name: str, size: int) -> None:
        """Cut a file off, and flush that to the disk."""
        descriptor = os.open(self._path / name, os.O_WRONLY)
        try:
            os.ftruncate(descriptor, size)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def rename(self, name: str, to: str) -> None:
        """Rename within the folder; POSIX makes it one step."""
        (self._path / name).rename(self._path / to)

    def remove(self, name: str) -> None:
        """Remove a file, or find it gone."""
        (self._path / name).unlink(missing_ok=True)

    def sync(self) -> None:
        """Flush the folder itself; without this a new name may not survive a power cut."""
        os.fsync(self._folder)

    def close(self) -> None:
        """Unlock and close the folder."""
        os.close(self._folder)
