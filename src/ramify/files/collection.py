"""What a file gave: the subscriptions of its good lines, and its bad lines with the reason.

An id that is given twice stands for the line that gave it first. A line without an id is named
after its number, once all the given ids are known, so that it never takes one of theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from ramify.errors import CallerError, InvalidCriteria, InvalidText
from ramify.files.rows import KNOWN, Row, RowReader
from ramify.model import Subscription

LONGEST_SHOWN = 80

Source = bytes | Sequence[str | None]
"""What a line held: its bytes, or its cells."""


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that was set aside; in a Parquet file, a row."""

    line: int
    """Its number, from 1."""
    reason: str
    text: str
    """What it holds, shortened."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """The subscriptions of a file, in its order, and what was set aside."""

    subscriptions: tuple[Subscription, ...]
    bad: tuple[BadLine, ...] = ()
    notes: tuple[str, ...] = ()
    """What is odd about the file as a whole, but harms no line."""


class Collection:
    """Takes the lines of one file, one after the other."""

    def __init__(self) -> None:
        self._reader = RowReader()
        self._subscriptions: list[Subscription] = []
        self._bad: list[BadLine] = []
        self._unknown: dict[str, None] = {}
        self._line_of: dict[str, int] = {}
        self._nameless: list[tuple[int, int]] = []
        """The place and the line of each subscription that still needs an id."""

    def take(self, line: int, row: Row, source: Source) -> None:
        """Read a row, or set its line aside."""
        try:
            subscription = self._reader.subscription(row)
        except CallerError as refusal:
            self.set_aside(line, _in_words(refusal), source)
            return
        if not subscription.id:
            self._nameless.append((len(self._subscriptions), line))
        elif (first := self._line_of.setdefault(subscription.id, line)) != line:
            self.set_aside(line, f"id {subscription.id!r} is given again; first on line {first}", source)
            return
        self._subscriptions.append(subscription)

    def set_aside(self, line: int, reason: str, source: Source) -> None:
        """Keep a line out, for a reason."""
        self._bad.append(BadLine(line, reason, _shown(source)))

    def note_columns(self, names: Iterable[str]) -> None:
        """Remember the columns that mean nothing here, to say so once."""
        self._unknown.update(dict.fromkeys(name for name in names if name not in KNOWN))

    def loaded(self) -> Loaded:
        """All that was taken."""
        for place, line in self._nameless:
            self._subscriptions[place] = replace(self._subscriptions[place], id=self._free_id(line))
        self._nameless.clear()
        names = ", ".join(repr(name) for name in self._unknown)
        notes = (f"unknown columns are left out: {names}",) if names else ()
        return Loaded(tuple(self._subscriptions), tuple(self._bad), notes)

    def _free_id(self, line: int) -> str:
        id, attempt = f"line-{line}", 1
        while id in self._line_of:
            attempt += 1
            id = f"line-{line}-{attempt}"
        return id


def _in_words(refusal: CallerError) -> str:
    if not isinstance(refusal, InvalidText):
        return str(refusal)
    column = "where" if isinstance(refusal, InvalidCriteria) else "pattern"
    return f"{column}: {refusal.reason} at column {refusal.column}"


def _shown(source: Source) -> str:
    if isinstance(source, bytes):
        # A character has four bytes at most, so this is enough for all that is shown.
        text = source[: 4 * LONGEST_SHOWN + 4].decode(errors="replace").rstrip("\r\n")
    else:
        text = ",".join(cell or "" for cell in source)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"
