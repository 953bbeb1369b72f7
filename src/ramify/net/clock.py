"""The time for the broker: seconds since the epoch that never go back, even if the machine's clock does."""

from __future__ import annotations

import time


class Clock:
    """The wall clock at the start, and what has passed since by a clock that nobody sets."""

    __slots__ = ("_start",)

    def __init__(self) -> None:
        self._start = time.time() - time.monotonic()

    def __call__(self) -> float:
        """The time now."""
        return self._start + time.monotonic()
