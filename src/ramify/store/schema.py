"""The tables of a store, the version of their form, and the steps from older versions to it.

    sessions ─┬─ subscriptions
              ├─ deliveries ──sequence──→ events     one payload for all who are owed it
              ├─ tickets
              └─ wills
    retained      waiting

Values that are only set, read and removed as a whole are MessagePack in `row`: a field that a later
version adds has a default there, and needs no step. Columns are what statements look for or change.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping

APPLICATION = 0x72616D66
"""SQLite's mark for whose file it is: "ramf"."""
VERSION = 1
"""The version that this program writes."""

TABLES = """
CREATE TABLE sessions (client TEXT PRIMARY KEY, row BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE subscriptions (
    client TEXT, identity BLOB, row BLOB NOT NULL, PRIMARY KEY (client, identity)
) WITHOUT ROWID;
CREATE TABLE events (sequence INTEGER PRIMARY KEY, event BLOB NOT NULL);
CREATE TABLE deliveries (
    client TEXT, number INTEGER, sequence INTEGER NOT NULL, quality INTEGER NOT NULL,
    is_retained INTEGER NOT NULL, identifiers BLOB, ticket INTEGER NOT NULL, is_received INTEGER NOT NULL,
    PRIMARY KEY (client, number)
) WITHOUT ROWID;
CREATE INDEX deliveries_of_event ON deliveries (sequence);
CREATE TABLE tickets (client TEXT, ticket INTEGER, PRIMARY KEY (client, ticket)) WITHOUT ROWID;
CREATE TABLE wills (client TEXT PRIMARY KEY, row BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE retained (topic TEXT PRIMARY KEY, row BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE waiting (key TEXT PRIMARY KEY, row BLOB NOT NULL) WITHOUT ROWID;

CREATE TRIGGER delivery_gone AFTER DELETE ON deliveries
WHEN NOT EXISTS (SELECT 1 FROM deliveries WHERE sequence = old.sequence)
BEGIN DELETE FROM events WHERE sequence = old.sequence; END;

CREATE TRIGGER delivery_of_another AFTER UPDATE OF sequence ON deliveries
WHEN NOT EXISTS (SELECT 1 FROM deliveries WHERE sequence = old.sequence)
BEGIN DELETE FROM events WHERE sequence = old.sequence; END;
"""

Step = Callable[[sqlite3.Connection], None]

STEPS: dict[int, Step] = {}
"""By version: what makes the next version of it. Each runs inside the transaction of the opening."""


def create(connection: sqlite3.Connection) -> None:
    """Make the tables, all or none."""
    marks = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"
    connection.executescript(f"BEGIN IMMEDIATE; {TABLES} {marks} COMMIT;")


def migrate(
    connection: sqlite3.Connection, found: int, steps: Mapping[int, Step] = STEPS, wanted: int = VERSION
) -> None:
    """Bring an older form to the wanted version; after a failure it is as it was."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        for version in range(found, wanted):
            steps[version](connection)
        connection.execute(f"PRAGMA user_version = {wanted}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
