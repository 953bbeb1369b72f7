"""Tables of texts by their length: what asks a topic for its prefixes or suffixes.

A table per length lets one look-up with the topic's first (or last) so many characters find
everything filed under just those. The lengths in use are few; hostile ones could be thousands,
so past `MANY_LENGTHS` a new text is refused at its own length, and is filed elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable

from ramify.index.buckets import Held, drop, put

MANY_LENGTHS = 32


class LengthTables:
    """Items by texts, a table per length of text."""

    __slots__ = ("_tables", "lookups")

    def __init__(self) -> None:
        self._tables: dict[int, dict[str, Held]] = {}
        self.lookups: tuple[tuple[int, Callable[[str], Held]], ...] = ()
        """Each length in use, ascending, with its look-up: a snapshot that readers may walk."""

    def takes(self, length: int) -> bool:
        """Whether a text of this length may be filed here."""
        return length in self._tables or len(self._tables) < MANY_LENGTHS

    def add(self, text: str, item: object) -> None:
        """File an item under a text."""
        table = self._tables.get(len(text))
        if table is None:
            table = self._tables[len(text)] = {}
            self._refresh()
        put(table, text, item)

    def remove(self, text: str, item: object) -> None:
        """Take away an item that was filed under this text."""
        table = self._tables[len(text)]
        drop(table, text, item)
        if not table:
            del self._tables[len(text)]
            self._refresh()

    def _refresh(self) -> None:
        self.lookups = tuple((length, table.get) for length, table in sorted(self._tables.items()))
