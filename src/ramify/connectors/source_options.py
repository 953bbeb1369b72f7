"""The options of the format `ramify`: read and checked at once, so that nothing begins with wrong ones."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ramify.connectors.addresses import MQTT, REDIS, Address, parse_address
from ramify.connectors.templates import Template, parse_template
from ramify.errors import CallerError, InvalidPattern
from ramify.patterns import parse_pattern

BEGINNING = "0-0"
"""The id before all that a Redis Stream can have."""
MAX_ROWS, MAX_BYTES = 100_000, 1 << 20

READS = {
    REDIS: ("stream", "start", "end", "max_rows", "max_bytes", "partitions"),
    MQTT: ("topic", "log", "client_id", "settle", "max_rows"),
}
WRITES = {REDIS: ("stream", "maxlen"), MQTT: ("topic", "qos")}
NEEDED = {REDIS: ("stream",), MQTT: ("topic",)}

_SPARKS = ("path", "checkpointlocation", "querytype", "queryname")
"""Options that Spark adds for itself."""
_ENTRY_ID = re.compile(r"\d{1,20}-\d{1,20}")


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """What to read, and how much at a time."""

    address: Address
    streams: tuple[str, ...] = ()
    start: str = BEGINNING
    """The id behind which a stream is read; empty is its end."""
    end: str | None = None
    topic: str = ""
    log: Path = Path()
    client_id: str | None = None
    settle: float = 1.0
    max_rows: int = MAX_ROWS
    max_bytes: int = MAX_BYTES
    partitions: int = 4


@dataclass(frozen=True, slots=True)
class SinkOptions:
    """Where to write."""

    address: Address
    name: Template
    """Of the stream, or the topic, that a row is written to."""
    maxlen: int | None = None
    qos: int = 1


def source_options(options: Mapping[str, str], environment: Mapping[str, str] | None = None) -> SourceOptions:
    """Read the options of a source."""
    address = _address(options, READS, environment)
    if address.kind == MQTT:
        return SourceOptions(
            address,
            topic=_checked_pattern(options["topic"]),
            log=Path(options.get("log", "")),
            client_id=options.get("client_id"),
            settle=_number(options, "settle", 1.0),
            max_rows=_count(options, "max_rows", MAX_ROWS),
        )
    return SourceOptions(
        address,
        tuple(name.strip() for name in options["stream"].split(",") if name.strip()),
        _entry_id("start", options.get("start", "earliest")),
        None if "end" not in options else _entry_id("end", options["end"]),
        max_rows=_count(options, "max_rows", MAX_ROWS),
        max_bytes=_count(options, "max_bytes", MAX_BYTES),
        partitions=_count(options, "partitions", min(16, os.cpu_count() or 1)),
    )


def sink_options(
    options: Mapping[str, str], names: Sequence[str], environment: Mapping[str, str] | None = None
) -> SinkOptions:
    """Read the options of a sink for rows with these columns."""
    address = _address(options, WRITES, environment)
    name = parse_template(options[NEEDED[address.kind][0]], names)
    maxlen = _count(options, "maxlen", 0) if "maxlen" in options else None
    return SinkOptions(address, name, maxlen, _qos(options))


def _address(
    options: Mapping[str, str], known: Mapping[str, Sequence[str]], environment: Mapping[str, str] | None
) -> Address:
    if not options.get("url"):
        raise CallerError("format ramify: the option 'url' is missing, such as redis://127.0.0.1:6379/0")
    address = parse_address(options["url"], os.environ if environment is None else environment)
    for name in NEEDED[address.kind]:
        if not options.get(name):
            raise CallerError(f"format ramify: {address} needs the option {name!r}")
    for name in options:
        if name.lower() not in (*known[address.kind], "url", *_SPARKS):
            there = ", ".join(known[address.kind])
            raise CallerError(f"format ramify: unknown option {name!r}; besides url there are {there}")
    return address


def _checked_pattern(text: str) -> str:
    try:
        parse_pattern(text, "mqtt")
    except InvalidPattern as refusal:
        raise CallerError(f"format ramify: the option 'topic' is no MQTT pattern: {refusal}") from None
    return text


def _entry_id(name: str, text: str) -> str:
    if text in ("earliest", "latest"):
        return BEGINNING if text == "earliest" else ""
    if not _ENTRY_ID.fullmatch(text):
        raise CallerError(f"format ramify: the option {name!r} is earliest, latest or an id, not {text!r}")
    return text


def _count(options: Mapping[str, str], name: str, usual: int) -> int:
    text = options.get(name, str(usual))
    if not (text.isascii() and text.isdecimal()) or not 0 < int(text) < 1 << 40:
        raise CallerError(f"format ramify: the option {name!r} is a number from 1 on, not {text!r}")
    return int(text)


def _number(options: Mapping[str, str], name: str, usual: float) -> float:
    text = options.get(name, str(usual))
    if not re.fullmatch(r"\d{1,6}(\.\d{1,6})?", text):
        raise CallerError(f"format ramify: the option {name!r} is a number of seconds, not {text!r}")
    return float(text)


def _qos(options: Mapping[str, str]) -> int:
    text = options.get("qos", "1")
    if text not in ("0", "1", "2"):
        raise CallerError(f"format ramify: the option 'qos' is 0, 1 or 2, not {text!r}")
    return int(text)
