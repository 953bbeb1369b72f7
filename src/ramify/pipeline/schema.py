"""Every column that the pipeline reads or writes, and the check that a table has what it must.

The check looks at the schema alone, so a missing or mistyped column is refused before any job runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pyspark.sql.types import (
    DataType,
    LongType,
    MapType,
    NullType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
    VariantType,
)

from ramify.errors import InvalidTable

# ── the columns of events ─────────────────────────────────────────────────────────────────

TOPIC = "topic"
TS = "ts"
FIELDS = "fields"
REALM = "realm"
EVENT_ID = "event_id"

# ── the columns of subscriptions ──────────────────────────────────────────────────────────

SUBSCRIPTION_ID = "subscription_id"
SUBSCRIBER = "subscriber"
PATTERN = "pattern"
DIALECT = "dialect"
MATCH = "match"
WHERE = "where"
GROUP = "group"
VALID_FROM = "valid_from"
VALID_TO = "valid_to"

ID = "id"
"""Another name for `subscription_id`: what files of subscriptions call it."""

DEFAULT_REALM = "default"

# ── what comes out ────────────────────────────────────────────────────────────────────────

SOURCE = "source"
REASON = "reason"
ROW = "row"
REJECT = StructType(
    [StructField(SOURCE, StringType()), StructField(REASON, StringType()), StructField(ROW, StringType())]
)

FIRED_AT = "fired_at"
MERGED = "merged"

GAINED, LOST, UNCHANGED = "gained", "lost", "unchanged"
BACKTEST = (SUBSCRIBER, GAINED, LOST, UNCHANGED)

KIND, NAME, VALUE, COUNT = "kind", "name", "value", "count"
STATISTICS = StructType(
    [
        StructField(KIND, StringType()),
        StructField(NAME, StringType()),
        StructField(VALUE, StringType()),
        StructField(COUNT, LongType()),
    ]
)

OURS = "_ramify_"
"""Columns that are ours while a plan runs begin with this; a table may have none of its own."""


class Wanted(NamedTuple):
    """A column that a table must or may have."""

    name: str
    kinds: tuple[type[DataType], ...]
    said: str
    is_required: bool = False


TEXT = (StringType,)
TIMES = (TimestampType, TimestampNTZType)
CONTENT = (StructType, MapType, VariantType, StringType)
CONTENT_SAID = "a struct, a map with texts for keys, a variant or JSON text"

SUBSCRIPTION_TEXTS = (SUBSCRIPTION_ID, SUBSCRIBER, PATTERN, DIALECT, MATCH, WHERE, GROUP, REALM)
SUBSCRIPTION_TIMES = (VALID_FROM, VALID_TO)
REQUIRED_OF_SUBSCRIPTIONS = (SUBSCRIPTION_ID, SUBSCRIBER, PATTERN)

SUBSCRIPTIONS = (
    *(Wanted(name, TEXT, "text", name in REQUIRED_OF_SUBSCRIPTIONS) for name in SUBSCRIPTION_TEXTS),
    *(Wanted(name, TIMES, "timestamp") for name in SUBSCRIPTION_TIMES),
)


def quoted(name: str) -> str:
    """A column's name as Spark takes it whatever it is: a dot in it leads nowhere."""
    return "`" + name.replace("`", "``") + "`"


def check_subscriptions(schema: StructType) -> None:
    """Refuse a table that cannot hold subscriptions."""
    _check("subscriptions", schema, SUBSCRIPTIONS)
    kinds = {type(schema[name].dataType) for name in SUBSCRIPTION_TIMES if name in schema.names} & set(TIMES)
    if len(kinds) > 1:
        raise InvalidTable("subscriptions", VALID_TO, "is another kind of timestamp than valid_from")


def check_events(schema: StructType, *, fields: str | None = None, times: StructType | None = None) -> None:
    """Refuse a table that cannot hold events; `times` is the schema that they must be compared with."""
    wanted = [Wanted(TOPIC, TEXT, "text", True), Wanted(REALM, TEXT, "text")]
    wanted.append(Wanted(fields or FIELDS, CONTENT, CONTENT_SAID, fields is not None))
    compared = [] if times is None else [name for name in SUBSCRIPTION_TIMES if name in times.names]
    if compared:
        wanted.append(Wanted(TS, TIMES, "timestamp", True))
    _check("events", schema, wanted)
    _check_free("events", schema, (SUBSCRIPTION_ID, SUBSCRIBER))
    content = content_type(schema, fields)
    if isinstance(content, MapType) and not isinstance(content.keyType, StringType):
        raise InvalidTable("events", fields or FIELDS, f"is {content.simpleString()}, wanted {CONTENT_SAID}")
    for name in compared:
        assert times is not None
        ours, theirs = schema[TS].dataType, times[name].dataType
        if type(theirs) not in (type(ours), NullType):
            raise InvalidTable(
                "events", TS, f"is {ours.simpleString()}, and {name} is {theirs.simpleString()}"
            )


def check_timed(schema: StructType, key: Iterable[str], made: Iterable[str]) -> None:
    """Refuse a table that cannot be coalesced by this key."""
    kinds = (DataType,)
    keys = [Wanted(name, kinds, "any type", True) for name in key]
    _check("deliveries", schema, [Wanted(TS, TIMES, "timestamp", True), *keys])
    _check_free("deliveries", schema, made)


def content_type(schema: StructType, fields: str | None) -> DataType | None:
    """The type of the column that holds the content of events, if there is one."""
    name = fields or FIELDS
    if name not in schema.names or isinstance(schema[name].dataType, NullType):
        return None
    return schema[name].dataType


def is_hashable(kind: DataType) -> bool:
    """Whether Spark can hash values of this type: all but maps and variants, at any depth."""
    if isinstance(kind, StructType):
        return all(is_hashable(field.dataType) for field in kind.fields)
    inner = getattr(kind, "elementType", None)
    return not isinstance(kind, MapType | VariantType) and (inner is None or is_hashable(inner))


def _check(table: str, schema: StructType, wanted: Iterable[Wanted]) -> None:
    names = schema.names
    for name, kinds, said, is_required in wanted:
        if name not in names:
            if is_required:
                raise InvalidTable(table, name, f"is missing; the columns are {', '.join(names) or 'none'}")
            continue
        found = schema[name].dataType
        if names.count(name) > 1:
            raise InvalidTable(table, name, "is there twice")
        if not isinstance(found, kinds) and not (isinstance(found, NullType) and not is_required):
            raise InvalidTable(table, name, f"is {found.simpleString()}, wanted {said}")


def _check_free(table: str, schema: StructType, made: Iterable[str]) -> None:
    for name in schema.names:
        if name in made or name.startswith(OURS):
            raise InvalidTable(table, name, "is a name that the answer needs; rename that column")
