"""Where a stream comes from and goes to, in one text: a path, or a URL whose query holds the options.

events/                                       files in a folder
redis://127.0.0.1:6379/0?stream=events        a Redis Stream
mqtt://127.0.0.1:1883?topic=plant/#           an MQTT broker
kafka://one:9092,two:9092?topic=events        Kafka
"""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from ramify.connectors.addresses import SCHEMES, without_credentials
from ramify.errors import InvalidEndpoint
from ramify.jobs.description import Format, Sink, Source

KAFKA: Format = "kafka"


def parse_source(text: str, **more: Any) -> Source:
    """Read where events come from; a format that is given stands for that of a path."""
    format, path, options = _parsed(text)
    if format == KAFKA:
        options = _renamed(options, "topic", "subscribe")
    more["options"] = options | (more.get("options") or {})
    return Source(**{**more, "path": path, "format": format or more.get("format")})


def parse_sink(text: str, **more: Any) -> Sink:
    """Read where deliveries go."""
    format, path, options = _parsed(text)
    more["options"] = options | (more.get("options") or {})
    return Sink(**{**more, "path": path, "format": format or more.get("format")})


def _parsed(text: str) -> tuple[Format | None, str | None, dict[str, str]]:
    scheme = text.partition("://")[0]
    if "://" not in text or scheme not in (*SCHEMES, KAFKA):
        return None, text, {}
    base, _, query = text.partition("?")
    options = _options(base, query)
    if scheme == KAFKA:
        return KAFKA, None, {"kafka.bootstrap.servers": base.partition("://")[2].rstrip("/"), **options}
    format: Format = "redis" if SCHEMES[scheme][0] == "redis" else "mqtt"
    return format, None, {"url": base, **options}


def _options(base: str, query: str) -> dict[str, str]:
    """The options behind the question mark; `+` and `#` are themselves there, as patterns need them."""
    options = {}
    for part in filter(None, query.split("&")):
        name, sign, value = part.partition("=")
        if not sign or not name:
            raise InvalidEndpoint(without_credentials(base), f"{part!r} is not of the form name=value")
        options[unquote(name)] = unquote(value)
    return options


def _renamed(options: dict[str, str], old: str, new: str) -> dict[str, str]:
    return {new if name == old else name: value for name, value in options.items()}


def shown(place: Source | Sink) -> str:
    """A place as errors and summaries name it, without who may enter."""
    if place.path is not None:
        return place.path
    names = ("stream", "topic", "subscribe")
    what = next((place.options[name] for name in names if name in place.options), "")
    where = place.options.get("url") or place.options.get("kafka.bootstrap.servers", "")
    return f"{without_credentials(where)} {what}".strip() or str(place.format)
