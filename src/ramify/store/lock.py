"""One process at a time: a lock beside the store, with the number of the process that holds it.

It is a file of its own: closing any descriptor of the store's file would make SQLite lose the locks
that it has there.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from ramify.errors import StoreInUse


class Lock:
    """Held from when it is made until it is released, or until the process ends, however it ends."""

    def __init__(self, store: Path) -> None:
        self._descriptor = os.open(f"{store}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(self._descriptor, 20, 0).decode("ascii", "replace").strip()
            os.close(self._descriptor)
            who = f"process {holder}" if holder else "another process"
            raise StoreInUse(str(store), f"{who} has this store open") from None
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Let others have the store; the file stays, because removing it could part two holders."""
        os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)
