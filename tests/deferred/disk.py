"""A disk that may lose, at a power cut, everything it was not told to keep.

What was written but not synced survives in part or garbled, and names that were created,
changed or removed since the folder was synced survive or not, each for itself. A fuse cuts the power
in the middle of whatever the journal is doing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

Choose = Callable[[int], int]
"""Picks a number from 0 to the given one, both included."""


class PowerCut(Exception):
    """An event of the test, not an error of anybody."""


@dataclass(eq=False)
class Inode:
    content: bytearray = field(default_factory=bytearray)
    synced: int = 0


@dataclass
class Disk:
    names_now: dict[str, Inode] = field(default_factory=dict)
    names_kept: dict[str, Inode] = field(default_factory=dict)
    changes: list[tuple[str, str, Inode | None]] = field(default_factory=list)
    fuse: int | None = None
    fault: OSError | None = None

    def step(self) -> None:
        """One thing reaches the disk; the fuse may blow, or the disk may fail."""
        if self.fault is not None:
            raise self.fault
        if self.fuse is not None:
            self.fuse -= 1
            if self.fuse < 0:
                raise PowerCut

    def crash(self, choose: Choose) -> None:
        """Cut the power, and come back with what survived."""
        for name, action, inode in self.changes:
            if choose(1):
                _apply(self.names_kept, name, action, inode)
        for inode in {id(inode): inode for inode in self.names_kept.values()}.values():
            kept = inode.synced + choose(len(inode.content) - inode.synced)
            del inode.content[kept:]
            if kept > inode.synced and choose(1):
                inode.content[inode.synced + choose(kept - inode.synced - 1)] ^= 1 + choose(254)
            inode.synced = len(inode.content)
        self.names_now, self.changes, self.fuse = dict(self.names_kept), [], None

    # ── what a journal asks for ───────────────────────────────────────────────────────────

    def names(self) -> list[str]:
        return sorted(self.names_now)

    def size(self, name: str) -> int:
        return len(self.names_now[name].content)

    def read(self, name: str) -> bytes:
        return bytes(self.names_now[name].content)

    def create(self, name: str) -> File:
        self._change(name, "set", Inode())
        return File(self, self.names_now[name])

    def truncate(self, name: str, size: int) -> None:
        self.step()
        inode = self.names_now[name]
        del inode.content[size:]
        inode.synced = size

    def rename(self, name: str, to: str) -> None:
        inode = self.names_now[name]
        self._change(name, to, inode)

    def remove(self, name: str) -> None:
        self._change(name, "remove", None)

    def sync(self) -> None:
        self.step()
        self.names_kept, self.changes = dict(self.names_now), []

    def close(self) -> None:
        pass

    def _change(self, name: str, action: str, inode: Inode | None) -> None:
        self.step()
        self.changes.append((name, action, inode))
        _apply(self.names_now, name, action, inode)


def _apply(names: dict[str, Inode], name: str, action: str, inode: Inode | None) -> None:
    if action == "remove":
        names.pop(name, None)
    elif inode is not None:
        if action != "set":
            names.pop(name, None)
        names[name if action == "set" else action] = inode


@dataclass
class File:
    disk: Disk
    inode: Inode

    def write(self, content: bytes) -> None:
        half = len(content) // 2
        for part in (content[:half], content[half:]):
            self.disk.step()
            self.inode.content += part

    def sync(self) -> None:
        self.disk.step()
        self.inode.synced = len(self.inode.content)

    def close(self) -> None:
        pass
