"""The fields of an event's payload, for the criteria of those who subscribe.

A payload is read as MessagePack if its content type says so, and as JSON otherwise. Only an
object has fields. A payload that cannot be read, or is something else, has none: then only
subscriptions without criteria want the event. An empty payload is an event without content, as
everywhere in ramify: its fields are there, and there are none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import MsgspecError, json, msgpack

from ramify.broker.values import Event

MESSAGE_PACK = frozenset(
    {"application/msgpack", "application/x-msgpack", "application/vnd.msgpack", "application/messagepack"}
)

_read_json = json.Decoder().decode
_read_msgpack = msgpack.Decoder().decode


def fields_of(event: Event) -> dict[str, Any] | None:
    """The fields, or `None` if the payload has none to be read."""
    payload = event.payload
    if not payload:
        return {}
    try:
        value = _reader_for(event)(payload)
    except (MsgspecError, UnicodeError, RecursionError, ValueError):
        return None
    return value if type(value) is dict else None


def _reader_for(event: Event) -> Callable[[bytes], Any]:
    content_type = event.extras.content_type if event.extras is not None else None
    if content_type is None:
        return _read_json
    kind = content_type.partition(";")[0].strip().lower()
    return _read_msgpack if kind in MESSAGE_PACK else _read_json
