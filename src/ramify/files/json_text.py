"""Reads JSON text strictly: what Python's own reader lets pass, such as NaN, is refused."""

from __future__ import annotations

from typing import Any

from msgspec import MsgspecError
from msgspec.json import Decoder

from ramify.errors import InvalidSubscription

_decode = Decoder().decode


def json_object(text: bytes | str) -> dict[str, Any]:
    """Read a JSON object."""
    value = json_value(text)
    if not isinstance(value, dict):
        raise InvalidSubscription("not a JSON object")
    return value


def json_value(text: bytes | str) -> Any:
    """Read any JSON value."""
    try:
        return _decode(text)
    except MsgspecError as refusal:
        raise InvalidSubscription(f"not JSON: {_tidied(str(refusal))}") from None
    except UnicodeError:
        raise InvalidSubscription("not UTF-8") from None
    except RecursionError:
        raise InvalidSubscription("not JSON that can be read: it is nested too deep") from None


def _tidied(message: str) -> str:
    message = message.removeprefix("JSON is malformed: ")
    return message[:1].lower() + message[1:]
