"""From a text to a pattern, whichever dialect it is written in."""

from __future__ import annotations

from collections.abc import Callable

from ramify.errors import InvalidSubscription, UnknownDialect
from ramify.model import Dialect, Pattern
from ramify.patterns import glob, mqtt, nats, path, wamp

# Keyed by plain texts, which dialects are too: a caller may say either.
_PARSERS: dict[str, Callable[[str], Pattern]] = {
    Dialect.MQTT: mqtt.parse,
    Dialect.WAMP: wamp.parse,
    Dialect.PATH: path.parse,
    Dialect.GLOB: glob.parse,
    Dialect.NATS: nats.parse,
}


def parse_pattern(text: str, dialect: Dialect | str = "mqtt", *, match: str | None = None) -> Pattern:
    """Read a pattern; `match` is WAMP's option: exact, prefix or wildcard."""
    parse = _PARSERS.get(dialect)
    if parse is None:
        raise UnknownDialect(dialect, tuple(Dialect))
    if match is None:
        return parse(text)
    if dialect != Dialect.WAMP:
        raise InvalidSubscription(f"match={match!r} is an option of wamp, and the dialect is {dialect}")
    return wamp.parse(text, match=match)


def known_dialect(name: Dialect | str) -> Dialect:
    """The dialect of that name."""
    if name not in _PARSERS:
        raise UnknownDialect(name, tuple(Dialect))
    return Dialect(name)
