"""What the broker must remember through a crash, in one SQLite file."""

from ramify.store.opening import Durability
from ramify.store.store import SqliteStore

__all__ = ["Durability", "SqliteStore"]
