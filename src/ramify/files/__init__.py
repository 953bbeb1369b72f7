"""Subscriptions in files: JSON Lines, CSV and Parquet.

`load` keeps every good line and sets the bad ones aside with the reason; `save` writes a whole
file or none. See docs/cli.md for the columns.
"""

from __future__ import annotations

from ramify.files.collection import BadLine, Loaded
from ramify.files.formats import FORMATS, format_of
from ramify.files.storage import load, read, save, write

__all__ = ["FORMATS", "BadLine", "Loaded", "format_of", "load", "read", "save", "write"]
