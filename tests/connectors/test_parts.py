"""Addresses, options, entries and names: what sources and sinks read before they connect."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify.connectors.addresses import parse_address, without_credentials
from ramify.connectors.entries import (
    ARROW,
    EventRow,
    Flaw,
    Message,
    batch_of,
    event_of_entry,
    event_of_message,
    microseconds_of,
)
from ramify.connectors.redis_source import place
from ramify.connectors.source_options import sink_options, source_options
from ramify.connectors.templates import as_bytes, parse_template
from ramify.errors import CallerError, InvalidEndpoint, InvalidTable
from ramify.jobs.places import parse_sink, parse_source, shown

REDIS = {"url": "redis://127.0.0.1", "stream": "events"}
MQTT = {"url": "mqtt://127.0.0.1", "topic": "plant/#"}


# ── addresses ─────────────────────────────────────────────────────────────────────────────


def test_an_address_never_shows_who_may_enter() -> None:
    address = parse_address("rediss://ann:s%40cret@example.org:7000/3", {})
    assert (address.username, address.password) == ("ann", "s@cret")
    assert str(address) == "rediss://example.org:7000/3"
    assert "cret" not in f"{address!r} {address}"


def test_the_environment_lets_us_in_where_the_url_does_not() -> None:
    environment = {"RAMIFY_MQTT_USERNAME": "ann", "RAMIFY_MQTT_PASSWORD": "secret"}
    address = parse_address("mqtt://[::1]", environment)
    assert (address.username, address.password, str(address)) == ("ann", "secret", "mqtt://[::1]:1883")
    assert parse_address("redis://h", environment).password is None


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://ann:secret@h", "begins with"),
        ("redis://ann:secret@", "names no host"),
        ("redis://ann:secret@h:port", "port"),
        ("redis://ann:secret@h/x", "is a number"),
        ("mqtt://ann:secret@h/x", "goes on behind the port"),
        ("redis://ann:sec/ret@h/0", "port"),
    ],
)
def test_a_url_is_refused_without_showing_who_may_enter(url: str, reason: str) -> None:
    with pytest.raises(InvalidEndpoint, match=reason) as refusal:
        parse_address(url, {})
    assert "secret" not in str(refusal.value)
    assert "'sec'" not in str(refusal.value)


@given(st.text(st.characters(exclude_characters="@"), max_size=20))
def test_nothing_before_the_host_is_ever_shown(secret: str) -> None:
    assert without_credentials(f"redis://ann:{secret}@h/0") == "redis://h/0"


# ── options ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({}, "'url' is missing"),
        ({"url": "redis://h"}, "needs the option 'stream'"),
        ({"url": "mqtt://h"}, "needs the option 'topic'"),
        (REDIS | {"strem": "x"}, "unknown option 'strem'"),
        (REDIS | {"max_rows": "0"}, "from 1 on"),
        (REDIS | {"start": "yesterday"}, "earliest, latest or an id"),
        (MQTT | {"topic": "a/#/b"}, "no MQTT pattern"),
        (MQTT | {"settle": "-1"}, "seconds"),
    ],
)
def test_an_option_that_cannot_be_is_named(options: dict[str, str], reason: str) -> None:
    with pytest.raises(CallerError, match=reason):
        source_options(options, {})


def test_a_template_names_a_column_that_is_there() -> None:
    with pytest.raises(InvalidTable, match="'subscribr' is missing"):
        sink_options(REDIS | {"stream": "inbox:{subscribr}"}, ["topic", "subscriber"], {})
    with pytest.raises(CallerError, match="'qos' is 0, 1 or 2"):
        sink_options(MQTT | {"topic": "{topic}", "qos": "3"}, ["topic"], {})


def test_a_place_is_a_path_or_a_url_with_options() -> None:
    assert parse_source("events/", schema="topic string").path == "events/"
    mqtt = parse_source("mqtt://ann:secret@h:1?topic=plant/+/#&max_rows=5", options={"settle": "2"})
    assert mqtt.format == "mqtt"
    assert mqtt.options["topic"] == "plant/+/#"
    assert mqtt.options["settle"] == "2"
    assert shown(mqtt) == "mqtt://h:1 plant/+/#"
    kafka = parse_source("kafka://one:9092,two:9092?topic=events")
    assert kafka.options == {"kafka.bootstrap.servers": "one:9092,two:9092", "subscribe": "events"}
    assert parse_sink("kafka://one:9092?topic=out").options["topic"] == "out"
    with pytest.raises(InvalidEndpoint, match="name=value"):
        parse_sink("redis://h?stream")


# ── entries ───────────────────────────────────────────────────────────────────────────────


def entry(said: dict[Any, Any], max_bytes: int = 1_000) -> EventRow:
    return event_of_entry("s", "1700000000123-4", said, max_bytes)


def test_an_entry_lacks_nothing_but_a_topic() -> None:
    row = entry({"topic": "a", "fields": "{}", "other": "x"})
    assert row == EventRow("a", 1_700_000_000_123_000, "{}", None, "s/1700000000123-4", None, None)
    assert entry({"topic": "a", "event_id": "7", "ts": "1970-01-01T00:00:01Z"})[:2] == ("a", 1_000_000)


@pytest.mark.parametrize(
    ("said", "flaw"),
    [
        ({}, "there is no topic"),
        ({"fields": "{}"}, "there is no topic"),
        ({"topic": "a", "ts": "soon"}, "'soon' is not a time"),
        ({"topic": "a", "ts": "1e300"}, "is not a time"),
        ({b"topic": b"\xff"}, "'topic' is not UTF-8"),
        ({"topic": "a" * 70_000}, "is allowed|are allowed"),
    ],
)
def test_an_entry_that_cannot_be_read_is_a_row_without_a_topic(said: dict[Any, Any], flaw: str) -> None:
    row = entry(said)
    assert row.topic is None
    assert pytest.approx(row.ts) == 1_700_000_000_123_000
    assert row.fields is not None
    assert any(part in row.fields for part in flaw.split("|"))


def test_a_topic_has_the_length_that_mqtt_can_say() -> None:
    assert entry({"topic": "ä" * 32_767}, 1 << 20).topic is not None
    assert entry({"topic": "ä" * 32_768}, 1 << 20).topic is None


@given(st.dictionaries(st.binary(max_size=5) | st.just(b"topic"), st.binary(max_size=20), max_size=5))
def test_whatever_an_entry_holds_it_becomes_a_row(said: dict[bytes, bytes]) -> None:
    assert batch_of([entry(said)]).schema == ARROW


@given(st.datetimes(datetime(1970, 1, 2), datetime(2200, 1, 1)))
def test_a_time_is_read_as_it_was_written(moment: datetime) -> None:
    column = pa.array([moment.replace(tzinfo=UTC)], pa.timestamp("us", "UTC"))
    (written,) = as_bytes(column)
    assert written is not None
    assert microseconds_of(written.decode()) == column.cast(pa.int64())[0].as_py()
    assert microseconds_of(moment.isoformat()) == column.cast(pa.int64())[0].as_py()


def test_a_time_may_be_seconds_since_1970() -> None:
    assert microseconds_of("12.5") == 12_500_000
    with pytest.raises(Flaw):
        microseconds_of("nan")


def message(topic: bytes, body: bytes, **said: str) -> EventRow:
    return event_of_message("me/7", Message(topic, body, 5, list(said.items())))


def test_the_body_of_a_message_is_its_content_or_its_payload() -> None:
    assert message(b"a", b' {"n": 1}')[:5] == ("a", 5, ' {"n": 1}', None, "me/7")
    assert message(b"a", b"\x00\xff")[:4] == ("a", 5, None, b"\x00\xff")
    assert message(b"a", b"{\xff")[:4] == ("a", 5, None, b"{\xff")
    assert message(b"a", b"", event_id="9", ts="2", publisher="p")[4:6] == ("9", "p")
    assert message(b"\xff", b"x").topic is None
    assert message(b"a", b"x", ts="never").topic is None


def test_ids_are_ordered_by_number() -> None:
    assert place("9-0") < place("10-0") < place("10-2") < place("10-10")


# ── names and values ──────────────────────────────────────────────────────────────────────


def test_a_template_is_filled_for_each_row_that_has_its_columns() -> None:
    batch = pa.RecordBatch.from_pydict({"a": ["x", None], "b": [1, 2]})
    assert parse_template("in:{a}/{b}!", ["a", "b"]).filled(batch) == ["in:x/1!", None]
    assert parse_template("out", []).filled(batch) == ["out", "out"]


def test_values_are_written_as_texts_or_json() -> None:
    def written(values: list[Any], kind: pa.DataType) -> list[bytes | None]:
        return as_bytes(pa.array(values, kind))

    assert written(["ä", None], pa.string()) == ["ä".encode(), None]
    assert written([b"\xff"], pa.binary()) == [b"\xff"]
    assert written([7, None], pa.int64()) == [b"7", None]
    assert written([[("k", 1)]], pa.map_(pa.string(), pa.int64())) == [b'{"k":1}']
    assert written([{"n": [1, 2]}], pa.struct({"n": pa.list_(pa.int64())})) == [b'{"n":[1,2]}']
