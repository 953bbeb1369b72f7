"""Why a strategy was taken: what the pipeline's own log says while it plans."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

LOG = "ramify.pipeline"


class Reasons(logging.Handler):
    """Keeps what is said."""

    def __init__(self, asked: str) -> None:
        super().__init__(logging.INFO)
        self._asked = asked
        self._said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a message."""
        self._said.append(record.getMessage())

    @property
    def words(self) -> str:
        """The reason, in words."""
        said = [each.removeprefix("strategy ") for each in self._said if each.startswith("strategy ")]
        return said[-1] if said else f"{self._asked}: as asked for"


@contextmanager
def reasons(asked: str) -> Iterator[Reasons]:
    """Listen to the log while a job is planned."""
    log, listener = logging.getLogger(LOG), Reasons(asked)
    level = log.level
    log.addHandler(listener)
    log.setLevel(min(level or logging.INFO, logging.INFO))
    try:
        yield listener
    finally:
        log.removeHandler(listener)
        log.setLevel(level)
