"""Durations as people write them: `30s`, `5m`, `1h`, `250ms`, or a number of seconds."""

from __future__ import annotations

import re
from datetime import timedelta
from math import isfinite

from ramify.errors import InvalidPolicy

Duration = str | float | timedelta

UNITS = {"ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}
"""In microseconds, which is how finely Spark tells time."""

_WRITTEN = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)")


LONGEST = 2**53
"""285 years: any longer, and a deadline might lie beyond what Spark can tell."""


def microseconds(duration: Duration) -> int:
    """A duration in microseconds."""
    counted = _counted(duration)
    if counted > LONGEST:
        raise InvalidPolicy(f"{duration!r} is longer than 285 years")
    return counted


def _counted(duration: Duration) -> int:
    if isinstance(duration, timedelta):
        return duration // timedelta(microseconds=1)
    if isinstance(duration, str):
        found = _WRITTEN.fullmatch(duration.strip())
        if found is None:
            raise InvalidPolicy(f"{duration!r} is not a duration; write 250ms, 30s, 5m, 1h or 1d")
        return round(float(found[1]) * UNITS[found[2]])
    if isinstance(duration, bool) or not isfinite(duration):
        raise InvalidPolicy(f"{duration!r} is not a duration; give seconds, or a text such as '30s'")
    return round(duration * UNITS["s"])
