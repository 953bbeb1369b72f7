"""What a client's connection needs of a socket, whatever is spoken around the bytes."""

from __future__ import annotations

from typing import Protocol


class Wire(Protocol):
    """A way to the client's socket, such as a transport of asyncio."""

    def write(self, data: bytes, /) -> None:
        """Send bytes, or keep them until they can be sent."""
        ...

    def write_eof(self) -> None:
        """Say that nothing more comes."""
        ...

    def can_write_eof(self) -> bool:
        """Whether that can be said while still reading."""
        ...

    def close(self) -> None:
        """Close it when all is sent."""
        ...

    def abort(self) -> None:
        """Close it now."""
        ...

    def pause_reading(self) -> None:
        """Hear no more for now."""
        ...

    def resume_reading(self) -> None:
        """Hear again."""
        ...
