"""What was read or written before and comes again: topics and properties, in bounded memory.

Publishers repeat themselves. Looking their bytes up saves decoding and judging them, and gives all
events on a topic one text with its hash ready. Who floods it with new ones only slows the others.
"""

from __future__ import annotations

from typing import TypeVar

from ramify.mqtt.properties import PublishProperties

MOST = 16_384
LONGEST = 256
"""Bytes."""

topics: dict[bytes, str] = {}
"""Topics that were judged, by their UTF-8."""

topic_bytes: dict[str, bytes] = {}
"""Topics as they stand in packets."""

properties: dict[bytes, PublishProperties] = {}
"""The properties of messages that were judged, by all of their bytes."""

_K = TypeVar("_K", bytes, str)
_V = TypeVar("_V")


def remember(known: dict[_K, _V], key: _K, value: _V) -> None:
    """Know it from now on, unless it is long."""
    if len(key) > LONGEST:
        return
    if len(known) >= MOST:
        known.clear()  # learning anew costs some time, and nothing else
    known[key] = value
