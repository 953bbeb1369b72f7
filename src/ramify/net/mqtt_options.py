"""What ramify adds to MQTT's subscriptions and publications, as clients can write it.

MQTT 5 clients say it in user properties of SUBSCRIBE, which then hold for all its filters. Clients
without user properties write it in front of the filter, as a JSON object with the same names:

    $ramify/{"where": "celsius > 80", "dialect": "glob"}/plant/*

No client could mean anything else by that: nobody can publish below `$ramify`, and `{` follows.
"""

from __future__ import annotations

import json
from math import isfinite
from typing import Any

from ramify.broker import Debounce, Defer, Identity, Wish
from ramify.errors import InvalidSubscription
from ramify.model import Dialect
from ramify.mqtt import Version
from ramify.mqtt.packets import Publish, Subscribe, SubscribeRequest

PREFIX = "$ramify/{"
_WORDS = {"true": True, "false": False}

Properties = tuple[tuple[str, str], ...]
Options = dict[str, Any]

SUBSCRIBE_NAMES = (
    "where",
    "dialect",
    "group",
    "debounce-quiet",
    "debounce-max-wait",
    "debounce-keep",
    "shadow",
)
"""What a subscription may carry; other names are the client's own business."""


def wish_of(request: SubscribeRequest, subscribe: Subscribe, version: Version) -> Wish:
    """What a client asks for by one filter of a SUBSCRIBE."""
    pattern, options = read_filter(request.filter, subscribe.properties.user_properties)
    return Wish(
        pattern,
        _dialect(options),
        _text(options, "where"),
        request.qos,
        request.no_local,
        request.retain_as_published,
        request.retain_handling,
        subscribe.properties.subscription_id or 0,
        _text(options, "group") or None,
        version is Version.V5,
        _debounce(options),
        _truth(options, "shadow"),
    )


def identity_of(name: str, properties: Properties) -> Identity:
    """Which subscription a filter of an UNSUBSCRIBE names."""
    pattern, options = read_filter(name, properties)
    return Identity(pattern, _dialect(options), _text(options, "group") or None)


def defer_of(packet: Publish) -> Defer | None:
    """How an event is to wait for others of its key, if its publisher wants that."""
    options = dict(packet.properties.user_properties)
    quiet = _number(options, "defer")
    if quiet is None:
        return None
    return Defer(options.get("key", ""), quiet, _number(options, "defer-max-wait"))


def read_filter(name: str, properties: Properties) -> tuple[str, Options]:
    """The pattern of a filter, and what is said about it in front of it or in user properties."""
    options: Options = {key: value for key, value in properties if key in SUBSCRIBE_NAMES}
    if not name.startswith(PREFIX):
        return name, options
    start = len(PREFIX) - 1
    try:
        said, end = json.JSONDecoder().raw_decode(name, start)
    except (ValueError, RecursionError):
        raise InvalidSubscription(f"behind $ramify/ there is no JSON object in {name[:80]!r}") from None
    if name[end : end + 1] != "/":
        raise InvalidSubscription(f"a pattern follows the options, behind a /, in {name[:80]!r}")
    unknown = [key for key in said if key not in SUBSCRIBE_NAMES]
    if unknown:
        raise InvalidSubscription(
            f"no option is called {unknown[0]!r}; they are {', '.join(SUBSCRIBE_NAMES)}"
        )
    return name[end + 1 :], {**options, **said}


def _dialect(options: Options) -> str:
    return _text(options, "dialect") or Dialect.MQTT


def _debounce(options: Options) -> Debounce | None:
    quiet = _number(options, "debounce-quiet")
    max_wait, keep = _number(options, "debounce-max-wait"), _text(options, "debounce-keep")
    if quiet is not None:
        return Debounce(quiet, max_wait, keep or "last")
    if max_wait is not None or keep:
        raise InvalidSubscription("a subscription is debounced by debounce-quiet, which is missing")
    return None


def _text(options: Options, name: str) -> str:
    value = options.get(name, "")
    if not isinstance(value, str):
        raise InvalidSubscription(f"{name} is a text, not {value!r}")
    return value


def _number(options: Options, name: str) -> float | None:
    value = options.get(name)
    if value is None:
        return None
    try:
        seconds = float(value) if not isinstance(value, bool) else -1.0
    except (TypeError, ValueError, OverflowError):
        seconds = -1.0
    if not isfinite(seconds) or seconds < 0:
        raise InvalidSubscription(f"{name} is a number of seconds, not {str(value)[:40]!r}")
    return seconds


def _truth(options: Options, name: str) -> bool:
    value = options.get(name, False)
    value = _WORDS.get(value, value) if isinstance(value, str) else value
    if not isinstance(value, bool):
        raise InvalidSubscription(f"{name} is true or false, not {str(value)[:40]!r}")
    return value
