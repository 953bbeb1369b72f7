"""The patterns of MQTT: `plant/+/temp`, `plant/#`, `$share/group/plant/#`."""

from __future__ import annotations

from ramify.errors import InvalidPattern
from ramify.model import Dialect, Exact, Form, LevelRules, Pattern, Rest
from ramify.patterns.notation import Notation, read_levels
from ramify.patterns.text import check_text

RULES = LevelRules("/", wildcard_takes_empty=True, hides_internal=True)
NOTATION = Notation(RULES, "level", one="+", rest="#", rest_takes=Rest.ANY)

_MQTT = Dialect.MQTT
_SHARE = "$share/"


def parse(text: str, *, shares: bool = True) -> Pattern:
    """Read a pattern; MQTT 3.1.1 knows no shares, so there `$share/…` is a pattern like any other."""
    check_text(text, InvalidPattern)
    if shares and text.startswith(_SHARE):
        return _parse_share(text)
    return Pattern(text, _MQTT, _form(text, text))


def _form(text: str, whole: str) -> Form:
    if "+" in text or "#" in text:
        return read_levels(text, NOTATION, whole)
    if not text:
        raise InvalidPattern(whole, len(whole) + 1, "a pattern has at least one character")
    return Exact(text)


def _parse_share(text: str) -> Pattern:
    """Read `$share/group/pattern`. [MQTT-4.8.2-1] [MQTT-4.8.2-2]"""
    group, slash, shared = text[len(_SHARE) :].partition("/")
    if not group:
        raise InvalidPattern(text, len(_SHARE) + 1, "a share needs the name of its group")
    for at, char in enumerate(group, len(_SHARE) + 1):
        if char in "+#":
            raise InvalidPattern(text, at, f"{char!r} cannot stand in the name of a share's group")
    if not slash:
        raise InvalidPattern(text, len(text) + 1, "a share needs '/' and a pattern behind its group")
    return Pattern(text, _MQTT, _form(shared, text), group)
