"""One row of a file and the subscription it stands for.

An optional text that is empty counts as absent, because CSV cannot tell the two apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from json import JSONEncoder
from typing import Any

from msgspec import Struct

from ramify.criteria import parse_criteria, term_to_text
from ramify.errors import InvalidSubscription
from ramify.model import ALWAYS, Criteria, Dialect, Pattern, Subscription
from ramify.patterns import parse_pattern
from ramify.patterns.groups import agreed_group


class Row(Struct, forbid_unknown_fields=True):
    """The columns of one subscription, as a file holds them."""

    subscriber: str
    pattern: str
    id: str | None = None
    dialect: str | None = None
    match: str | None = None
    where: str | None = None
    group: str | None = None
    data: Any = None
    subscription_id: str | None = None
    """Another name for the id."""


COLUMNS = ("id", "subscriber", "pattern", "dialect", "match", "where", "group", "data")
REQUIRED = ("subscriber", "pattern")
KNOWN = frozenset(Row.__struct_fields__)

_PatternKey = tuple[str, str, str | None]

_JSON_KINDS = {
    bool: "a boolean",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "an object",
    type(None): "null",
}


_encode = JSONEncoder(allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode


def row_of(columns: Mapping[str, Any]) -> Row:
    """Make a row of columns, or say what is wrong with them; unknown ones are left out."""
    for name in REQUIRED:
        if name not in columns:
            raise InvalidSubscription(f"{name} is missing")
    for name, value in columns.items():
        is_absent = value is None and name not in REQUIRED
        if name in KNOWN and name != "data" and not isinstance(value, str) and not is_absent:
            kind = _JSON_KINDS.get(type(value), "no text")
            raise InvalidSubscription(f"{name} is {kind}, wanted a text")
    return Row(**{name: value for name, value in columns.items() if name in KNOWN})


class RowReader:
    """Makes subscriptions of rows; each distinct pattern and criteria is parsed once."""

    def __init__(self) -> None:
        self._patterns: dict[_PatternKey, Pattern] = {}
        self._criteria: dict[str | None, Criteria] = {None: ALWAYS}

    def subscription(self, row: Row) -> Subscription:
        """Read a row; without an id of its own, the id is empty."""
        id = row.id or row.subscription_id or ""
        pattern = self._pattern((row.pattern, row.dialect or Dialect.MQTT, row.match or None))
        group = agreed_group(pattern, row.group or None)
        return Subscription(id, row.subscriber, pattern, self._where(row.where), row.data, group)

    def _pattern(self, key: _PatternKey) -> Pattern:
        found = self._patterns.get(key)
        if found is None:
            text, dialect, match = key
            found = self._patterns[key] = parse_pattern(text, dialect, match=match)
        return found

    def _where(self, text: str | None) -> Criteria:
        found = self._criteria.get(text)
        if found is None:
            found = self._criteria[text] = parse_criteria(text or "")
        return found


# ── writing ───────────────────────────────────────────────────────────────────────────────


class RowWriter:
    """Makes rows of subscriptions, of those that reading the row would give back."""

    def __init__(self) -> None:
        self._readable: set[Pattern] = set()

    def row(self, subscription: Subscription) -> dict[str, str | None]:
        """All the columns of a subscription, its data as JSON text."""
        pattern, criteria = subscription.pattern, subscription.criteria
        self._check(subscription)
        row = {
            "id": subscription.id,
            "subscriber": subscription.subscriber,
            "pattern": pattern.text,
            "dialect": pattern.dialect.value,
            "match": pattern.match,
            "where": criteria.text or term_to_text(criteria.term) or None,
            "group": None if subscription.group == pattern.group else subscription.group,
            "data": _json_text(subscription),
        }
        if not all(text is None or text.isascii() for text in row.values()):
            _check_encodable(subscription, row)
        return row

    def _check(self, subscription: Subscription) -> None:
        pattern = subscription.pattern
        if not subscription.id or subscription.group == "":
            raise _refusal(subscription, "an empty id or group cannot be written")
        if pattern.group is not None and subscription.group != pattern.group:
            raise _refusal(subscription, f"it is not in the group {pattern.group!r} that its pattern names")
        if pattern not in self._readable:
            if parse_pattern(pattern.text, pattern.dialect, match=pattern.match) != pattern:
                raise _refusal(subscription, f"its pattern {pattern.text!r} would be read as another")
            self._readable.add(pattern)


def _json_text(subscription: Subscription) -> str | None:
    if subscription.data is None:
        return None
    try:
        return _encode(subscription.data)
    except (TypeError, ValueError, RecursionError) as refusal:
        raise _refusal(subscription, f"its data cannot be written as JSON: {refusal}") from None


def _check_encodable(subscription: Subscription, row: Mapping[str, str | None]) -> None:
    for column, text in row.items():
        try:
            (text or "").encode()
        except UnicodeEncodeError:
            raise _refusal(subscription, f"{column} holds a lone surrogate") from None


def _refusal(subscription: Subscription, reason: str) -> InvalidSubscription:
    return InvalidSubscription(f"subscription {subscription.id!r}: {reason}")
